internal import DaybookPQ
internal import DaybookSnapshotStore

/// The connections of one node to the servers of its store. They belong to one thread at a time.
///
/// Invariants:
/// - A turn is a transaction of PostgreSQL on the main connection, which holds the store's queue; it ends
///   with the connection at the latest.
/// - What must not be taken back with a turn goes over the other connection while there is one.
final class PostgresSession {
    /// The terms of the store.
    let terms: PostgresTerms
    /// What follows the clock of the server.
    let clock: ServerClock
    private let identity: StoreIdentity
    private var main: ConfirmedServer?
    private var aside: ConfirmedServer?
    /// Whether this node is alone in appending.
    private(set) var hasTurn = false
    private var backoff = Backoff()
    private var earliestAttempt = ContinuousClock.now
    /// How long the next append waits for its answer.
    private var patience: Duration
    /// The server whose answer was late.
    private var avoided: ServerPlace?
    /// The tokens of groups that an earlier attempt may still append.
    var doubts: Set<Int64> = []
    /// The logins of writers, by their numbers.
    private var logins: [Int32: String] = [:]

    /// A session that has no connection yet.
    ///
    /// - Parameters:
    ///   - terms: The terms.
    ///   - clock: What follows the clock of the server.
    ///   - identity: Which store has to be found.
    init(_ terms: PostgresTerms, _ clock: ServerClock, _ identity: StoreIdentity) {
        self.terms = terms
        self.clock = clock
        self.identity = identity
        patience = terms.limits.appending
    }

    /// The server for appending and reading, connected when it was not.
    ///
    /// - Returns: A confirmed server.
    /// - Throws: ``SharedJournalError``; waits before, when an attempt has just failed.
    func server() throws(SharedJournalError) -> ConfirmedServer {
        if let main, main.connection.isOpen { return main }
        hasTurn = false
        let found = try connect()
        main = found
        return found
    }

    /// The server for what stays also when a turn is given up.
    ///
    /// - Returns: A confirmed server.
    /// - Throws: As ``server()``.
    func serverBesideTurn() throws(SharedJournalError) -> ConfirmedServer {
        guard hasTurn, main?.connection.isOpen == true else { return try server() }
        if let aside, aside.connection.isOpen { return aside }
        let found = try connect()
        aside = found
        return found
    }

    /// When an answer is late.
    ///
    /// - Parameter bytes: How many bytes have to be sent or received for it.
    /// - Returns: The moment.
    func deadline(bytes: Int = 0) -> ContinuousClock.Instant {
        // Four mebibytes a second are few on any network that servers are in.
        .now + terms.limits.answering + .milliseconds(bytes / (4 << 10))
    }

    /// When the answer to an append is late.
    ///
    /// - Parameter bytes: How many bytes have to be sent for it.
    /// - Returns: The moment.
    func appendDeadline(bytes: Int) -> ContinuousClock.Instant {
        deadline(bytes: bytes) - terms.limits.answering + min(patience, terms.limits.answering)
    }

    /// Notes how an append has ended: who was late may have been replaced.
    ///
    /// - Parameter lateness: The server that has not answered; nil when it has.
    func noteAppend(lateAt lateness: ServerPlace?) {
        avoided = lateness
        patience =
            lateness == nil ? terms.limits.appending : min(patience * 2, terms.limits.answering)
    }

    /// Leaves a server that is in trouble: the next call waits first, and looks at the others before.
    func leaveServer() {
        guard let main, main.connection.isOpen else { return }
        hasTurn = false
        avoided = main.connection.place
        main.connection.close()
        earliestAttempt = .now + backoff.wait()
    }

    // MARK: - Turns

    /// Queues for the store and waits until this node is alone; nothing when it is.
    ///
    /// - Throws: ``SharedJournalError``; this node does not have the turn then.
    func takeTurn() throws(SharedJournalError) {
        let server = try server()
        guard !hasTurn else { return }
        let script = "BEGIN; SELECT daybook.enter(\(server.store))"
        do {
            try server.connection.run(script: script, until: deadline())
        } catch {
            giveUp(server)
            throw SharedJournalError(error)
        }
        hasTurn = true
    }

    /// Ends the turn; nothing of it stays.
    func leaveTurn() {
        guard hasTurn, let main, main.connection.isOpen else { return hasTurn = false }
        giveUp(main)
    }

    /// Makes what was done in a turn stay.
    ///
    /// - Parameter bytes: How many bytes the standbys have to receive for it.
    /// - Throws: ``PostgresError``; the outcome is not known then.
    func finishTurn(bytes: Int) throws(PostgresError) {
        guard let main else { throw PostgresError(.unreachable, "There is no connection.") }
        hasTurn = false
        do {
            try main.connection.run(script: "COMMIT", until: appendDeadline(bytes: bytes))
        } catch {
            // A refused COMMIT has undone everything; the connection is used no further all the same.
            main.connection.close()
            throw error
        }
    }

    /// Takes back what was begun on a connection, by closing it if need be.
    ///
    /// - Parameter server: The server.
    func giveUp(_ server: ConfirmedServer) {
        hasTurn = false
        do {
            try server.connection.run(script: "ROLLBACK", until: deadline())
        } catch {
            server.connection.close()
        }
    }

    // MARK: - Writers

    /// The login of a writer.
    ///
    /// - Parameters:
    ///   - writer: Its number.
    ///   - server: Where to ask.
    /// - Returns: The login; empty when the server does not say.
    /// - Throws: ``PostgresError``.
    func login(
        of writer: Int32, on server: ConfirmedServer
    ) throws(PostgresError) -> String {
        if let login = logins[writer] { return login }
        let rows = try server.connection.run(
            Self.writers, [.int4(server.store)], until: deadline())
        for row in rows {
            logins[Int32(clamping: try row.integer(0))] = try row.text(1)
        }
        return logins[writer] ?? ""
    }

    private static let writers = PostgresStatement(
        "daybook_writers", "SELECT writer, login::text FROM daybook.writer WHERE store = $1")

    // MARK: - Connecting

    private func connect() throws(SharedJournalError) -> ConfirmedServer {
        rest(until: earliestAttempt)
        do throws(PostgresError) {
            let found = try ConfirmedServer(terms, clock, avoiding: avoided)
            guard found.identity == identity else {
                throw PostgresError(
                    .refused,
                    "The store '\(terms.store)' on \(found.connection.place) is another one than this "
                        + "file's.")
            }
            backoff.reset()
            return found
        } catch {
            earliestAttempt = .now + backoff.wait()
            throw SharedJournalError(error)
        }
    }
}
