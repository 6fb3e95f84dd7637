import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// A target that only one object may hold has one holder, whatever is left out of an entry.
struct HeldReferenceTests {
    private let temporary: TemporaryStore
    private var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Agent",
                    attributes: [AttributeDescription(name: "isAway", type: .bool)],
                    relationships: [
                        RelationshipDescription(
                            name: "desk", destinationName: "Desk", inverseName: "agent"),
                        RelationshipDescription(
                            name: "files", destinationName: "File", inverseName: "agent",
                            isToMany: true, isOrdered: true),
                        RelationshipDescription(name: "floor", destinationName: "Floor"),
                    ]),
                EntityDescription(name: "Floor"),
                EntityDescription(
                    name: "Desk",
                    relationships: [
                        RelationshipDescription(
                            name: "agent", destinationName: "Agent", inverseName: "desk")
                    ]),
                EntityDescription(
                    name: "File",
                    relationships: [
                        RelationshipDescription(
                            name: "agent", destinationName: "Agent", inverseName: "files",
                            deleteRule: .noAction)
                    ]),
            ]))
    }

    @Test(
        arguments: [
            MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
            .rollback,
        ], [false, true])
    func `a reference that is left out does not keep what the entry gives to another`(
        policy: MergePolicy, isMoverFirst: Bool
    ) throws {
        let agents = try (0..<2).map { _ in try store.newObject("Agent") }
        let (mover, follower) = (agents[isMoverFirst ? 0 : 1], agents[isMoverFirst ? 1 : 0])
        let (desk, lost) = (try store.newObject("Desk"), try store.newObject("Desk"))
        try store.commit(
            SaveRequest(
                changes: [store.insert(desk), store.insert(lost)]
                    + agents.map { store.insert($0, $0 == mover ? ["desk": .object(desk)] : [:]) }
            ).inOrder)
        try store.commit(SaveRequest(changes: [try store.delete(lost)]))
        let changes = [
            store.update(mover, "desk", from: .object(desk), to: .object(lost)),
            store.update(follower, "desk", from: .null, to: .object(desk)),
        ]

        try store.commit(SaveRequest(changes: changes, policy: policy).inOrder)

        #expect(try heldDesk(of: follower) == .object(desk))
        #expect(try heldDesk(of: mover) == .null)
    }

    @Test func `a reference that is left out returns to a target that no other object gets`() throws
    {
        let agent = try store.newObject("Agent")
        let (desk, lost) = (try store.newObject("Desk"), try store.newObject("Desk"))
        try store.commit(
            SaveRequest(changes: [
                store.insert(agent, ["desk": .object(desk)]), store.insert(desk),
                store.insert(lost),
            ]))
        try store.commit(SaveRequest(changes: [try store.delete(lost)]))

        try store.commit(
            SaveRequest(
                changes: [store.update(agent, "desk", from: .object(desk), to: .object(lost))],
                policy: .mergeByPropertyStoreTrump))

        #expect(try heldDesk(of: agent) == .object(desk))
    }

    @Test func `a member that is left where its object was may change its order`() throws {
        let agent = try store.newObject("Agent")
        let files = try (0..<2).map { _ in try store.newObject("File") }
        try store.commit(
            SaveRequest(changes: [
                store.insert(
                    agent,
                    members: [
                        "files": [
                            Member(object: files[0], order: 1), Member(object: files[1], order: 2),
                        ]
                    ]), store.insert(files[0]), store.insert(files[1]),
            ]))
        // The rule leaves the reference where it is.
        try store.commit(SaveRequest(changes: [try store.delete(files[0])]))

        let result = try store.commit(
            SaveRequest(changes: [
                store.update(
                    agent, "files", adding: [Member(object: files[0], order: 3)],
                    removing: [Member(object: files[0], order: 1)])
            ]))

        #expect(result.conflicts.isEmpty)
        let members = try store.read {
            try $0.members(of: store.property("files", of: agent), in: agent)
        }
        #expect(
            members == [Member(object: files[1], order: 2), Member(object: files[0], order: 3)])
    }

    @Test(arguments: [false, true])
    func `an entry in which one object moves a member and another takes it is refused`(
        isMoverFirst: Bool
    ) throws {
        let agents = try (0..<2).map { _ in try store.newObject("Agent") }
        let (mover, taker) = (agents[isMoverFirst ? 0 : 1], agents[isMoverFirst ? 1 : 0])
        let file = try store.newObject("File")
        try store.commit(
            SaveRequest(
                changes: [store.insert(file)]
                    + agents.map {
                        store.insert(
                            $0,
                            members: $0 == mover ? ["files": [Member(object: file, order: 1)]] : [:]
                        )
                    }
            ).inOrder)

        let error = #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(
                    changes: [
                        store.update(
                            mover, "files", adding: [Member(object: file, order: 2)],
                            removing: [Member(object: file, order: 1)]),
                        store.update(taker, "files", adding: [Member(object: file, order: 1)]),
                    ], policy: .mergeByPropertyObjectTrump
                ).inOrder)
        }

        #expect(error?.code == .validation)
    }

    @Test(arguments: [false, true], [false, true])
    func `two dropped updates leave the references that they were to exchange`(
        isSwap: Bool, isFirst: Bool
    ) throws {
        let agents = try (0..<2).map { _ in try store.newObject("Agent") }
        let (giver, taker) = (agents[isFirst ? 0 : 1], agents[isFirst ? 1 : 0])
        let (desk, other) = (try store.newObject("Desk"), try store.newObject("Desk"))
        let floor = try store.newObject("Floor")
        let (held, back): (Value, Value) =
            isSwap ? (.object(other), .object(other)) : (.null, .null)
        try store.commit(
            SaveRequest(changes: [
                store.insert(desk), store.insert(other), store.insert(floor),
                store.insert(giver, ["desk": .object(desk)]),
                store.insert(taker, isSwap ? ["desk": held] : [:]),
            ]).inOrder)
        try store.commit(SaveRequest(changes: [try store.delete(floor)]))
        let changes = try [
            both(
                store.update(giver, "desk", from: .object(desk), to: back),
                store.update(giver, "floor", from: .null, to: .object(floor))),
            both(
                store.update(taker, "desk", from: held, to: .object(desk)),
                store.update(taker, "floor", from: .null, to: .object(floor))),
        ]

        try store.commit(SaveRequest(changes: changes, policy: .rollback).inOrder)

        #expect(try heldDesk(of: giver) == .object(desk))
        #expect(try heldDesk(of: taker) == held)
    }

    /// Two changes of an object as one change.
    private func both(_ first: Change, _ second: Change) throws -> Change {
        let entity = try #require(store.schema.entity(first.object.entity))
        return try #require(try first.followed(by: second, of: entity))
    }

    private func heldDesk(of agent: ObjectID) throws -> Value {
        try store.read { try $0.value(of: store.property("desk", of: agent), in: agent) }
    }
}

extension SaveRequest {
    /// The same request with its changes in the order of an entry.
    fileprivate var inOrder: SaveRequest {
        var request = self
        request.changes.sortAsInEntry()
        return request
    }
}
