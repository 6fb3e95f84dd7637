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
        let versions = try store.modelHistory().versions
        if versions.count > 1, let model = versions.last?.sequence, model >= first {
            return try statesCompared(from: older, to: newer, where: isWanted)
        }
        var sum = ChangeSet()
        try store.entries(from: first, through: last) { entry in
            for var change in entry.changes where isWanted(change.object) {
                guard let entity = store.schema.entity(change.object.entity),
                    let shown = change.shown(by: store.schema)
                else { continue }
                change = shown
                change.cause = nil
                try sum.append(change, of: entity)
            }
            return .proceed
        }
        let net = sum.ordered.map { older <= newer ? $0 : $0.inverse }
        return net.sorted { $0.object < $1.object }
    }

    /// The same over entries of several models, whose changes cannot be combined: both states are read in
    /// today's model.
    private func statesCompared(
        from older: SequenceNumber, to newer: SequenceNumber, where isWanted: (ObjectID) -> Bool
    ) throws -> [Change] {
        var touched: Set<ObjectID> = []
        try store.entries(from: min(older, newer).next, through: max(older, newer)) { entry in
            touched.formUnion(entry.changes.map(\.object).filter(isWanted))
            return .proceed
        }
        return try touched.sorted().compactMap { object in
            guard let entity = store.schema.entity(object.entity) else { return nil }
            let before = try store.read(at: older) { try $0.state(of: object) }
            let after = try store.read(at: newer) { try $0.state(of: object) }
            return Change(of: object, from: before, to: after, entity)
        }
    }
}
