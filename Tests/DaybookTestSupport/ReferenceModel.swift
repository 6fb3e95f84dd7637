package import DaybookJournalLog
package import DaybookObjectModel

/// The expected states of a store: every state it ever had, in a list.
///
/// It has no rows, versions or indexes, and reads the past by looking it up.
package struct ReferenceModel: Sendable {
    /// All objects at one sequence number.
    package typealias World = [ObjectID: ObjectState]

    private var worlds: [World] = [[:]]

    /// Starts empty at sequence number 0.
    package init() {}

    /// The last sequence number.
    package var head: SequenceNumber { SequenceNumber(UInt64(worlds.count - 1)) }

    /// The objects now.
    package var current: World { worlds[worlds.count - 1] }

    /// The objects as of a sequence number.
    package func world(at sequence: SequenceNumber) -> World { worlds[Int(sequence.rawValue)] }

    /// Adds an entry with the objects after it.
    package mutating func append(_ world: World) { worlds.append(world) }

    /// The objects that refer to one through a property, found by searching all.
    package static func referrers(
        to object: ObjectID, _ property: SchemaProperty, in world: World, _ schema: Schema
    ) -> [ObjectID] {
        world.filter { owner, state in
            guard let own = schema.entity(owner.entity)?.property(property.number) else {
                return false
            }
            if let slot = own.slot { return state.values[slot].reference == object }
            return state.members[own.number]?[object] != nil
        }.keys.sorted()
    }

    /// The net changes from one world to another, in no order.
    package static func changes(from old: World, to new: World, _ schema: Schema) -> [Change] {
        Set(old.keys).union(new.keys).compactMap { object in
            switch (old[object], new[object]) {
            case (let before?, let after?):
                return before == after ? nil : update(object, before, after, schema)
            case (nil, let after?):
                let members = memberships([:], after.members)
                return Change(
                    object: object, kind: .insert(values: after.values, members: members))
            case (let before?, nil):
                let members = memberships(before.members, [:])
                return Change(
                    object: object, kind: .delete(values: before.values, members: members))
            case (nil, nil): return nil
            }
        }
    }

    private static func update(
        _ object: ObjectID, _ before: ObjectState, _ after: ObjectState, _ schema: Schema
    ) -> Change {
        var edits: [Edit] = []
        for property in schema.entity(object.entity)?.slots ?? [] {
            guard let slot = property.slot, slot < before.values.count,
                before.values[slot] != after.values[slot]
            else { continue }
            edits.append(
                Edit(
                    property: property.number, old: before.values[slot], new: after.values[slot]))
        }
        edits.sort { $0.property < $1.property }
        return Change(
            object: object,
            kind: .update(edits: edits, members: memberships(before.members, after.members)))
    }

    private static func memberships(
        _ before: [PropertyNumber: [ObjectID: Double]],
        _ after: [PropertyNumber: [ObjectID: Double]]
    ) -> [MembershipEdit] {
        Set(before.keys).union(after.keys).sorted().compactMap { property in
            let old = before[property] ?? [:]
            let new = after[property] ?? [:]
            let edit = MembershipEdit(
                property: property,
                added: new.filter { old[$0.key] != $0.value }.map {
                    Member(object: $0.key, order: $0.value)
                },
                removed: old.filter { new[$0.key] != $0.value }.map {
                    Member(object: $0.key, order: $0.value)
                })
            return edit.isEmpty ? nil : edit
        }
    }
}

extension ReferenceModel.World {
    /// The world after the delete of an object and of all references to it.
    ///
    /// - Parameter object: The object.
    /// - Returns: The world without it.
    package func without(_ object: ObjectID) -> Self {
        var world = self
        world[object] = nil
        for (owner, var state) in world {
            for slot in state.values.indices where state.values[slot].reference == object {
                state.values[slot] = .null
            }
            for (property, var members) in state.members {
                members[object] = nil
                state.members[property] = members.isEmpty ? nil : members
            }
            world[owner] = state
        }
        return world
    }
}
