package import DaybookJournalLog
package import DaybookObjectModel
internal import DaybookSnapshotStore

extension AuditReader {
    /// The net change of each object from one state of the store to another, sorted by object.
    ///
    /// The entries between the two are combined: an insert and a delete cancel out, and so do A to
    /// B and back. The remaining changes are the differences between the states. Causes are left
    /// out.
    ///
    /// - Parameters:
    ///   - older: One state; zero is the store before its first entry.
    ///   - newer: The other. If it is the earlier one, the changes lead back.
    ///   - isWanted: Whether an object is included.
    /// - Returns: One change for each object that differs; none when the states are equal.
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
