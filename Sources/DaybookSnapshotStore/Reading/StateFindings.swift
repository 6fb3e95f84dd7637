internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What every question asks of a state of the file before it asks of objects, looked up once: the state keeps
/// it, and most questions are asked of the same one.
///
/// Confined to the thread that has the read transaction.
final class StateFindings {
    private var lastModel = Finding<SequenceNumber>()
    private var pendingIndexes = Finding<PendingIndexes>()
    private var head = Finding<SequenceNumber>()
    private var rewinds = Finding<UInt64>()

    /// What is looked for once.
    private struct Finding<Value> {
        private var known: Value?

        mutating func value(_ look: () throws -> Value) rethrows -> Value {
            if let known { return known }
            let found = try look()
            known = found
            return found
        }
    }

    private static func kept(by transaction: borrowing ReadTransaction) -> StateFindings {
        transaction.findings(orMake: StateFindings.init)
    }

    /// The number of the entry that set the model in force.
    ///
    /// - Throws: As ``Projection/lastModel(_:in:)``.
    static func lastModel(
        _ tables: StoreTables, in transaction: borrowing ReadTransaction
    ) throws -> SequenceNumber {
        try kept(by: transaction).lastModel.value {
            try Projection.lastModel(tables, in: transaction)
        }
    }

    /// How often entries were cut off the end of the journal.
    ///
    /// - Throws: As ``StoreMetadata/rewindsIfSound(_:in:)``.
    static func rewinds(
        _ tables: StoreTables, in transaction: borrowing ReadTransaction
    ) throws -> UInt64 {
        try kept(by: transaction).rewinds.value {
            try StoreMetadata.rewindsIfSound(tables.meta, in: transaction)
        }
    }

    /// The indexes that lack objects.
    ///
    /// - Throws: As ``StoreMetadata/pendingIndexes(_:in:)``.
    static func pendingIndexes(
        _ tables: StoreTables, in transaction: borrowing ReadTransaction
    ) throws -> PendingIndexes {
        try kept(by: transaction).pendingIndexes.value {
            try StoreMetadata.pendingIndexes(tables.meta, in: transaction)
        }
    }

    /// The number of the last entry.
    ///
    /// - Throws: As ``Journal/head(in:)``.
    static func head(
        of journal: Journal, in transaction: borrowing ReadTransaction
    ) throws -> SequenceNumber {
        try kept(by: transaction).head.value { try journal.head(in: transaction) }
    }
}
