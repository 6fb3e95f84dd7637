internal import DaybookJournalLog
internal import DaybookPQ
internal import DaybookSnapshotStore

extension PostgresSession {
    /// The entries after a place.
    ///
    /// - Parameters:
    ///   - head: The place.
    ///   - bytes: How many bytes of payloads are enough.
    ///   - announced: The last entry of which its appender has announced that it was accepted; nil for none.
    /// - Returns: The entries.
    /// - Throws: As ``SharedJournal/page(after:bytes:)``. This node does not have the turn any more then.
    func page(
        after head: SharedHead, bytes: Int, announced: SharedHead?
    ) throws(SharedJournalError) -> SharedPage {
        let server = try server()
        let found: SharedPage?
        do {
            found = try readPage(after: head, bytes: bytes, from: server)
            // A server that was replaced may also have less, and nothing new.
            let isHeld = found.map { $0.entries.isEmpty ? hasTurn : $0.isHeld(by: announced) }
            if isHeld != true { try prove(server) }
        } catch {
            leaveTurn()
            throw SharedJournalError(error)
        }
        guard let found else {
            leaveTurn()
            throw SharedJournalError(
                .diverged,
                "The shared journal does not have this side's entry \(head.sequence): it ends before, or "
                    + "went another way.")
        }
        return found
    }

    /// Sees to it that what was just read from a server is held by others, too: a later write there is confirmed.
    ///
    /// That the connection began with such a write does not suffice. A server that is shut down, or whose owner ends a
    /// connection, breaks off waits for the standbys, and shows on all connections what was appended there.
    private func prove(_ server: ConfirmedServer) throws(PostgresError) {
        // A write on the same connection would end the turn.
        guard hasTurn else { return try server.confirm(terms) }
        let other = try proverBesideTurn()
        guard other.connection.place == server.connection.place else {
            throw PostgresError(.unreachable, "Another server leads meanwhile.")
        }
        try other.confirm(terms)
        // At the same place there may be another server by now, which has ended this connection.
        try server.connection.run(script: "SELECT", until: deadline())
    }

    private func proverBesideTurn() throws(PostgresError) -> ConfirmedServer {
        do {
            return try serverBesideTurn()
        } catch {
            throw PostgresError(.unreachable, error.message)
        }
    }

    /// The entries; nil when the journal does not have the place.
    private func readPage(
        after head: SharedHead, bytes: Int, from server: ConfirmedServer
    ) throws(PostgresError) -> SharedPage? {
        // A payload more may come than fits; one in chunks has a time of its own.
        let most =
            min(bytes, Int.max >> 1) + SharedGroup.entryBytesMaximum + Self.rowsMaximum
            * Self.rowBytes
        let rows = try server.connection.copy(
            Self.command(server.store, after: head, bytes: bytes), bytesMaximum: most,
            until: deadline(bytes: min(bytes, SharedGroup.entryBytesMaximum) + chunkBytes))
        var entries: [SharedEntry] = []
        var last = UInt64(0)
        var hasHead = head.sequence == .zero
        for row in rows {
            let sequence = SequenceNumber(UInt64(clamping: try row.integer(0)))
            last = UInt64(clamping: try row.integer(7))
            if sequence == head.sequence {
                hasHead = try row.bytes(4) == head.digest.bytes
            } else {
                guard sequence > entries.last?.sequence ?? head.sequence else {
                    throw PostgresError(
                        .unexpected,
                        "The server \(server.connection.place) has sent entry \(sequence) "
                            + "out of order.")
                }
                entries.append(try entry(sequence, row, from: server))
            }
        }
        if rows.isEmpty || !hasHead { try server.requireStore(terms) }
        guard hasHead else { return nil }
        return SharedPage(
            entries, isLast: entries.last?.sequence.rawValue ?? head.sequence.rawValue >= last)
    }

    private func entry(
        _ sequence: SequenceNumber, _ row: PostgresRow, from server: ConfirmedServer
    ) throws(PostgresError) -> SharedEntry {
        let chunks = try row.integer(5)
        guard 0...SharedGroup.entryBytesMaximum / chunkBytes ~= Int(chunks) else {
            throw PostgresError(
                .unexpected, "Entry \(sequence) has an impossible number of chunks.")
        }
        guard let digest = Digest(bytes: try row.bytes(4)) else {
            throw PostgresError(.unexpected, "The digest of entry \(sequence) has another length.")
        }
        let payload =
            chunks > 0
            ? try payload(of: sequence, chunks: Int(chunks), from: server) : try row.bytes(6)
        let writer = Int32(clamping: try row.integer(1))
        return SharedEntry(
            sequence: sequence, recordedAt: try row.integer(2), payload: payload, digest: digest,
            token: try row.integer(3), login: try login(of: writer, on: server))
    }

    private func payload(
        of sequence: SequenceNumber, chunks: Int, from server: ConfirmedServer
    ) throws(PostgresError) -> [UInt8] {
        let rows = try server.connection.copy(
            """
            COPY (SELECT bytes FROM daybook.chunk WHERE store = \(server.store) AND sequence = \(sequence)
            ORDER BY part) TO STDOUT (FORMAT binary)
            """, bytesMaximum: (chunks + 1) * (chunkBytes + Self.rowBytes),
            until: deadline(bytes: chunks * chunkBytes))
        guard rows.count == chunks else {
            throw PostgresError(.unexpected, "Chunks of entry \(sequence) are missing.")
        }
        var payload: [UInt8] = []
        payload.reserveCapacity(chunks * chunkBytes)
        for row in rows { payload += try row.bytes(0) }
        return payload
    }

    /// Reads the entry at the place, too, without its payload: its digest has to be this side's.
    ///
    /// COPY takes no values; all that stands in the text are integers. The lengths of payloads that stand
    /// outside of their rows are known without reading these.
    private static func command(_ store: Int32, after head: SharedHead, bytes: Int) -> String {
        """
        COPY (SELECT sequence, writer, recorded_at, token, digest, chunks,
            CASE WHEN sequence > \(head.sequence) THEN payload END, last
        FROM (SELECT *,
                coalesce(sum(size) OVER (ORDER BY sequence
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
                (SELECT max(sequence) FROM daybook.entry WHERE store = \(store)) AS last
            FROM (SELECT *, CASE WHEN sequence > \(head.sequence)
                    THEN coalesce(octet_length(payload), 0) + chunks * \(chunkBytes) ELSE 0 END AS size
                FROM daybook.entry WHERE store = \(store) AND sequence >= \(head.sequence)
                ORDER BY sequence LIMIT \(rowsMaximum)) sized) placed
        WHERE before < \(max(bytes, 1)) ORDER BY sequence) TO STDOUT (FORMAT binary)
        """
    }

    /// How many rows are looked at for a page, so that a page of a long journal does not cost its length; few enough
    /// for many pages to be read while the ones before are folded.
    private static let rowsMaximum = 8_192
    /// More than a row has beside its payload.
    private static let rowBytes = 256
}

extension SharedPage {
    /// Whether there is nothing in it but what others hold for certain: all up to an entry that was accepted. With
    /// every machine that hears of a save making a write of its own, the leader would have as many more of them.
    fileprivate func isHeld(by announced: SharedHead?) -> Bool {
        guard let last = entries.last else { return false }
        return SharedHead(last.sequence, last.digest) == announced
    }
}
