internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookPQ
internal import DaybookSnapshotStore

extension PostgresSession {
    /// Which records of large data are not there, or are not confirmed by others.
    ///
    /// - Parameter keys: Their keys.
    /// - Returns: The keys of those that are to be kept.
    /// - Throws: As ``SharedRecords/lacking(_:)``.
    func lacking(_ keys: [ChunkKey]) throws(SharedJournalError) -> [ChunkKey] {
        let server = try serverBesideTurn()
        do {
            let rows = try server.connection.run(
                Self.listLacking, [.int4(server.store)] + Self.values(of: keys), until: deadline())
            var lacking: [ChunkKey] = []
            for row in rows { lacking.append(try Self.key(in: row)) }
            // What is there may be on this server alone, if its wait for the standbys was broken off.
            if lacking.count < keys.count { try server.confirm(terms) }
            return lacking
        } catch {
            throw SharedJournalError(error)
        }
    }

    /// Keeps records of large data.
    ///
    /// - Parameter records: The records.
    /// - Throws: As ``SharedRecords/keep(_:)``.
    func keep(_ records: [SharedRecord]) throws(SharedJournalError) {
        let server = try serverBesideTurn()
        _ = server.connection.takeWarnings()
        do throws(PostgresError) {
            let bytes = records.reduce(0) { $0 + $1.bytes.count }
            let values = Self.values(of: records.map(\.key)) + [.bytesList(records.map(\.bytes))]
            _ = try server.connection.run(
                Self.keepData, [.int4(server.store), .int4(server.writer)] + values,
                until: deadline(bytes: bytes))
            guard server.connection.takeWarnings().isEmpty else {
                server.connection.close()
                throw PostgresError(.unreachable, "The standbys have not confirmed the data.")
            }
        } catch {
            throw SharedJournalError(error)
        }
    }

    /// Records of large data.
    ///
    /// - Parameter keys: Their keys.
    /// - Returns: Those that are there.
    /// - Throws: As ``SharedRecords/records(_:)``.
    func records(_ keys: [ChunkKey]) throws(SharedJournalError) -> [SharedRecord] {
        let server = try serverBesideTurn()
        do {
            let rows = try server.connection.run(
                Self.listData, [.int4(server.store)] + Self.values(of: keys),
                until: deadline(bytes: keys.count * ChunkTree.chunkBytes))
            var records: [SharedRecord] = []
            for row in rows {
                records.append(SharedRecord(try Self.key(in: row), try row.bytes(2)))
            }
            return records
        } catch {
            throw SharedJournalError(error)
        }
    }

    private static func values(of keys: [ChunkKey]) -> [PostgresValue] {
        [.int8s(keys.map { Int64($0.level) }), .bytesList(keys.map(\.digest.bytes))]
    }

    private static func key(in row: PostgresRow) throws(PostgresError) -> ChunkKey {
        guard let digest = Digest(bytes: try row.bytes(1)) else {
            throw PostgresError(.unexpected, "The digest of a record has another length.")
        }
        return ChunkKey(level: Int(try row.integer(0)), digest: digest)
    }

    private static let listLacking = PostgresStatement(
        "daybook_lacking",
        """
        SELECT u.level, u.digest FROM unnest($2::bigint[], $3::bytea[]) u(level, digest)
        WHERE NOT EXISTS (
            SELECT FROM daybook.data d WHERE d.store = $1 AND d.level = u.level::int AND d.digest = u.digest
        )
        """)
    private static let keepData = PostgresStatement(
        "daybook_keep_data", "SELECT daybook.keep_data($1, $2, $3, $4, $5)")
    private static let listData = PostgresStatement(
        "daybook_data",
        """
        SELECT d.level, d.digest, d.bytes FROM unnest($2::bigint[], $3::bytea[]) u(level, digest)
        JOIN daybook.data d ON d.store = $1 AND d.level = u.level::int AND d.digest = u.digest
        """)
}
