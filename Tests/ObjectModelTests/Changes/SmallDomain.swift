import DaybookObjectModel
import Testing

@testable import DaybookObjectModel

/// All states of one object of a small entity, and the change from any one to any other.
///
/// Two attributes with three values each and a to-many relationship with two possible members, one
/// of which may have either of two orders: small enough to try every pair and triple.
struct SmallDomain {
    let schema: Schema
    let entity: SchemaEntity
    let object: ObjectID
    /// Every state; nil stands for no object.
    let states: [ObjectState?]

    init() throws {
        schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Thing",
                    attributes: [
                        AttributeDescription(name: "first", type: .int64),
                        AttributeDescription(name: "second", type: .string),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "parts", destinationName: "Thing", isToMany: true,
                            isOrdered: true)
                    ])
            ]))
        entity = try #require(schema.entity(named: "Thing"))
        object = ObjectID(entity: entity.number, number: 1)
        let parts = try #require(entity.property(named: "parts")?.number)
        var states: [ObjectState?] = [nil]
        for first in [Value.null, .int(1), .int(2)] {
            for second in [Value.null, .string("a"), .string("b")] {
                for members in Self.memberships(entity.number) {
                    states.append(
                        ObjectState(
                            values: [first, second],
                            members: members.isEmpty ? [:] : [parts: members]))
                }
            }
        }
        self.states = states
    }

    private static func memberships(_ entity: EntityNumber) -> [[ObjectID: Double]] {
        let one = ObjectID(entity: entity, number: 2)
        let other = ObjectID(entity: entity, number: 3)
        return [[:], [one: 1], [one: 2], [other: 1], [one: 1, other: 2]]
    }

    /// The change from one state to another; nil when they are the same.
    func change(from old: ObjectState?, to new: ObjectState?) -> Change? {
        switch (old, new) {
        case (nil, nil): return nil
        case (nil, let new?):
            return Change(
                object: object,
                kind: .insert(values: new.values, members: moves(from: nil, to: new)))
        case (let old?, nil):
            return Change(
                object: object,
                kind: .delete(values: old.values, members: moves(from: old, to: nil)))
        case (let old?, let new?):
            guard old != new else { return nil }
            let edits = zip(old.values, new.values).enumerated().compactMap { slot, pair in
                pair.0 == pair.1
                    ? nil
                    : Edit(property: entity.slots[slot].number, old: pair.0, new: pair.1)
            }
            return Change(
                object: object, kind: .update(edits: edits, members: moves(from: old, to: new)))
        }
    }

    private func moves(from old: ObjectState?, to new: ObjectState?) -> [MembershipEdit] {
        entity.storedToMany.compactMap { property in
            let old = old?.members[property.number] ?? [:]
            let new = new?.members[property.number] ?? [:]
            let edit = MembershipEdit(
                property: property.number,
                added: new.filter { old[$0.key] != $0.value }.map(Member.init),
                removed: old.filter { new[$0.key] != $0.value }.map(Member.init))
            return edit.isEmpty ? nil : edit
        }
    }
}

extension Member {
    fileprivate init(_ entry: (key: ObjectID, value: Double)) {
        self.init(object: entry.key, order: entry.value)
    }
}
