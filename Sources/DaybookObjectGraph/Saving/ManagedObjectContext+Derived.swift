import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    /// Takes the derived values that stores have worked out for a save.
    ///
    /// - Parameters:
    ///   - outcome: What has become of the save.
    ///   - items: What was pending.
    /// - Returns: The changes of objects of which nothing was pending.
    func takeDerived(from outcome: SaveOutcome, besides items: [NetChange]) -> [GraphChange] {
        guard case .saved(let saves, _) = outcome else { return [] }
        var others: [GraphChange] = []
        for save in saves where !save.schema.derivations.isEmpty {
            let sent = Set(save.items.map(\.object.graphID))
            for change in save.result?.changes ?? [] {
                let id = GraphID(store: save.store, object: change.object)
                if let object = registry[id] { take(change, of: object) }
                guard !sent.contains(id), change.isDerived(in: save.schema) else { continue }
                others.append(GraphChange(id: id, change: change))
                if let object = registry[id], !object.isFault {
                    news.record(object, as: .refreshed)
                }
            }
        }
        return others
    }

    private func take(_ change: Change, of object: ManagedObject) {
        let schema = object.binding.schema
        guard !schema.derivedSlots.isEmpty, !object.isFault, !object.status.isGone else { return }
        for property in schema.derivedSlots {
            guard let slot = property.slot else { continue }
            let value: Value?
            switch change.kind {
            case .insert(let values, _): value = slot < values.count ? values[slot] : nil
            case .update(let edits, _):
                value = edits.first { $0.property == property.number }?.new
            case .delete: value = nil
            }
            guard let value, object.value(inSlot: slot) != value else { continue }
            object.values[slot] = value
            news.record(object, as: .refreshed)
        }
    }
}

extension Change {
    /// Whether the change only gives derived values.
    fileprivate func isDerived(in schema: Schema) -> Bool {
        guard case .update = kind, let entity = schema.entity(object.entity) else { return false }
        return withoutDerived(of: entity).isEmpty
    }
}
