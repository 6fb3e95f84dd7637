internal import DaybookJournalLog
internal import DaybookPQ
internal import DaybookSnapshotStore

/// Payloads that are longer stand in several rows.
let chunkBytes = 1 << 20

extension PostgresSession {
    /// Appends a group, once.
    ///
    /// - Parameter group: The group.
    /// - Returns: Whether it was appended.
    /// - Throws: As ``SharedJournal/append(_:)``. This node does not have the turn any more then.
    func append(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        do throws(SharedJournalError) {
            let answer = try appendOnce(group)
            if answer != .turnedAway { doubts.remove(group.token) }
            return answer
        } catch {
            if error.code == .inDoubt { doubts.insert(group.token) }
            throw error
        }
    }

    private func appendOnce(_ group: SharedGroup) throws(SharedJournalError) -> SharedAnswer {
        for entry in group.entries {
            let maximum = SharedGroup.entryBytesMaximum
            guard let error = SharedJournalError.tooLarge(entry, maximum: maximum) else { continue }
            leaveTurn()
            throw error
        }
        let server = try server()
        _ = server.connection.takeWarnings()
        let answer: Int64
        do {
            let isLong =
                group.entries.contains { $0.payload.count > chunkBytes }
                || group.bytes > SharedGroup.bytesMaximum
            answer = try isLong ? appendInParts(group, to: server) : appendAtOnce(group, to: server)
        } catch {
            noteAppend(lateAt: error.code == .refused ? nil : server.connection.place)
            if hasTurn { giveUp(server) }
            if error.state == "DB007", followClock(of: server, past: group),
                !doubts.contains(group.token)
            {
                return .behind
            }
            throw SharedJournalError(during: error)
        }
        noteAppend(lateAt: nil)
        guard answer == Self.accepted else {
            return answer == Self.turnedAway ? .turnedAway : .behind
        }
        // The server says so when a wait for the standbys was broken off: the entries are there, but perhaps
        // nowhere else.
        if let warning = server.connection.takeWarnings().first {
            server.connection.close()
            throw SharedJournalError(
                .inDoubt, "The server has appended the entries with a warning: \(warning)")
        }
        return .accepted
    }

    /// Has the next time that is told follow the server's clock again. A new connection asks for it in any case.
    ///
    /// - Returns: Whether the group has its time from a clock that was wrong: what is made anew has an earlier one.
    private func followClock(of server: ConfirmedServer, past group: SharedGroup) -> Bool {
        do {
            try server.confirm(terms)
            return group.entries.last.map { clock.hasTakenBack($0.recordedAt) } ?? false
        } catch {
            server.connection.close()
            return false
        }
    }

    private static let accepted: Int64 = -1
    private static let turnedAway: Int64 = -2

    /// One statement, which is final with its answer except in a turn.
    private func appendAtOnce(
        _ group: SharedGroup, to server: ConfirmedServer
    ) throws(PostgresError) -> Int64 {
        let isEntered = hasTurn
        let answer = try send(group, chunks: 0, to: server)
        if isEntered && answer == Self.accepted { try finishTurn(bytes: group.bytes) }
        return answer
    }

    /// Chunks and entries, one after the other, as a whole.
    private func appendInParts(
        _ group: SharedGroup, to server: ConfirmedServer
    ) throws(PostgresError) -> Int64 {
        if !hasTurn { try server.connection.run(script: "BEGIN", until: deadline()) }
        let answer: Int64
        do {
            answer = try sendParts(group, to: server)
        } catch {
            // Nothing was made final, so nothing is in doubt. A connection that was lost is no refusal, whatever the
            // server has said last, such as that this side stood still for too long.
            giveUp(server)
            let state = error.code == .refused ? error.state : "08006"
            throw PostgresError(.refused, state: state, error.message)
        }
        if answer == Self.accepted {
            try finishTurn(bytes: group.bytes)
        } else if !hasTurn {
            giveUp(server)
        }
        return answer
    }

    private func sendParts(
        _ group: SharedGroup, to server: ConfirmedServer
    ) throws(PostgresError) -> Int64 {
        var head = group.head
        for entry in group.entries {
            let count = entry.payload.count
            let chunks = count > chunkBytes ? (count + chunkBytes - 1) / chunkBytes : 0
            for part in 0..<chunks {
                let start = part * chunkBytes
                let bytes = Array(entry.payload[start..<min(start + chunkBytes, count)])
                let rows = try server.connection.run(
                    Self.addChunk,
                    [
                        .int4(server.store), .int8(Int64(clamping: entry.sequence.rawValue)),
                        .int4(Int32(part)), .bytes(bytes),
                    ], until: deadline(bytes: bytes.count))
                // An entry is in that place. Whether it is this one, of an earlier attempt, is found next.
                guard try rows.first?.boolean(0) == true else { break }
            }
            let one = SharedGroup(after: head, token: group.token, [entry])
            let answer = try send(one, chunks: chunks, to: server)
            guard answer == Self.accepted else { return answer }
            head = SharedHead(entry.sequence, entry.digest)
        }
        return Self.accepted
    }

    private func send(
        _ group: SharedGroup, chunks: Int, to server: ConfirmedServer
    ) throws(PostgresError) -> Int64 {
        let entries = group.entries
        let beginning: [PostgresValue] = [
            .int4(server.store), .int8(Int64(clamping: group.head.sequence.rawValue)),
            .bytes(group.head.digest.bytes), .int4(server.writer), .int8(group.token),
        ]
        let statement: PostgresStatement
        let values: [PostgresValue]
        if entries.count == 1 {
            statement = Self.appendOne
            values = [
                .int8(entries[0].recordedAt), .bytes(entries[0].digest.bytes),
                chunks > 0 ? .bytes(nil) : .bytes(entries[0].payload), .int4(Int32(chunks)),
            ]
        } else {
            statement = Self.appendSeveral
            values = [
                .int8s(entries.map(\.recordedAt)), .bytesList(entries.map(\.digest.bytes)),
                .bytesList(entries.map(\.payload)),
            ]
        }
        let rows = try server.connection.run(
            statement, beginning + values + [.boolean(hasTurn)],
            until: appendDeadline(bytes: group.bytes)
        )
        guard let answer = try rows.first?.integer(0) else {
            throw PostgresError(.unexpected, "The server has not said what became of the entries.")
        }
        return answer
    }

    private static let appendOne = PostgresStatement(
        "daybook_append", "SELECT daybook.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
    private static let appendSeveral = PostgresStatement(
        "daybook_append_several", "SELECT daybook.append($1, $2, $3, $4, $5, $6, $7, $8, $9)")
    private static let addChunk = PostgresStatement(
        "daybook_add_chunk", "SELECT daybook.add_chunk($1, $2, $3, $4)")
}

extension SharedGroup {
    /// How many bytes of payloads it has.
    fileprivate var bytes: Int { entries.reduce(0) { $0 + $1.payload.count } }
}
