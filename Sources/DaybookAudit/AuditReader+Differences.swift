package import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookSnapshotStore

extension AuditReader {
    /// The net change of each object on the way from one state of the store to another, sorted by
    /// object.
    ///
    /// The entries between the two are added up: insert and delete come to nothing, and so do A to B
    /// and back. What remains is what the states differ in. Why something happened is not told.
    ///
    /// - Parameters:
    ///   - older: One state; zero is the store before its first entry.
    ///   - newer: The other. If it is the earlier one, the way back is given.
    ///   - isWanted: Whether an object matters.
    /// - Returns: One change for each object that differs; none when the states are alike.
    /// - Throws: `StoreError` with code `corrupt` when an entry is not what was written.
    /// - Complexity: O(*e*) page reads, *e* the size of the entries between the two.
    package func differences(
        from older: SequenceNumber, to newer: SequenceNumber,
        where isWanted: (ObjectID) -> Bool = { _ in true }
    ) throws -> [Change] {
        let first = min(older, newer).next
        let last = max(older, newer)
        guard first <= last else { return [] }
        var sum = ChangeSet()
        try store.entries(from: first, through: last) { entry in
            for var change in entry.changes where isWanted(change.object) {
                guard let entity = store.schema.entity(change.object.entity) else { continue }
                change.cause = nil
                try sum.append(change, of: entity)
            }
            return .proceed
        }
        let net = sum.ordered.map { older <= newer ? $0 : $0.inverse }
        return net.sorted { $0.object < $1.object }
    }
}
