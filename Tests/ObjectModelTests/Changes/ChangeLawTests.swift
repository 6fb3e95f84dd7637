import Testing

@testable import DaybookObjectModel

/// Laws of changes in sequence and of changes rebased on other states.
struct ChangeLawTests {
    private static let rounds = 300

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `three changes compose to the same change however they are grouped`(seed: UInt64) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<Self.rounds {
            let states = (0..<4).map { _ in world.stateOrNone() }
            let changes = (0..<3).map { world.change(from: states[$0], to: states[$0 + 1]) }

            let early = try both(both(changes[0], changes[1], world), changes[2], world)
            let late = try both(changes[0], both(changes[1], changes[2], world), world)

            #expect(early == late)
            #expect(early == world.change(from: states[0], to: states[3]))
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `the inverses of two changes, the last one first, undo their composition`(
        seed: UInt64
    ) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<Self.rounds {
            let states = (0..<3).map { _ in world.stateOrNone() }
            let first = world.change(from: states[0], to: states[1])
            let second = world.change(from: states[1], to: states[2])

            let whole = try both(first, second, world)

            #expect(try whole?.inverse == both(second?.inverse, first?.inverse, world))
            #expect(try both(first, first?.inverse, world) == nil)
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a change rebased on another state applies there and has the same result`(
        seed: UInt64
    ) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<Self.rounds {
            let (base, other, goal) = (world.state(), world.state(), world.state())
            guard let change = world.change(from: base, to: goal) else { continue }

            let moved = change.starting(from: other, of: world.entity, unmergeable: .kept)

            var state: ObjectState? = other
            try moved.apply(to: &state, of: world.entity)
            let reached = try #require(state)
            for (slot, property) in world.entity.slots.enumerated() {
                let isEdited = base.values[slot] != goal.values[slot]
                let expected =
                    isEdited
                    ? property.merged(
                        base: base.values[slot], theirs: other.values[slot],
                        ours: goal.values[slot]) ?? goal.values[slot]
                    : other.values[slot]
                #expect(reached.values[slot] == expected, "\(property.name)")
            }
            for property in world.entity.storedToMany {
                let (before, after) = (base.members(of: property), goal.members(of: property))
                var expected = other.members(of: property)
                for member in Set(before.keys).union(after.keys)
                where before[member] != after[member] {
                    // A member that was only moved, and is gone in the other state, stays out.
                    if before[member] != nil, expected[member] == nil { continue }
                    expected[member] = after[member]
                }
                #expect(reached.members(of: property) == expected, "\(property.name)")
            }
            #expect(change.starting(from: base, of: world.entity, unmergeable: .kept) == change)
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a change rebased on two states in turn equals one rebased on the last at once`(
        seed: UInt64
    ) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<Self.rounds {
            let (base, goal, first, last) = (
                world.state(), world.state(), world.state(), world.state()
            )
            guard let change = world.change(from: base, to: goal) else { continue }

            let once = change.starting(from: first, of: world.entity, unmergeable: .kept)
            let twice = once.starting(from: last, of: world.entity, unmergeable: .kept)

            // What the first state already had is no longer part of the change, and a member that
            // it had is moved, not added.
            let atOnce = change.restricted(to: once)
                .starting(from: last, of: world.entity, unmergeable: .kept)
            #expect(twice == atOnce)
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a delete removes the current values, and an insert stays as it is`(seed: UInt64) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<Self.rounds {
            let (base, other) = (world.state(), world.state())
            let delete = try #require(world.change(from: base, to: nil))
            let insert = try #require(world.change(from: nil, to: base))

            #expect(
                delete.starting(from: other, of: world.entity, unmergeable: .kept)
                    == world.change(from: other, to: nil))
            #expect(insert.starting(from: other, of: world.entity, unmergeable: .kept) == insert)
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `edits of members rebased on others' edits equal those rebased on their result`(
        seed: UInt64
    ) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<Self.rounds {
            let (base, goal, theirs) = (world.state(), world.state(), world.state())
            let ours = world.change(from: base, to: goal)?.members ?? []
            let their = world.change(from: base, to: theirs)?.members ?? []

            let followed = ours.rebased(onto: their)

            let put = ours.map { $0.starting(from: theirs.members[$0.property] ?? [:]) }
            #expect(followed == put.filter { !$0.isEmpty })
            let leaving = world.change(from: base, to: nil)?.members ?? []
            #expect(
                leaving.leavingAll(after: their) == world.entity.membersLeaving(theirs))
        }
    }

    @Test func `an edit that cannot be merged is dropped or kept, as the caller says`() throws {
        let world = try RandomObject(seed: 1)
        let goals = try #require(world.entity.property(named: "goals"))
        let edit = Edit(property: goals.number, old: .int(0), new: .int(.max))

        #expect(edit.starting(from: .int(1), of: goals, unmergeable: .dropped) == nil)
        #expect(
            edit.starting(from: .int(1), of: goals, unmergeable: .kept)
                == Edit(property: goals.number, old: .int(1), new: .int(.max)))
    }

    @Test
    func `a member that returns to its old order is named in the sequence but not in the net`() {
        let number = PropertyNumber(rawValue: 3)
        let member = Member(
            object: ObjectID(entity: EntityNumber(rawValue: 1), number: 1), order: 2)
        let away = MembershipEdit(property: number, removed: [member])
        let back = MembershipEdit(property: number, added: [member])

        #expect([away].then([back]).flatMap(\.moves) == [MemberMove(member.object, from: 2, to: 2)])
        #expect([away].followed(by: [back]).isEmpty)
        #expect([back].then([away]).flatMap(\.moves).isEmpty)
    }

    private func both(
        _ first: Change?, _ second: Change?, _ world: RandomObject
    ) throws -> Change? {
        guard let first, let second else { return first ?? second }
        return try first.followed(by: second, of: world.entity)
    }
}

extension Change {
    /// This update without the properties and members that another does not name.
    fileprivate func restricted(to other: Change) -> Change {
        guard case .update(let edits, let members) = kind,
            case .update(let named, let moved) = other.kind
        else { return self }
        let properties = Set(named.map(\.property))
        var restricted = self
        restricted.kind = .update(
            edits: edits.filter { properties.contains($0.property) },
            members: members.map { edit in
                let others = moved.first { $0.property == edit.property }?.moves ?? []
                return MembershipEdit(
                    property: edit.property,
                    moves: edit.moves.compactMap { move in
                        others.first { $0.object == move.object }
                            .map { MemberMove(move.object, from: $0.old, to: move.new) }
                    })
            }.filter { !$0.isEmpty })
        return restricted
    }
}
