internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What every question asks of a state of the file before it asks of objects, looked up once: the state keeps
/// it, and most questions are asked of the same one.
///
/// Confined to the thread that has the read transaction.
final class StateFindings {
    private var lastModel: SequenceNumber?
    private var pendingIndexes: PendingIndexes?
    private var head: SequenceNumber?

    /// The number of the entry that set the model in force.
    ///
    /// - Throws: As ``Projection/lastModel(_:in:)``.
    static func lastModel(
        _ tables: StoreTables, in transaction: borrowing ReadTransaction
    ) throws -> SequenceNumber {
        let findings = transaction.findings(orMake: StateFindings.init)
        if let known = findings.lastModel { return known }
        let found = try Projection.lastModel(tables, in: transaction)
        findings.lastModel = found
        return found
    }

    /// The indexes that lack objects.
    ///
    /// - Throws: As ``StoreMetadata/pendingIndexes(_:in:)``.
    static func pendingIndexes(
        _ tables: StoreTables, in transaction: borrowing ReadTransaction
    ) throws -> PendingIndexes {
        let findings = transaction.findings(orMake: StateFindings.init)
        if let known = findings.pendingIndexes { return known }
        let found = try StoreMetadata.pendingIndexes(tables.meta, in: transaction)
        findings.pendingIndexes = found
        return found
    }

    /// The number of the last entry.
    ///
    /// - Throws: As ``Journal/head(in:)``.
    static func head(
        of journal: Journal, in transaction: borrowing ReadTransaction
    ) throws -> SequenceNumber {
        let findings = transaction.findings(orMake: StateFindings.init)
        if let known = findings.head { return known }
        let found = try journal.head(in: transaction)
        findings.head = found
        return found
    }
}
