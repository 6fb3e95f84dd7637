package import DaybookSnapshotStore

/// A store with a random history, and its expected states.
package struct RandomHistory {
    /// The store.
    package let temporary: TemporaryStore
    /// Its expected state at every sequence number.
    package private(set) var reference: ReferenceModel
    /// The source of further steps from the same seed.
    package var random: RandomWorld

    /// The store.
    package var store: Store { temporary.store }

    /// Writes a history.
    package init(seed: UInt64, entries: Int) throws {
        temporary = try TemporaryStore()
        reference = ReferenceModel()
        reference.append([:])
        random = RandomWorld(seed: seed, temporary.store.schema)
        for _ in 0..<entries { try step() }
    }

    /// Saves one more random entry.
    package mutating func step() throws {
        let store = store
        let next = try random.step(from: reference.current) {
            try store.allocateObjectNumber()
        }
        let changes = ReferenceModel.changes(from: reference.current, to: next, store.schema)
        let result = try store.commit(SaveRequest(changes: changes))
        if result.sequence != nil { reference.append(next) }
    }
}
