import Testing

@testable import DaybookObjectModel

/// The effect of a change on references is the difference of its two states.
struct ReferenceChangeTests {
    private struct Link: Hashable {
        let property: PropertyNumber
        let destination: ObjectID
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a change begins and ends the references that only one of its states has`(
        seed: UInt64
    ) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<300 {
            let (old, new) = (world.stateOrNone(), world.stateOrNone())
            guard let change = world.change(from: old, to: new) else { continue }
            let (before, after) = (links(of: old, world), links(of: new, world))

            let references = change.references(of: world.entity)

            func named(_ isWanted: (ReferenceChange) -> Bool) -> Set<Link> {
                Set(
                    references.filter(isWanted).map {
                        Link(property: $0.property.number, destination: $0.destination)
                    })
            }
            #expect(named(\.begins) == after.subtracting(before))
            #expect(named(\.ends) == before.subtracting(after))
            #expect(
                named { !$0.begins && !$0.ends }.isSubset(of: before.intersection(after)))
            let back = change.inverse.references(of: world.entity)
            #expect(back.count == references.count)
            for reference in references {
                #expect(
                    back.contains {
                        $0.property === reference.property && $0.old == reference.new
                            && $0.destination == reference.destination && $0.new == reference.old
                    })
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `the counts at both ends change by the difference of the two states`(
        seed: UInt64
    ) throws {
        var world = try RandomObject(seed: seed)
        for _ in 0..<300 {
            let (old, new) = (world.stateOrNone(), world.stateOrNone())
            guard let change = world.change(from: old, to: new) else { continue }
            var differences: [Link: Int] = [:]
            change.forEachCount(of: world.entity) { object, property, difference in
                differences[Link(property: property, destination: object), default: 0] += difference
            }

            var expected: [Link: Int] = [:]
            for (state, sign) in [(old, -1), (new, 1)] {
                for link in links(of: state, world) {
                    let property = try #require(world.entity.property(link.property))
                    if property.relationship?.isToMany == true {
                        let here = Link(property: link.property, destination: world.object)
                        expected[here, default: 0] += sign
                    }
                    if let inverse = property.end?.inverse, inverse != property.number {
                        let there = Link(property: inverse, destination: link.destination)
                        expected[there, default: 0] += sign
                    }
                }
            }
            #expect(differences.filter { $0.value != 0 } == expected.filter { $0.value != 0 })
            if old == nil {
                // A new object may have too few members although the change gives it none.
                for property in world.entity.counted {
                    let here = Link(property: property.number, destination: world.object)
                    #expect(differences[here] != nil, "\(property.name)")
                }
            }
        }
    }

    @Test func `a change that names only the object has no effect on references`() throws {
        let world = try RandomObject(seed: 1)
        for kind in [
            Change.Kind.insert(values: [], members: []), .update(edits: [], members: []),
            .delete(values: [], members: []),
        ] {
            #expect(
                Change(object: world.object, kind: kind).references(of: world.entity).isEmpty)
        }
    }

    /// The references of an object, by the schema alone.
    private func links(of state: ObjectState?, _ world: RandomObject) -> Set<Link> {
        guard let state else { return [] }
        var links: Set<Link> = []
        for property in world.entity.properties where property.relationship != nil {
            if let slot = property.slot, let destination = state.values[slot].reference {
                links.insert(Link(property: property.number, destination: destination))
            }
            for member in state.members(of: property).keys {
                links.insert(Link(property: property.number, destination: member))
            }
        }
        #expect(
            links
                == Set(
                    state.references(of: world.entity).map {
                        Link(property: $0.property.number, destination: $0.destination)
                    }))
        return links
    }
}
