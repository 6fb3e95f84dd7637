internal import CDaybookPQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A statement that is prepared once on each connection that runs it.
package struct PostgresStatement: Sendable, Hashable {
    /// The name under which servers keep it.
    package let name: String
    /// Its text, with `$1`, `$2` … for the values.
    package let text: String

    /// A statement.
    ///
    /// - Parameters:
    ///   - name: Alone for this text.
    ///   - text: One command.
    package init(_ name: String, _ text: String) {
        self.name = name
        self.text = text
    }
}

extension PostgresConnection {
    /// Runs a statement with values and waits for all that belongs to it, what follows its rows too: where
    /// nothing else was begun, the rows are final when this returns.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - values: Its values, in order.
    ///   - deadline: When to give up and close the connection.
    /// - Returns: Its rows.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/refused`` when nothing was done; with
    ///   ``PostgresError/Code/unreachable`` or ``PostgresError/Code/late`` when that is not known.
    package func run(
        _ statement: PostgresStatement, _ values: [PostgresValue] = [],
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [PostgresRow] {
        try LibraryUse.begin()
        defer { LibraryUse.finish() }
        if !isPrepared(statement.name, statement.text) {
            let types = values.map(\.type)
            let isSent = PQsendPrepare(
                try open(), statement.name, statement.text, Int32(types.count), types)
            guard isSent == 1 else { throw fail(PostgresError(of: try open())) }
            _ = try answers(until: deadline)
            setPrepared(statement.name, statement.text)
        }
        let isSent = Self.withPointers(to: values.map(\.encoded)) { pointers, lengths in
            PQsendQueryPrepared(
                handle, statement.name, Int32(values.count), pointers, lengths,
                [Int32](repeating: 1, count: values.count), 1)
        }
        guard isSent == 1 else { throw fail(PostgresError(of: try open())) }
        return try answers(.rows, until: deadline)
    }

    /// Runs commands without values, one after the other and as a whole.
    ///
    /// - Parameters:
    ///   - script: The commands.
    ///   - deadline: When to give up and close the connection.
    /// - Throws: As ``run(_:_:until:)``.
    package func run(
        script: String, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        try LibraryUse.begin()
        defer { LibraryUse.finish() }
        guard PQsendQuery(try open(), script) == 1 else {
            throw fail(PostgresError(of: try open()))
        }
        _ = try answers(until: deadline)
    }

    /// Runs a binary `COPY … TO STDOUT`.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - bytesMaximum: How many bytes its rows have at most.
    ///   - deadline: When to give up and close the connection.
    /// - Returns: The rows.
    /// - Throws: As ``run(_:_:until:)``, and with ``PostgresError/Code/unexpected`` for another answer.
    package func copy(
        _ command: String, bytesMaximum: Int = .max, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [PostgresRow] {
        try LibraryUse.begin()
        defer { LibraryUse.finish() }
        guard PQsendQuery(try open(), command) == 1 else {
            throw fail(PostgresError(of: try open()))
        }
        try flush(until: deadline)
        guard let result = try nextResult(until: deadline) else {
            throw fail(PostgresRow.unexpected)
        }
        let status = PQresultStatus(result)
        let error = error(of: result)
        PQclear(result)
        guard status == PGRES_COPY_OUT else {
            guard let error else { throw fail(PostgresRow.unexpected) }
            _ = try answers(.rest, until: deadline)
            throw isOpen ? error : fail(error)
        }
        var parser = CopyParser()
        var rows: [PostgresRow] = []
        var bytesLeft = bytesMaximum
        while true {
            var piece: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(try open(), &piece, 1)
            if let piece, count > 0 {
                defer { PQfreemem(piece) }
                bytesLeft -= Int(count)
                guard bytesLeft >= 0 else {
                    throw fail(
                        PostgresError(
                            .unexpected, "The server \(place) sends more than it was asked for."))
                }
                let bytes = UnsafeRawBufferPointer(start: piece, count: Int(count))
                do { try parser.take(bytes, into: &rows) } catch { throw fail(error) }
            } else if count == 0 {
                // In the middle of a COPY, libpq does not report the end of the connection as a result.
                guard try receive(until: deadline) else {
                    throw fail(PostgresError(of: try open()))
                }
            } else {
                break
            }
        }
        // An error in the middle of the rows comes as the result that ends them.
        _ = try answers(until: deadline)
        guard parser.isComplete else { throw fail(PostgresRow.unexpected) }
        return rows
    }

    // MARK: - Details

    /// What is taken from an answer.
    private enum Wanted {
        /// Its rows, which were asked for in binary form.
        case rows
        /// Nothing but that it has come.
        case end
        /// What is left after an error.
        case rest
    }

    /// Everything that the server answers to what was sent.
    private func answers(
        _ wanted: Wanted = .end, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [PostgresRow] {
        try flush(until: deadline)
        var rows: [PostgresRow] = []
        var failure: PostgresError?
        var hasCome = wanted == .rest
        while let result = try nextResult(until: deadline) {
            defer { PQclear(result) }
            hasCome = true
            if let error = error(of: result) {
                failure = failure ?? error
                continue
            }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK:
                guard wanted == .rows else { break }
                do { rows += try Self.rows(of: result) } catch { throw fail(error) }
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            default:
                // Such as the beginning of a copy that nobody has asked for, which libpq would answer for ever.
                throw fail(PostgresRow.unexpected)
            }
            guard .now < deadline + Self.grace else {
                throw fail(PostgresError(.late, "The server \(place) does not end its answer."))
            }
        }
        if let failure { throw failure.code == .refused ? failure : fail(failure) }
        // libpq drops an answer that it cannot read, and says nothing of that when there is no more of it.
        guard hasCome else { throw fail(PostgresRow.unexpected) }
        return rows
    }

    /// The next result; nil after the last, when the server is ready for the next statement.
    private func nextResult(
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(try open()) == 1 {
            // What has come before the end is still handed out, and the end is reported as a result.
            guard try receive(until: deadline) else { break }
        }
        return PQgetResult(try open())
    }

    /// Waits for more of an answer; false when the connection has ended, and there is nothing to wait for.
    private func receive(until deadline: ContinuousClock.Instant) throws(PostgresError) -> Bool {
        try wait(POLLIN, until: deadline)
        return PQconsumeInput(try open()) == 1
    }

    private func error(of result: OpaquePointer) -> PostgresError? {
        let status = PQresultStatus(result)
        guard status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE else { return nil }
        // The server says that it ends the connection before it does.
        let severity = PostgresError.field(daybook_field_severity, of: result)
        let isLost =
            severity == "FATAL" || severity == "PANIC" || PQstatus(handle) == CONNECTION_BAD
        return PostgresError(result: result, isLost: isLost)
    }

    private static func rows(of result: OpaquePointer) throws(PostgresError) -> [PostgresRow] {
        let columns = PQnfields(result)
        // A text has the length of a number, too.
        guard PQntuples(result) == 0 || (0..<columns).allSatisfy({ PQfformat(result, $0) == 1 })
        else { throw PostgresRow.unexpected }
        return (0..<PQntuples(result)).map { row in
            var bytes: [UInt8] = []
            let fields = (0..<columns).map { column -> Range<Int>? in
                guard PQgetisnull(result, row, column) == 0,
                    let start = PQgetvalue(result, row, column)
                else { return nil }
                let count = Int(PQgetlength(result, row, column))
                let first = bytes.count
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: count))
                return first..<bytes.count
            }
            return PostgresRow(bytes: bytes, fields: fields)
        }
    }

    /// Hands over values as libpq takes them: null pointers for no value, none for empty ones.
    private static func withPointers<R>(
        to values: [[UInt8]?],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?) -> R
    ) -> R {
        let lengths = values.map { Int32($0?.count ?? 0) }
        let copies = values.map { value -> UnsafeMutablePointer<CChar>? in
            guard let value else { return nil }
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(value.count, 1))
            value.withUnsafeBytes { UnsafeMutableRawPointer(copy).copyMemory(from: $0) }
            return copy
        }
        defer { for copy in copies { copy?.deallocate() } }
        return body(copies.map { UnsafePointer($0) }, lengths)
    }
}

extension UnsafeMutableRawPointer {
    /// Copies bytes, or nothing when there are none.
    fileprivate func copyMemory(from bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copyMemory(from: start, byteCount: bytes.count)
    }
}
