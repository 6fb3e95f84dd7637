import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Deleted objects brought back, and objects set back.
struct RestoreTests {
    @Test func `an object comes back with those deleted because of it`() throws {
        let house = try House()
        let before = try house.store.world()
        try house.tearDown()

        let plan = try house.store.restorePlan(of: house.house, author: "Ada")
        try house.store.commit(try plan.permitted())

        #expect(try house.store.world() == before)
        #expect(plan.request.header.undoes == SequenceNumber(3)...SequenceNumber(3))
        #expect(plan.request.header.kind == .undo)
        #expect(plan.request.header.note == "Restored House/1")
    }

    @Test func `an object comes back without those that others deleted`() throws {
        let house = try House()
        try house.tearDown(alsoDeleting: [house.neighbour])

        let plan = try house.store.restorePlan(of: house.house)
        try house.store.commit(try plan.permitted())

        let world = try house.store.world()
        #expect(world[house.house] != nil)
        #expect(world[house.room] != nil)
        #expect(world[house.neighbour] == nil)
        #expect(plan.request.header.undoes == nil)
        #expect(plan.request.header.kind == .save)
    }

    @Test func `a part cannot come back without the whole it must belong to`() throws {
        let house = try House()
        try house.tearDown()

        let refusal = try house.store.restorePlan(of: house.room).refusal
        let kept = try house.store.restorePlan(of: house.room, policy: .keepLater).refusal

        #expect(refusal?.code == .undoBlocked)
        #expect(
            refusal?.obstacles.first?.description
                .hasSuffix("Z deleted House/1, which is needed by 'house' of Room/2.")
                == true)
        #expect(kept?.code == .undoBlocked)
        #expect(kept?.obstacles.count == 1)
    }

    @Test func `a reference that now leads elsewhere is an obstacle`() throws {
        let house = try House()
        let store = house.store
        try house.tearDown()
        let other = try store.newObject("House")
        try store.commit(
            SaveRequest(
                header: EntryHeader(author: "Grace"),
                changes: [
                    store.insert(other),
                    store.update(house.owner, "home", from: .null, to: .object(other)),
                ]))

        let refusal = try store.restorePlan(of: house.house).refusal
        let plan = try store.restorePlan(of: house.house, policy: .keepLater)
        let overwriting = try store.restorePlan(of: house.house, policy: .overwrite)

        #expect(refusal?.obstacles.map(\.propertyName) == ["home"])
        #expect(refusal?.obstacles.first?.author == "Grace")
        #expect(plan.refusal == nil)
        #expect(plan.obstacles.map(\.propertyName) == ["home"])
        #expect(overwriting.obstacles.isEmpty)
        try store.commit(try overwriting.permitted())
        let home = store.property("home", of: house.owner)
        #expect(
            try store.read { try $0.value(of: home, in: house.owner) } == .object(house.house))
    }

    @Test func `a unique value that is taken is left out where the policy says so`() throws {
        let house = try House()
        let store = house.store
        try house.tearDown()
        let other = try store.newObject("House")
        try store.commit(SaveRequest(changes: [store.insert(other, ["number": .int(7)])]))

        let refusal = try store.restorePlan(of: house.house).refusal
        let plan = try store.restorePlan(of: house.house, policy: .keepLater)
        try store.commit(try plan.permitted())

        #expect(refusal?.obstacles.map(\.propertyName) == ["number"])
        #expect(plan.obstacles.map(\.propertyName) == ["number"])
        let number = store.property("number", of: house.house)
        #expect(try store.read { try $0.value(of: number, in: house.house) } == .null)
    }

    @Test func `an existing object gets its earlier values back`() throws {
        let house = try House()
        let store = house.store
        try store.commit(
            SaveRequest(changes: [store.update(house.house, "number", from: .int(7), to: .int(8))]))

        let plan = try store.restorePlan(of: house.house, at: SequenceNumber(2))
        try store.commit(try plan.permitted())

        let number = store.property("number", of: house.house)
        #expect(try store.read { try $0.value(of: number, in: house.house) } == .int(7))
        #expect(plan.request.header.undoes == nil)
        #expect(plan.request.header.note == "Restored House/1 as of entry 2")
        let again = try store.restorePlan(of: house.house, at: SequenceNumber(2))
        #expect(again.refusal?.code == .undoBlocked)
    }

    @Test func `a deleted object can come back as it was earlier`() throws {
        let house = try House()
        let store = house.store
        try store.commit(
            SaveRequest(changes: [store.update(house.house, "number", from: .int(7), to: .int(8))]))
        try house.tearDown()

        let plan = try store.restorePlan(of: house.house, at: SequenceNumber(2))
        try store.commit(try plan.permitted())

        let number = store.property("number", of: house.house)
        #expect(try store.read { try $0.value(of: number, in: house.house) } == .int(7))
        #expect(try store.world()[house.room] != nil)
    }

    @Test func `a restore of an object that never existed names it`() throws {
        let house = try House()
        let store = house.store
        let never = ObjectID(entity: house.house.entity, number: 99)
        let late = try store.newObject("House")
        try store.commit(SaveRequest(changes: [store.insert(late)]))

        let errors = try [
            #require(throws: StoreError.self) { try store.restorePlan(of: never) },
            #require(throws: StoreError.self) { try store.restorePlan(of: house.house) },
            #require(throws: StoreError.self) {
                try store.restorePlan(of: late, at: SequenceNumber(2))
            },
            #require(throws: StoreError.self) {
                try store.restorePlan(of: late, at: SequenceNumber(9))
            },
        ]

        #expect(errors.map(\.code) == [.noSuchObject, .undoBlocked, .noSuchObject, .noSuchEntry])
    }
}

/// A house with a room, an owner and a neighbour, made by entry 2.
struct House {
    let temporary: TemporaryStore
    let house: ObjectID
    let room: ObjectID
    let owner: ObjectID
    let neighbour: ObjectID

    var store: Store { temporary.store }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "House",
            attributes: [AttributeDescription(name: "number", type: .int64, isUnique: true)],
            relationships: [
                RelationshipDescription(
                    name: "rooms", destinationName: "Room", inverseName: "house", isToMany: true,
                    deleteRule: .cascade),
                RelationshipDescription(
                    name: "owners", destinationName: "Owner", inverseName: "home", isToMany: true),
                RelationshipDescription(
                    name: "keeper", destinationName: "Owner", inverseName: "keeps"),
            ]),
        EntityDescription(
            name: "Room",
            relationships: [
                RelationshipDescription(
                    name: "house", destinationName: "House", inverseName: "rooms",
                    isOptional: false)
            ]),
        EntityDescription(
            name: "Owner",
            relationships: [
                RelationshipDescription(
                    name: "home", destinationName: "House", inverseName: "owners"),
                RelationshipDescription(
                    name: "keeps", destinationName: "House", inverseName: "keeper"),
            ]),
    ])

    init() throws {
        temporary = try TemporaryStore(Self.model)
        let store = temporary.store
        house = try store.newObject("House")
        room = try store.newObject("Room")
        owner = try store.newObject("Owner")
        neighbour = try store.newObject("Owner")
        try store.commit(
            SaveRequest(changes: [
                store.insert(house, ["number": .int(7)]),
                store.insert(room, ["house": .object(house)]),
                store.insert(owner, ["home": .object(house)]), store.insert(neighbour),
            ]))
    }

    /// Deletes the house, with it the room, and the given objects.
    func tearDown(alsoDeleting others: [ObjectID] = []) throws {
        var roomGoes = try store.delete(room)
        roomGoes.cause = house
        var ownerLeaves = store.update(owner, "home", from: .object(house), to: .null)
        ownerLeaves.cause = house
        try store.commit(
            SaveRequest(
                changes: [try store.delete(house), roomGoes, ownerLeaves]
                    + (try others.map { try store.delete($0) })))
    }
}
