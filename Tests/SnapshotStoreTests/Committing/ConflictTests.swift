import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct ConflictTests {
    /// A person that was read and then changed by another context.
    private struct Case {
        let temporary: TemporaryStore
        let store: Store
        let person: ObjectID

        init() throws {
            temporary = try TemporaryStore()
            store = temporary.store
            person = try store.newObject("Person")
            try store.commit(
                SaveRequest(changes: [
                    store.insert(person, ["name": .string("base"), "age": .int(1)])
                ]))
            try store.commit(
                SaveRequest(changes: [
                    store.update(person, "name", from: .string("base"), to: .string("theirs"))
                ]))
        }

        func name() throws -> Value {
            try store.read { try $0.value(of: store.property("name", of: person), in: person) }
        }

        func age() throws -> Value {
            try store.read { try $0.value(of: store.property("age", of: person), in: person) }
        }

        /// Our change of name and age, based on what we had read.
        func request(_ policy: MergePolicy) -> SaveRequest {
            let edits = [
                Edit(
                    property: store.property("name", of: person).number, old: .string("base"),
                    new: .string("ours")),
                Edit(
                    property: store.property("age", of: person).number, old: .int(1),
                    new: .int(2)),
            ].sorted { $0.property < $1.property }
            return SaveRequest(
                changes: [Change(object: person, kind: .update(edits: edits, members: []))],
                policy: policy)
        }
    }

    @Test func `the policy error refuses with base, theirs and ours`() throws {
        let conflicting = try Case()

        let error = #expect(throws: StoreError.self) {
            try conflicting.store.commit(conflicting.request(.error))
        }

        #expect(error?.code == .conflict)
        let conflict = try #require(error?.conflicts.first)
        #expect(error?.conflicts.count == 1)
        #expect(conflict.base == .string("base"))
        #expect(conflict.theirs == .string("theirs"))
        #expect(conflict.ours == .string("ours"))
        #expect(try conflicting.age() == .int(1))
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "theirs", 2),
        (.mergeByPropertyObjectTrump, "ours", 2),
        (.overwrite, "ours", 2),
        (.rollback, "theirs", 1),
    ])
    func `each policy settles in its own way and reports the conflict`(
        policy: MergePolicy, name: String, age: Int64
    ) throws {
        let conflicting = try Case()

        let result = try conflicting.store.commit(conflicting.request(policy))

        #expect(try conflicting.name() == .string(name))
        #expect(try conflicting.age() == .int(age))
        #expect(result.conflicts.count == 1)
        #expect((result.sequence == nil) == (policy == .rollback))
    }

    @Test func `changes of different properties commute`() throws {
        let conflicting = try Case()
        let store = conflicting.store

        let result = try store.commit(
            SaveRequest(changes: [
                store.update(conflicting.person, "age", from: .int(1), to: .int(5))
            ]))

        #expect(result.conflicts.isEmpty)
        #expect(try conflicting.name() == .string("theirs"))
        #expect(try conflicting.age() == .int(5))
    }

    @Test func `a change of a value since it was read is a conflict even if ours is the same`()
        throws
    {
        let conflicting = try Case()
        let store = conflicting.store
        let head = try store.head()
        let request = SaveRequest(changes: [
            store.update(
                conflicting.person, "name", from: .string("base"), to: .string("theirs"))
        ])

        let error = #expect(throws: StoreError.self) { try store.commit(request) }

        #expect(error?.code == .conflict)
        let conflict = try #require(error?.conflicts.first)
        #expect(conflict.base == .string("base"))
        #expect(conflict.theirs == .string("theirs"))
        #expect(conflict.ours == .string("theirs"))
        #expect(conflict.sequence == head)
        #expect(try store.head() == head)
    }

    @Test(arguments: MergePolicy.allCases.filter { $0 != .error })
    func `a policy that settles conflicts settles equal values silently`(
        policy: MergePolicy
    ) throws {
        let conflicting = try Case()
        let store = conflicting.store
        let change = store.update(
            conflicting.person, "name", from: .string("base"), to: .string("theirs"))

        let result = try store.commit(SaveRequest(changes: [change], policy: policy))

        #expect(result.sequence == nil)
        #expect(result.conflicts.isEmpty)
        #expect(try conflicting.name() == .string("theirs"))
    }

    @Test func `per row, any change since the row was read is a conflict`() throws {
        let conflicting = try Case()
        let store = conflicting.store
        var request = SaveRequest(changes: [
            store.update(conflicting.person, "age", from: .int(1), to: .int(5))
        ])
        request.detection = .perRow
        request.seenSince = [conflicting.person: SequenceNumber(2)]

        let error = #expect(throws: StoreError.self) { try store.commit(request) }

        #expect(error?.code == .conflict)
        #expect(error?.conflicts.first?.ours == .int(5))
    }

    @Test func `an update of a deleted object is a conflict, and our side can bring it back`()
        throws
    {
        let conflicting = try Case()
        let store = conflicting.store
        let person = conflicting.person
        let seen = try #require(try store.read { try $0.row(person) }).values
        try store.commit(SaveRequest(changes: [try store.delete(person)]))
        let change = store.update(person, "age", from: .int(1), to: .int(7))

        let error = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: [change]))
        }
        try store.commit(
            SaveRequest(
                changes: [change], seen: [person: seen], policy: .mergeByPropertyObjectTrump))

        #expect(error?.conflicts.map(\.kind) == [.deletedByThem])
        #expect(try conflicting.age() == .int(7))
        #expect(try conflicting.name() == .string("theirs"))
    }

    @Test(arguments: [
        MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite,
        .rollback,
    ])
    func `a new object never takes the place of another one of its number`(
        _ policy: MergePolicy
    ) throws {
        let conflicting = try Case()
        let (store, person) = (conflicting.store, conflicting.person)
        let insert = store.insert(person, ["name": .string("ours")])

        let error = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: [insert], policy: policy))
        }

        #expect(error?.code == .validation)
        #expect(error?.failures.map(\.object) == [person])
        #expect(try conflicting.name() == .string("theirs"))
    }

    @Test func `after a number that others have, the numbers behind it are not given out`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let first = try store.newObject("Person")
        let others = (1...3).map { ObjectID(entity: first.entity, number: first.number + $0) }
        try store.commit(
            SaveRequest(changes: others.map { store.insert($0, ["name": .string("theirs")]) }))
        let second = try store.newObject("Person")

        let error = #expect(throws: StoreError.self) {
            try store.commit(
                SaveRequest(changes: [store.insert(second, ["name": .string("ours")])]))
        }
        let third = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(third, ["name": .string("ours")])]))

        #expect(error?.failures.map(\.object) == [second])
        #expect(others.contains(second))
        #expect(!others.contains(third))
    }

    @Test func `an object that comes back after others brought it back meets what they have`()
        throws
    {
        let conflicting = try Case()
        let (store, person) = (conflicting.store, conflicting.person)
        var request = SaveRequest(
            changes: [store.insert(person, ["name": .string("ours")])],
            policy: .mergeByPropertyObjectTrump)
        request.returned = [person]

        let result = try store.commit(request)

        #expect(
            result.conflicts.map(\.property).contains(store.property("name", of: person).number))
        #expect(try conflicting.name() == .string("ours"))
    }

    @Test func `a reference to an object deleted meanwhile is a conflict`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let company = try store.newObject("Company")
        let person = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(company), store.insert(person)]))
        try store.commit(SaveRequest(changes: [try store.delete(company)]))
        let change = store.update(person, "employer", from: .null, to: .object(company))

        let error = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: [change]))
        }
        let result = try store.commit(
            SaveRequest(changes: [change], policy: .mergeByPropertyStoreTrump))

        #expect(error?.conflicts.map(\.kind) == [.reference])
        #expect(result.sequence == nil)
        #expect(result.conflicts.map(\.kind) == [.reference])
    }

    @Test func `a delete of an object that gained a reference is a conflict or takes it back`()
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let company = try store.newObject("Company")
        let person = try store.newObject("Person")
        try store.commit(SaveRequest(changes: [store.insert(company), store.insert(person)]))
        let delete = try store.delete(company)
        try store.commit(
            SaveRequest(changes: [
                store.update(person, "employer", from: .null, to: .object(company))
            ]))

        let error = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: [delete]))
        }
        let result = try store.commit(SaveRequest(changes: [delete], policy: .overwrite))

        #expect(error?.conflicts.map(\.object) == [person])
        #expect(result.changes.count == 2)
        #expect(try store.world().keys.sorted() == [person])
    }

    @Test func `references without an inverse are taken back with the object`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let friend = try store.newObject("Person")
        let company = try store.newObject("Company")
        let person = try store.newObject("Person")
        try store.commit(
            SaveRequest(changes: [
                store.insert(friend), store.insert(person, ["friend": .object(friend)]),
                store.insert(company, members: ["board": [Member(object: friend, order: 1)]]),
            ]))

        let result = try store.commit(SaveRequest(changes: [try store.delete(friend)]))

        #expect(result.changes.count == 3)
        #expect(result.changes.filter { $0.cause == friend }.count == 2)
        let board: [Member] = try store.read {
            try $0.members(of: store.property("board", of: company), in: company)
        }
        #expect(board.isEmpty)
    }
}

struct ExclusiveReferenceTests {
    /// A model in which a child has one parent, which keeps its children in order: the child's side
    /// is found from the parent's.
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Parent",
            relationships: [
                RelationshipDescription(
                    name: "children", destinationName: "Child", inverseName: "parent",
                    isToMany: true, isOrdered: true)
            ]),
        EntityDescription(
            name: "Child",
            relationships: [
                RelationshipDescription(
                    name: "parent", destinationName: "Parent", inverseName: "children")
            ]),
    ])

    @Test func `a child that two sides gave to two parents is a conflict or goes to the winner`()
        throws
    {
        let temporary = try TemporaryStore(Self.model)
        let store = temporary.store
        let first = try store.newObject("Parent")
        let second = try store.newObject("Parent")
        let child = try store.newObject("Child")
        try store.commit(
            SaveRequest(changes: [store.insert(first), store.insert(second), store.insert(child)]))
        let member = Member(object: child, order: 1)
        try store.commit(SaveRequest(changes: [store.update(first, "children", adding: [member])]))
        let change = store.update(second, "children", adding: [member])

        let error = #expect(throws: StoreError.self) {
            try store.commit(SaveRequest(changes: [change]))
        }
        let dropped = try store.commit(
            SaveRequest(changes: [change], policy: .mergeByPropertyStoreTrump))
        let won = try store.commit(
            SaveRequest(changes: [change], policy: .mergeByPropertyObjectTrump))

        #expect(error?.conflicts.map(\.kind) == [.reference])
        #expect(dropped.sequence == nil)
        #expect(won.changes.map(\.object) == [first, second])
        let parent: [ObjectID] = try store.read {
            try $0.members(of: store.property("parent", of: child), in: child)
        }
        #expect(parent == [second])
    }
}
