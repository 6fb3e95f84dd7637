import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// The objects checked again when a plan leaves an object out, or sets it back.
struct GraphRepairTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Ring",
            relationships: [
                RelationshipDescription(
                    name: "before", destinationName: "Ring", isOptional: false)
            ]),
        EntityDescription(
            name: "House",
            relationships: [
                RelationshipDescription(
                    name: "keeper", destinationName: "Owner", inverseName: "keeps")
            ]),
        EntityDescription(
            name: "Owner",
            relationships: [
                RelationshipDescription(
                    name: "keeps", destinationName: "House", inverseName: "keeper")
            ]),
    ])

    private let temporary: TemporaryStore
    private var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore(Self.model)
    }

    @Test func `an object that needs one that is left out is left out with it`() throws {
        let rings = try (0..<5).map { _ in try store.newObject("Ring") }
        let missing = try store.newObject("Ring")
        var plan = GraphRepair(store.parts, .keepLater)
        for (ring, before) in zip(rings, rings.dropFirst() + [missing]) {
            plan.want(ObjectState(values: [.object(before)]), for: ring)
        }

        try store.reading { try plan.settle(in: $0) }

        #expect(plan.wanted.isEmpty)
        #expect(plan.obstacles.count == 5)
    }

    @Test func `no other object gets what an object that is set back keeps`() throws {
        let (first, second) = (try store.newObject("House"), try store.newObject("House"))
        let (keeper, missing) = (try store.newObject("Owner"), try store.newObject("Owner"))
        try store.commit(
            SaveRequest(changes: [
                store.insert(first), store.insert(keeper),
                store.insert(second, ["keeper": .object(keeper)]),
            ]))
        var plan = GraphRepair(store.parts, .keepLater)
        plan.want(ObjectState(values: [.object(keeper)]), for: first)
        plan.want(ObjectState(values: [.object(missing)]), for: second)

        try store.reading { try plan.settle(in: $0) }

        #expect(plan.wanted[first] == ObjectState(values: [.null]))
        #expect(plan.wanted[second] == ObjectState(values: [.object(keeper)]))
        #expect(plan.obstacles.count == 2)
    }
}
