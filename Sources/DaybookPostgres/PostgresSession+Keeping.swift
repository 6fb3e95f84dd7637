internal import DaybookPQ
internal import DaybookSnapshotStore

extension PostgresSession {
    /// Takes object numbers.
    ///
    /// - Parameter count: How many.
    /// - Returns: The numbers.
    /// - Throws: As ``SharedJournal/takeNumbers(_:)``.
    func takeNumbers(_ count: UInt64) throws(SharedJournalError) -> Range<UInt64> {
        let server = try serverBesideTurn()
        _ = server.connection.takeWarnings()
        do throws(PostgresError) {
            let rows = try server.connection.run(
                Self.take, [.int4(server.store), .int8(Int64(clamping: count))], until: deadline())
            guard let first = try rows.first?.integer(0),
                let numbers = Self.numbers(from: first, count: count)
            else {
                throw PostgresError(
                    .unexpected,
                    "The server has given no numbers that objects can have: look at 'numbers' in its table "
                        + "'daybook.store'.")
            }
            guard server.connection.takeWarnings().isEmpty else {
                // The numbers are lost, because another server may not know that they were taken.
                server.connection.close()
                throw PostgresError(.unreachable, "The standbys have not confirmed the numbers.")
            }
            return numbers
        } catch {
            throw SharedJournalError(error)
        }
    }

    /// Numbers that were given; nil when no object can have them. They would be noted in the file, which says that it is
    /// damaged then.
    private static func numbers(from first: Int64, count: UInt64) -> Range<UInt64>? {
        let maximum = PostgresJournal.numberMaximum
        guard first > 0, first <= maximum, count <= maximum + 1 - UInt64(first) else { return nil }
        return UInt64(first)..<UInt64(first) + count
    }

    /// All marks of a kind.
    ///
    /// - Parameter kind: The kind.
    /// - Returns: Those that have a body, sorted by name.
    /// - Throws: As ``SharedJournal/marks(_:)``.
    func marks(_ kind: SharedMark.Kind) throws(SharedJournalError) -> [SharedMark] {
        let server = try serverBesideTurn()
        do {
            let rows = try server.connection.run(
                Self.listMarks, [.int4(server.store), .int4(Int32(kind.rawValue))],
                until: deadline())
            var marks: [SharedMark] = []
            for row in rows {
                marks.append(
                    SharedMark(
                        kind, try row.text(0), try row.bytes(1),
                        version: try Self.version(row, column: 2)))
            }
            return marks
        } catch {
            throw SharedJournalError(error)
        }
    }

    /// Sets a mark.
    ///
    /// - Parameter mark: The mark, with the version it had.
    /// - Returns: The new version; nil when it has another.
    /// - Throws: As ``SharedJournal/set(_:)``.
    func set(_ mark: SharedMark) throws(SharedJournalError) -> Int64? {
        let server = try serverBesideTurn()
        _ = server.connection.takeWarnings()
        do throws(PostgresError) {
            let rows = try server.connection.run(
                Self.setMark,
                [
                    .int4(server.store), .int4(Int32(mark.kind.rawValue)), .text(mark.name),
                    .bytes(mark.body), .int8(mark.version),
                ], until: deadline(bytes: mark.body?.count ?? 0))
            guard server.connection.takeWarnings().isEmpty else {
                server.connection.close()
                throw PostgresError(.unreachable, "The standbys have not confirmed the mark.")
            }
            guard let row = rows.first, !row.isNull(0) else { return nil }
            return try Self.version(row, column: 0)
        } catch {
            throw SharedJournalError(during: error)
        }
    }

    /// A version of a mark, as far as it can be one: they are counted from 1.
    private static func version(
        _ row: PostgresRow, column: Int
    ) throws(PostgresError) -> Int64 {
        let version = try row.integer(column)
        guard version > 0 else {
            throw PostgresError(.unexpected, "The version of a mark on the server is below 1.")
        }
        return version
    }

    private static let take = PostgresStatement(
        "daybook_take_numbers", "SELECT daybook.take_numbers($1, $2)")
    private static let listMarks = PostgresStatement(
        "daybook_marks",
        """
        SELECT name, body, version FROM daybook.mark
        WHERE store = $1 AND kind = $2 AND body IS NOT NULL ORDER BY name COLLATE "C"
        """)
    private static let setMark = PostgresStatement(
        "daybook_set_mark", "SELECT daybook.set_mark($1, $2, $3, $4, $5)")
}
