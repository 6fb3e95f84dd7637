import DaybookObjectModel
import Foundation

/// How the objects of a store and their properties are named to a program.
///
/// It does not keep the store open.
struct StoreNames: Sendable {
    let storeIdentifier: UUID
    let schema: Schema

    /// The identity of an object.
    func objectID(_ object: ObjectID) -> ManagedObjectID {
        ManagedObjectID(group(of: object.entity), number: object.number)
    }

    /// What the identities of an entity's objects have in common.
    func group(of entity: EntityNumber) -> IdentifierGroup {
        IdentifierGroup(
            storeIdentifier: storeIdentifier, entity: entity,
            entityName: schema.entity(entity)?.name ?? "", isTemporary: false)
    }

    /// The properties that a change of an entry is about, in the order of the model.
    func changes(in change: Change) -> [PropertyChange] {
        guard let entity = schema.entity(change.object.entity) else { return [] }
        guard case .update(let edits, _) = change.kind else {
            return entity.properties.compactMap { self.change(of: $0, in: change) }
        }
        // Entities may have many more properties than an update changes.
        let numbers = Set(edits.map(\.property) + change.members.map(\.property))
        return entity.properties.lazy.filter { numbers.contains($0.number) }
            .compactMap { self.change(of: $0, in: change) }
    }

    /// What a change of an entry does to one property; nil for nothing.
    func change(of property: SchemaProperty, in change: Change) -> PropertyChange? {
        if property.slot != nil {
            return self.change(
                of: property, from: change.oldValue(of: property), to: change.newValue(of: property)
            )
        }
        guard let edit = change.members.first(where: { $0.property == property.number }) else {
            return nil
        }
        func orders(_ members: [Member]) -> [ObjectID: Double] {
            Dictionary(members.map { ($0.object, $0.order) }) { first, _ in first }
        }
        return self.change(
            ofMembers: property, from: orders(edit.removed), to: orders(edit.added))
    }

    /// What leads from one value to another; nil where they are equal.
    func change(
        of property: SchemaProperty, from old: Value?, to new: Value?
    ) -> PropertyChange? {
        let (old, new) = (old ?? .null, new ?? .null)
        guard old != new else { return nil }
        return PropertyChange(
            name: property.name, old: old, new: new,
            removed: old.reference.map { [objectID($0)] } ?? [],
            added: new.reference.map { [objectID($0)] } ?? [],
            isCoded: property.attribute?.type == .codable)
    }

    /// What leads from some members, with their orders, to others; nil where they are equal.
    func change(
        ofMembers property: SchemaProperty, from old: [ObjectID: Double],
        to new: [ObjectID: Double]
    ) -> PropertyChange? {
        guard old != new else { return nil }
        func missing(in others: [ObjectID: Double], of members: [ObjectID: Double])
            -> [ManagedObjectID]
        {
            members.filter { others[$0.key] != $0.value }
                .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
                .map { objectID($0.key) }
        }
        return PropertyChange(
            name: property.name, old: .null, new: .null, removed: missing(in: new, of: old),
            added: missing(in: old, of: new))
    }
}

extension Change {
    /// The value that a property with a slot had before; nil for none, and where the change leaves it alone.
    func oldValue(of property: SchemaProperty) -> Value? {
        switch kind {
        case .insert: nil
        case .delete(let values, _): values.value(of: property)
        case .update(let edits, _): edits.edit(of: property)?.old
        }
    }

    /// The value that it has afterwards; nil for none, and where the change leaves it alone.
    func newValue(of property: SchemaProperty) -> Value? {
        switch kind {
        case .insert(let values, _): values.value(of: property)
        case .delete: nil
        case .update(let edits, _): edits.edit(of: property)?.new
        }
    }
}

extension [Value] {
    /// The value of a property; an entry of before may have fewer slots.
    fileprivate func value(of property: SchemaProperty) -> Value? {
        guard let slot = property.slot, slot < count else { return nil }
        return self[slot]
    }
}

extension [Edit] {
    fileprivate func edit(of property: SchemaProperty) -> Edit? {
        let edits = span
        for index in edits.indices where edits[index].property == property.number {
            // Values that differ may be one in the types of the program's model.
            return edits[index].old == edits[index].new ? nil : edits[index]
        }
        return nil
    }
}
