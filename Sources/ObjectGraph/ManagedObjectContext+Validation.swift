import ObjectModel
import SnapshotStore

extension ManagedObjectContext {
    /// Checks everything pending, and refuses with all that is wrong.
    func validate() throws {
        var problems: [String] = []
        for item in pending.items {
            problems += denials(of: item)
            do {
                switch item.change?.kind {
                case .insert: try item.object.validateForInsert()
                case .update: try item.object.validateForUpdate()
                case .delete: try item.object.validateForDelete()
                case nil: continue
                }
            } catch {
                problems.append("\(item.object.objectID): \(error)")
            }
        }
        if !problems.isEmpty { throw StoreError.invalid(problems.sorted()) }
    }

    /// Relationships with the rule `deny` that still lead somewhere from a deleted object.
    private func denials(of item: PendingChanges.Item) -> [String] {
        guard case .delete(let values, let members)? = item.change?.kind else { return [] }
        let object = item.object
        var problems: [String] = []
        for (index, property) in object.binding.schema.properties.enumerated() {
            guard property.relationship?.deleteRule == .deny else { continue }
            let remaining: [ManagedObject]
            if let slot = property.slot {
                remaining = [values[slot].reference].compactMap { $0 }.map {
                    self.object(GraphID(store: object.graphID.store, object: $0))
                }
            } else if property.isStoredToMany {
                let removed = members.first { $0.property == property.number }?.removed ?? []
                remaining = removed.map {
                    self.object(GraphID(store: object.graphID.store, object: $0.object))
                }
            } else {
                remaining = object.destinations(ofPropertyAt: index)
            }
            let count = remaining.count { !$0.isDeleted }
            if count > 0 {
                problems.append(
                    "'\(object.objectID)' cannot be deleted while its relationship "
                        + "'\(property.name)' leads to \(count) object\(count == 1 ? "" : "s").")
            }
        }
        return problems
    }
}
