import Testing

@testable import DaybookObjectModel

@Suite struct ChangeTests {
    @Test func `a change leads from any state to any other and its inverse back`() throws {
        let domain = try SmallDomain()
        for old in domain.states {
            for new in domain.states {
                guard let change = domain.change(from: old, to: new) else { continue }
                var state = old

                try change.apply(to: &state, of: domain.entity)
                #expect(state == new)
                try change.inverse.apply(to: &state, of: domain.entity)
                #expect(state == old)
                #expect(change.inverse.inverse == change)
            }
        }
    }

    @Test func `a change does not apply to a state it does not start from and leaves it unchanged`()
        throws
    {
        let domain = try SmallDomain()
        for old in domain.states {
            for new in domain.states {
                guard let change = domain.change(from: old, to: new) else { continue }
                for other in domain.states where other != old {
                    var state = other
                    do {
                        try change.apply(to: &state, of: domain.entity)
                        // An update checks only what it changes, so it may fit another state.
                        #expect(old != nil && new != nil && other != nil)
                    } catch {
                        #expect(state == other)
                        #expect(error.object == domain.object)
                    }
                }
            }
        }
    }

    @Test func `two changes in a row are the one change from the first state to the last`() throws {
        let domain = try SmallDomain()
        for first in domain.states {
            for second in domain.states {
                guard let one = domain.change(from: first, to: second) else { continue }
                for third in domain.states {
                    guard let other = domain.change(from: second, to: third) else { continue }

                    let net = try one.followed(by: other, of: domain.entity)

                    #expect(net == domain.change(from: first, to: third))
                }
            }
        }
    }

    @Test func `ascending, descending and unordered changes are sorted as in an entry`() throws {
        let values: [Value] = [.int(1)]
        let expected = (1...9 as ClosedRange<UInt64>).map { number in
            let object = ObjectID(entity: EntityNumber(rawValue: 1), number: number)
            let edits = [Edit(property: PropertyNumber(rawValue: 1), old: .null, new: .int(1))]
            return switch number {
            case ...3: Change(object: object, kind: .insert(values: values, members: []))
            case ...6: Change(object: object, kind: .update(edits: edits, members: []))
            default: Change(object: object, kind: .delete(values: values, members: []))
            }
        }
        for order in [expected, expected.reversed(), Array(expected[4...] + expected[..<4]), []] {
            var changes = order

            changes.sortAsInEntry()

            #expect(changes == (order.isEmpty ? [] : expected))
        }
    }

    @Test func `a change set holds the net change of every object, in the order of an entry`()
        throws
    {
        let domain = try SmallDomain()
        let states = domain.states
        var set = ChangeSet()
        var state: ObjectState?
        for step in 0..<200 {
            let next = states[(step * 31 + 7) % states.count]
            if let change = domain.change(from: state, to: next) {
                try set.append(change, of: domain.entity)
            }
            state = next
            #expect(set[domain.object] == domain.change(from: nil, to: state))
            #expect(set.isEmpty == (state == nil))
        }
        let inserted = Change(
            object: ObjectID(entity: domain.entity.number, number: 9),
            kind: .insert(values: [.null, .null], members: []))
        let deleted = Change(
            object: ObjectID(entity: domain.entity.number, number: 4),
            kind: .delete(values: [.null, .null], members: []))
        let updated = Change(
            object: ObjectID(entity: domain.entity.number, number: 5),
            kind: .update(
                edits: [Edit(property: domain.entity.slots[0].number, old: .null, new: .int(1))],
                members: []))
        var mixed = ChangeSet()
        for change in [deleted, updated, inserted] { try mixed.append(change, of: domain.entity) }
        #expect(mixed.ordered == [inserted, updated, deleted])
    }

    @Test func `every change has one encoding, and no other bytes are read as it`() throws {
        let domain = try SmallDomain()
        var seen: [[UInt8]: Change] = [:]
        for old in domain.states {
            for new in domain.states {
                guard var change = domain.change(from: old, to: new) else { continue }
                for cause in [nil, ObjectID(entity: domain.entity.number, number: 300)] {
                    change.cause = cause
                    var writer = ByteWriter()
                    writer.append(change)
                    let bytes = writer.bytes

                    var offset = 0
                    let read = try bytes.span.bytes.readChange(at: &offset)

                    #expect(read == change)
                    #expect(offset == bytes.count)
                    #expect(seen.updateValue(change, forKey: bytes).map { $0 == change } ?? true)
                    for length in 0..<bytes.count {
                        let cut = Array(bytes[..<length])
                        var start = 0
                        #expect(throws: DecodingFailure.self) {
                            try cut.span.bytes.readChange(at: &start)
                        }
                    }
                }
            }
        }
    }
}

@Suite struct ThreeWayMergeTests {
    private let policies = MergePolicy.allCases

    @Test func `the change that a merge returns applies to the current state`() throws {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            var state = theirs
            try outcome.change?.apply(to: &state, of: domain.entity)
            if outcome.change == nil { #expect(state == theirs) }
        }
    }

    @Test func `nothing collides when only one side has changed`() throws {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            guard theirs == base else { return }
            #expect(outcome.conflicts.isEmpty)
            #expect(outcome.change == domain.change(from: base, to: ours))
        }
    }

    @Test func `equal changes of both sides leave nothing to do but need a policy to settle`()
        throws
    {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            guard theirs == ours, let base else { return }
            #expect(outcome.change == nil)
            let isEdited = ours.map { $0.values != base.values } ?? false
            #expect(outcome.conflicts.isEmpty == (policy != .error || !isEdited), "\(policy)")
            for conflict in outcome.conflicts { #expect(conflict.theirs == conflict.ours) }
        }
    }

    @Test func `each property goes to the side that changed it, or that the policy favours`() throws
    {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            guard let base, let theirs, let ours else { return }
            var state: ObjectState? = theirs
            try outcome.change?.apply(to: &state, of: domain.entity)
            let result = try #require(state)
            let collisions = base.values.indices.filter {
                theirs.values[$0] != base.values[$0] && ours.values[$0] != base.values[$0]
                    && (policy == .error || ours.values[$0] != theirs.values[$0])
            }
            #expect(outcome.conflicts.count == collisions.count)
            for conflict in outcome.conflicts {
                let slot = try #require(
                    conflict.property.flatMap { domain.entity.property($0)?.slot })
                #expect(conflict.base == base.values[slot])
                #expect(conflict.theirs == theirs.values[slot])
                #expect(conflict.ours == ours.values[slot])
            }
            let expected = base.values.indices.map { slot -> Value in
                if !collisions.isEmpty, policy == .rollback { return theirs.values[slot] }
                if !collisions.isEmpty, policy == .overwrite { return ours.values[slot] }
                if collisions.contains(slot) {
                    return policy == .mergeByPropertyObjectTrump
                        ? ours.values[slot] : theirs.values[slot]
                }
                return ours.values[slot] != base.values[slot]
                    ? ours.values[slot] : theirs.values[slot]
            }
            #expect(result.values == expected, "\(policy)")
        }
    }

    @Test func `merging the same change twice changes nothing the second time`() throws {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            guard base != nil, theirs != nil, let change = domain.change(from: base, to: ours)
            else {
                return
            }
            var state = theirs
            try outcome.change?.apply(to: &state, of: domain.entity)
            let again = ThreeWayMerge(of: domain.entity, policy: policy).merge(
                ours: change, seen: base?.values, current: state)
            if state != nil || ours == nil { #expect(again.change == nil, "\(policy)") }
        }
    }

    @Test func `an object deleted by one side and edited by the other is a conflict`() throws {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            guard let base else { return }
            let oursWins = policy == .overwrite || policy == .mergeByPropertyObjectTrump
            if theirs == nil, let ours, ours != base {
                #expect(outcome.conflicts.allSatisfy { $0.kind == .deletedByThem })
                #expect(!outcome.conflicts.isEmpty)
                #expect((outcome.change != nil) == oursWins)
            }
            if ours == nil, let theirs, theirs.values != base.values {
                #expect(outcome.conflicts.allSatisfy { $0.kind == .deletedByUs })
                #expect(!outcome.conflicts.isEmpty)
                #expect((outcome.change != nil) == oursWins)
            }
        }
    }

    @Test func `members merge one by one whatever the policy`() throws {
        try forEveryMerge { domain, base, theirs, ours, policy, outcome in
            guard let base, let theirs, let ours, base.values == theirs.values,
                base.values == ours.values
            else { return }
            var state: ObjectState? = theirs
            try outcome.change?.apply(to: &state, of: domain.entity)
            #expect(outcome.conflicts.isEmpty)
            let parts = try #require(domain.entity.property(named: "parts")?.number)
            let result = Set((state?.members[parts] ?? [:]).keys)
            let (old, their, our) = (
                Set((base.members[parts] ?? [:]).keys), Set((theirs.members[parts] ?? [:]).keys),
                Set((ours.members[parts] ?? [:]).keys)
            )
            // Joins and leaves add up; a member that we only move and they remove stays out.
            #expect(
                result
                    == their.union(our.subtracting(old)).subtracting(old.subtracting(our)))
        }
    }

    /// Tries every combination of base, theirs and ours under every policy.
    private func forEveryMerge(
        _ check: (
            _ domain: SmallDomain, _ base: ObjectState?, _ theirs: ObjectState?,
            _ ours: ObjectState?, MergePolicy, MergeOutcome
        ) throws -> Void
    ) throws {
        let domain = try SmallDomain()
        for base in domain.states {
            for ours in domain.states {
                guard let change = domain.change(from: base, to: ours) else { continue }
                for theirs in domain.states {
                    for policy in policies {
                        let outcome = ThreeWayMerge(of: domain.entity, policy: policy).merge(
                            ours: change, seen: base?.values, current: theirs)
                        try check(domain, base, theirs, ours, policy, outcome)
                    }
                }
            }
        }
    }
}
