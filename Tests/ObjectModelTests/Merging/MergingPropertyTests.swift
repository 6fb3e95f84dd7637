import Testing

@testable import DaybookObjectModel

/// A three-way merge of objects with one attribute that adds up and one that does not.
@Suite struct MergingPropertyTests {
    private let entity: SchemaEntity
    private let object: ObjectID

    init() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Account",
                    attributes: [
                        AttributeDescription(name: "balance", type: .int64, merge: .sum),
                        AttributeDescription(name: "holder", type: .string),
                    ])
            ]))
        entity = schema.entities[0]
        object = ObjectID(entity: entity.number, number: 1)
    }

    private func values(_ balance: Int64, _ holder: String) throws -> [Value] {
        var values = entity.defaults
        values[try #require(entity.property(named: "balance")?.slot)] = .int(balance)
        values[try #require(entity.property(named: "holder")?.slot)] = .string(holder)
        return values
    }

    private func update(
        _ from: (Int64, String), _ to: (Int64, String)
    ) throws -> Change {
        let (old, new) = (try values(from.0, from.1), try values(to.0, to.1))
        let edits = entity.slots.compactMap { property -> Edit? in
            guard let slot = property.slot, old[slot] != new[slot] else { return nil }
            return Edit(property: property.number, old: old[slot], new: new[slot])
        }
        return Change(object: object, kind: .update(edits: edits, members: []))
    }

    @Test(arguments: MergePolicy.allCases)
    func `under every policy differences add up without a conflict`(policy: MergePolicy) throws {
        let ours = try update((0, "a"), (10, "a"))
        var state: ObjectState? = ObjectState(values: try values(10, "b"))

        let outcome = ThreeWayMerge(of: entity, policy: policy).merge(
            ours: ours, seen: try values(0, "a"), current: state)
        try outcome.change?.apply(to: &state, of: entity)

        #expect(outcome.conflicts.isEmpty)
        #expect(state?.values == (try values(20, "b")))
        let merged = try #require(outcome.merged.first)
        #expect(outcome.merged.count == 1)
        #expect(merged.propertyName == "balance")
        #expect(merged.base == .int(0))
        #expect(merged.theirs == .int(10))
        #expect(merged.ours == .int(10))
        #expect(merged.written == .int(20))
        // The resulting edit starts from the current value.
        guard case .update(let edits, _)? = outcome.change?.kind else {
            Issue.record("Nothing is left to do.")
            return
        }
        #expect(edits.map(\.old) == [.int(10)])
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, 15, "theirs"),
        (.mergeByPropertyObjectTrump, 15, "ours"), (.overwrite, 15, "ours"),
        (.rollback, 5, "theirs"),
    ])
    func `a conflict in another property does not lose what others have added`(
        policy: MergePolicy, balance: Int64, holder: String
    ) throws {
        let ours = try update((0, "a"), (10, "ours"))
        var state: ObjectState? = ObjectState(values: try values(5, "theirs"))

        let outcome = ThreeWayMerge(of: entity, policy: policy).merge(
            ours: ours, seen: try values(0, "a"), current: state)
        try outcome.change?.apply(to: &state, of: entity)

        #expect(outcome.conflicts.count == 1)
        #expect(state?.values == (try values(balance, holder)))
    }

    @Test func `overwriting an object keeps what others have added to values we have not touched`()
        throws
    {
        let ours = try update((0, "a"), (0, "ours"))
        var state: ObjectState? = ObjectState(values: try values(5, "theirs"))

        let outcome = ThreeWayMerge(of: entity, policy: .overwrite).merge(
            ours: ours, seen: try values(0, "a"), current: state)
        try outcome.change?.apply(to: &state, of: entity)

        #expect(state?.values == (try values(5, "ours")))
    }

    @Test func `per row, values that add up do not collide unless the object is watched`()
        throws
    {
        let merge = ThreeWayMerge(of: entity, policy: .error)
        let state = ObjectState(values: try values(5, "theirs"))
        let sum = try update((0, "a"), (10, "a"))
        let both = try update((0, "theirs"), (10, "ours"))

        #expect(merge.merge(ours: sum, seen: nil, current: state, movement: .row).conflicts == [])
        #expect(
            merge.merge(ours: both, seen: nil, current: state, movement: .row).conflicts
                .map(\.property) == [entity.property(named: "holder")?.number])
        #expect(
            merge.merge(ours: sum, seen: nil, current: state, movement: .watched).conflicts.count
                == 1)
    }
}
