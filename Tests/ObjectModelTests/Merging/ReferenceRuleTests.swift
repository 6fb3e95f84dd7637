import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

/// The rule for references, applied to graphs in dictionaries.
struct ReferenceRuleTests {
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a reference is allowed to an existing target that no other holds where only one may`(
        seed: UInt64
    ) throws {
        let world = try RandomObject(seed: seed)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let property = try #require(
                world.entity.properties.filter { $0.end != nil }.randomElement(using: &random))
            let number = { UInt64.random(in: 1...4, using: &random) }
            let target = ObjectID(entity: world.entity.number, number: number())
            let owner = ObjectID(entity: world.entity.number, number: number())
            let isThere = Bool.random(using: &random)
            let holders = (0..<Int.random(in: 0...2, using: &random)).map { _ in
                ObjectID(entity: world.entity.number, number: number())
            }
            var asked: [ObjectID] = []

            let standing = property.standing(
                of: target, from: owner, exists: { $0 == target && isThere },
                holders: {
                    asked.append($0)
                    return holders
                })

            let others = holders.filter { $0 != owner }
            if !isThere {
                #expect(standing == .gone)
            } else if property.isExclusive, !others.isEmpty {
                #expect(standing == .held(by: others))
            } else {
                #expect(standing == .allowed)
            }
            #expect(asked == (isThere && property.isExclusive ? [target] : []))
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a change without some references has the same result except for those`(seed: UInt64)
        throws
    {
        var world = try RandomObject(seed: seed)
        for _ in 0..<300 {
            let (old, new) = (world.stateOrNone(), world.state())
            guard let change = world.change(from: old, to: new) else { continue }
            let refused = UInt64.random(in: 1...4, using: &world.random)
            let isTaken = Bool.random(using: &world.random)
            var kept = change

            let lost = kept.leaveOut(
                of: world.entity, where: { $0.destination.number == refused },
                unlessTaken: { property, _ in
                    #expect(property.isExclusive)
                    return isTaken
                })

            var state = old
            try kept.apply(to: &state, of: world.entity)
            let reached = try #require(state)
            var expected = new
            for (slot, property) in world.entity.slots.enumerated()
            where new.values[slot].reference?.number == refused {
                let before = old?.values[slot] ?? .null
                guard before != new.values[slot] else { continue }
                expected.values[slot] = property.isExclusive && isTaken ? .null : before
            }
            for property in world.entity.storedToMany {
                for member in new.members(of: property).keys where member.number == refused {
                    let order = old?.members(of: property)[member]
                    expected.members[property.number]?[member] = order
                }
                if expected.members[property.number]?.isEmpty == true {
                    expected.members[property.number] = nil
                }
            }
            #expect(reached == expected)
            let isLost = change.references(of: world.entity).filter {
                $0.new != nil && $0.destination.number == refused
            }
            #expect(lost.map(\.ours) == isLost.map { .object($0.destination) })
            #expect(lost.map(\.property) == isLost.map(\.property.number))
            #expect(!lost.isEmpty || kept == change)
        }
    }

    @Test func `a reference left out of an update is reported with its old target`()
        throws
    {
        let world = try RandomObject(seed: 1)
        let locker = try #require(world.entity.property(named: "locker"))
        let lockers = (1...2 as ClosedRange<UInt64>).map {
            Value.object(
                ObjectID(entity: locker.end?.destination ?? world.entity.number, number: $0))
        }
        let edit = Edit(property: locker.number, old: lockers[0], new: lockers[1])
        for isTaken in [false, true] {
            var change = Change(
                object: world.object, kind: .update(edits: [edit], members: []))

            let lost = change.leaveOut(
                of: world.entity, where: { _ in true }, unlessTaken: { _, _ in isTaken })

            #expect(
                lost == [
                    LostReference(property: locker.number, base: lockers[0], ours: lockers[1])
                ])
            let emptied = Edit(property: locker.number, old: lockers[0], new: .null)
            #expect(change.kind == .update(edits: isTaken ? [emptied] : [], members: []))
        }
    }

    @Test func `nothing is left out of a delete`() throws {
        var world = try RandomObject(seed: 2)
        let change = try #require(world.change(from: world.state(), to: nil))
        var kept = change

        let lost = kept.leaveOut(
            of: world.entity, where: { _ in true }, unlessTaken: { _, _ in true })

        #expect(lost.isEmpty)
        #expect(kept == change)
    }
}
