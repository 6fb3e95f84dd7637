package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// How much is in a store, and how much room it takes.
package struct StoreStatistics: Sendable {
    /// The size of one table.
    package struct Table: Sendable, Hashable {
        /// The name.
        package let name: String
        /// How many records it has.
        package let records: Int
        /// How many bytes its pages have.
        package let bytes: Int
    }

    /// How many entries the journal has.
    package let entries: SequenceNumber
    /// The digest of the last one.
    package let headDigest: Digest
    /// How many objects exist now, by the name of their entity; without abstract entities.
    package let objects: [String: Int]
    /// The length of the file in bytes.
    package let fileSize: Int
    /// How long the file can get before its memory map must grow.
    package let mapSize: Int
    /// The size of a page in bytes.
    package let pageSize: Int
    /// Pages in use.
    package let pagesUsed: Int
    /// Pages free to be used again.
    package let pagesFree: Int
    /// Readers in all processes.
    package let readers: Int
    /// The tables by name.
    package let tables: [Table]
}

extension Store {
    /// Counts what is in the store.
    ///
    /// - Complexity: O(*n*) page reads, *n* the number of objects.
    package func statistics() throws -> StoreStatistics {
        // Their size is known once the tables are open.
        _ = try chunkTable()
        _ = try stateTable()
        let environment = try openEnvironment()
        let file = try wrapping { try environment.statistics }
        return try reading { transaction in
            var objects: [String: Int] = [:]
            for entity in schema.entities where !entity.isAbstract {
                var count = 0
                try parts.projection.objects(
                    of: [entity.number], at: .latest, isLatest: true, in: transaction
                ) { _ in
                    count += 1
                    return .proceed
                }
                objects[entity.name] = count
            }
            return StoreStatistics(
                entries: try parts.journal.head(in: transaction),
                headDigest: try parts.journal.headDigest(in: transaction), objects: objects,
                fileSize: file.fileSize, mapSize: file.mapSize, pageSize: file.pageSize,
                pagesUsed: file.pagesUsed, pagesFree: file.pagesFree, readers: file.readers,
                tables: file.tables.map { table in
                    StoreStatistics.Table(
                        name: table.name, records: table.entries,
                        bytes: table.pages * file.pageSize)
                })
        }
    }
}
