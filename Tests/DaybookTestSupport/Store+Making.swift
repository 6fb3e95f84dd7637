package import DaybookObjectModel
package import DaybookSnapshotStore

extension Store {
    /// A new object of a concrete entity.
    package func newObject(_ entity: String) throws -> ObjectID {
        guard let entity = schema.entity(named: entity) else {
            preconditionFailure("The model has no such entity.")
        }
        return ObjectID(entity: entity.number, number: try allocateObjectNumber())
    }

    /// A property by its name.
    package func property(_ name: String, of object: ObjectID) -> SchemaProperty {
        guard let property = schema.entity(object.entity)?.property(named: name) else {
            preconditionFailure("The entity has no such property.")
        }
        return property
    }

    /// An insert with some values and members, and defaults for the others.
    package func insert(
        _ object: ObjectID, _ values: [String: Value] = [:], members: [String: [Member]] = [:]
    ) -> Change {
        guard let entity = schema.entity(object.entity) else {
            preconditionFailure("The model has no such entity.")
        }
        var all = Array(entity.defaults.prefix(entity.storedSlotCount))
        for (name, value) in values {
            guard let slot = property(name, of: object).slot else { continue }
            all[slot] = value
        }
        let edits = members.map { name, members in
            MembershipEdit(property: property(name, of: object).number, added: members)
        }
        return Change(
            object: object,
            kind: .insert(
                values: all, members: edits.sorted { $0.property < $1.property }))
    }

    /// An update of one value.
    package func update(
        _ object: ObjectID, _ name: String, from old: Value, to new: Value
    ) -> Change {
        let edit = Edit(property: property(name, of: object).number, old: old, new: new)
        return Change(object: object, kind: .update(edits: [edit], members: []))
    }

    /// An update of one relationship's members.
    package func update(
        _ object: ObjectID, _ name: String, adding added: [Member] = [],
        removing removed: [Member] = []
    ) -> Change {
        let edit = MembershipEdit(
            property: property(name, of: object).number, added: added, removed: removed)
        return Change(object: object, kind: .update(edits: [], members: [edit]))
    }

    /// A delete of an object in its present state.
    package func delete(_ object: ObjectID) throws -> Change {
        let state = try read { try $0.state(of: object) } ?? ObjectState(values: [])
        let members = state.members.sorted { $0.key < $1.key }.map { property, members in
            MembershipEdit(
                property: property,
                removed: members.map { Member(object: $0.key, order: $0.value) })
        }
        return Change(object: object, kind: .delete(values: state.values, members: members))
    }
}

extension Store {
    /// All objects of the store now.
    package func world() throws -> ReferenceModel.World {
        try read { snapshot in
            var objects: [ObjectID] = []
            try snapshot.objects(of: schema.entities.map(\.number)) { object in
                objects.append(object)
                return .proceed
            }
            var world: ReferenceModel.World = [:]
            for object in objects { world[object] = try snapshot.state(of: object) }
            return world
        }
    }
}
