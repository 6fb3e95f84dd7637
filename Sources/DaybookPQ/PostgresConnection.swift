internal import CDaybookPQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A connection to one server. It belongs to one thread at a time.
///
/// Invariants:
/// - Every wait has a deadline. One that passes closes the connection: a statement is never cancelled,
///   because a cancelled wait for the standbys leaves behind what only one server has.
/// - After an error that is not ``PostgresError/Code/refused`` the connection is closed.
package final class PostgresConnection {
    /// The server.
    package let place: ServerPlace
    /// libpq's connection; nil when it has been closed.
    private(set) var handle: OpaquePointer?
    private let notices = NoticeBox()
    /// The texts of statements by the names under which the server keeps them.
    private var prepared: [String: String] = [:]

    /// Connects to one server.
    ///
    /// - Parameters:
    ///   - place: One of the description's.
    ///   - description: All that libpq is told.
    ///   - deadline: When to give up.
    ///   - lookup: Finds the addresses of its host; the system when it is nil.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unreachable`` or ``PostgresError/Code/late``.
    package init(
        to place: ServerPlace, of description: ServerDescription,
        until deadline: ContinuousClock.Instant, lookup: HostLookup? = nil
    ) throws(PostgresError) {
        let lookup = lookup ?? .shared
        self.place = place
        let addresses =
            place.hasName ? try lookup.addresses(of: place.host, until: deadline) : []
        try LibraryUse.begin()
        defer { LibraryUse.finish() }
        handle = withStrings(of: description.options(for: place, at: addresses)) {
            PQconnectStartParams($0, $1, 0)
        }
        // Before the server says anything: libpq would print it. The box lives as long as the connection that calls
        // it.
        PQsetNoticeReceiver(
            handle,
            { box, result in
                guard let box, let result else { return }
                Unmanaged<NoticeBox>.fromOpaque(box).takeUnretainedValue().take(result)
            }, Unmanaged.passUnretained(notices).toOpaque())
        try finishConnecting(until: deadline)
        // What was said about the database is no answer to a statement.
        _ = notices.takeWarnings()
        guard PQsetnonblocking(handle, 1) == 0 else { throw fail(PostgresError(of: handle)) }
    }

    deinit { close() }

    /// Whether it can still be used, as far as is known.
    package var isOpen: Bool { handle != nil }

    /// Closes the connection, whatever is under way. The server finishes that, or not.
    package func close() {
        do {
            try LibraryUse.begin()
            PQfinish(handle)
            LibraryUse.finish()
        } catch {
            // The end of the process closes it.
        }
        handle = nil
    }

    /// The warnings since the last look, without what only informs.
    ///
    /// - Returns: The first line of each.
    package func takeWarnings() -> [String] {
        notices.takeWarnings()
    }

    // MARK: - Details for this module

    /// libpq's connection.
    ///
    /// - Returns: The pointer, valid until the connection is closed.
    /// - Throws: ``PostgresError`` when it has been closed.
    func open() throws(PostgresError) -> OpaquePointer {
        guard let handle else { throw .closed }
        return handle
    }

    /// Closes the connection for an error.
    ///
    /// - Parameter error: The reason.
    /// - Returns: The reason.
    func fail(_ error: PostgresError) -> PostgresError {
        close()
        return error
    }

    /// Waits until the socket is ready.
    ///
    /// - Parameters:
    ///   - events: What `poll` waits for.
    ///   - deadline: When to give up.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/late``.
    func wait(_ events: Int32, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        // What has come by then is still read, but not what comes on and on.
        var files = [pollfd(fd: PQsocket(try open()), events: Int16(events), revents: 0)]
        guard .now < deadline + Self.grace, waitForFiles(&files, until: deadline) else {
            throw fail(PostgresError(.late, "The server \(place) did not answer in time."))
        }
    }

    /// Writes what libpq holds back, reading at the same time what the server sends meanwhile.
    ///
    /// - Parameter deadline: When to give up.
    /// - Throws: ``PostgresError`` when the connection is lost or the deadline has come.
    func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            let status = PQflush(try open())
            if status == 0 { return }
            guard status == 1 else { throw fail(PostgresError(of: handle)) }
            try wait(POLLIN | POLLOUT, until: deadline)
            guard PQconsumeInput(handle) == 1 else { throw fail(PostgresError(of: handle)) }
        }
    }

    /// Whether the server keeps this statement under this name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - text: The statement.
    /// - Returns: False when it has to be prepared.
    func isPrepared(_ name: String, _ text: String) -> Bool { prepared[name] == text }

    /// Remembers that the server keeps a statement.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - text: The statement.
    func setPrepared(_ name: String, _ text: String) { prepared[name] = text }

    /// How long what comes is read after the deadline.
    static let grace = Duration.seconds(2)

    private func finishConnecting(
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        var awaited = PGRES_POLLING_WRITING
        while true {
            guard PQstatus(handle) != CONNECTION_BAD else { throw fail(PostgresError(of: handle)) }
            try wait(awaited == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: deadline)
            awaited = PQconnectPoll(handle)
            if awaited == PGRES_POLLING_OK { return }
            if awaited == PGRES_POLLING_FAILED { throw fail(PostgresError(of: handle)) }
        }
    }
}

/// What a server says beside its answers.
private final class NoticeBox {
    private var warnings: [String] = []
    private static let warningsMaximum = 16

    func take(_ result: OpaquePointer) {
        // The severity in English, whatever the language of the server.
        guard PostgresError.field(daybook_field_severity, of: result) == "WARNING" else {
            return
        }
        guard warnings.count < Self.warningsMaximum else { return }
        warnings.append(PostgresError(result: result, isLost: false).message)
    }

    func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }
}
