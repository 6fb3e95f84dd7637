import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// An object that comes back because our side wins comes back with what its delete had taken.
struct MemberReturnTests {
    private let temporary: TemporaryStore
    private var store: Store { temporary.store }
    private let company: ObjectID
    private let ada: ObjectID
    private let ben: ObjectID
    private let seen: [ObjectID: [Value]]

    /// A company with two people, of whom Ada is on the board, which somebody else then deletes.
    init() throws {
        temporary = try TemporaryStore()
        let store = temporary.store
        (company, ada, ben) = (
            try store.newObject("Company"), try store.newObject("Person"),
            try store.newObject("Person")
        )
        try store.commit(
            SaveRequest(changes: [
                store.insert(
                    company, ["name": .string("Analytical")],
                    members: ["board": [Member(object: ada, order: 4)]]),
                store.insert(ada, ["employer": .object(company)]),
                store.insert(ben, ["employer": .object(company)]),
            ]))
        let row = try store.read { [company] in try $0.row(company) }
        seen = [company: try #require(row).values]
    }

    private func deleteCompany() throws {
        try store.commit(
            SaveRequest(
                changes: [try store.delete(company)]
                    + [ada, ben].map {
                        store.update($0, "employer", from: .object(company), to: .null)
                    }
            ))
    }

    private var rename: Change {
        store.update(company, "name", from: .string("Analytical"), to: .string("Engines"))
    }

    private func employer(of person: ObjectID) throws -> Value {
        try store.read { try $0.value(of: store.property("employer", of: person), in: person) }
    }

    private func board() throws -> [ObjectID: Double] {
        let state = try store.read { try $0.state(of: company) }
        return state?.members[store.property("board", of: company).number] ?? [:]
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `an object that comes back has its members and its place in others again`(
        _ policy: MergePolicy
    ) throws {
        try deleteCompany()

        let result = try store.commit(
            SaveRequest(changes: [rename], seen: seen, policy: policy))

        #expect(result.conflicts.map(\.kind) == [.deletedByThem])
        #expect(try board() == [ada: 4])
        #expect(try employer(of: ada) == .object(company))
        #expect(try employer(of: ben) == .object(company))
        #expect(try store.verify().isSound)
    }

    @Test func `a reference without an inverse leads to an object that comes back`() throws {
        try store.commit(SaveRequest(changes: [store.insert(try store.newObject("Person"))]))
        try store.commit(
            SaveRequest(changes: [store.update(ada, "friend", from: .null, to: .object(ben))]))
        let friend = try #require(try store.read { try $0.row(ben) })
        // The store itself empties the reference.
        try store.commit(SaveRequest(changes: [try store.delete(ben)]))

        try store.commit(
            SaveRequest(
                changes: [store.update(ben, "age", from: .null, to: .int(36))],
                seen: [ben: friend.values], policy: .overwrite))

        let value = try store.read {
            try $0.value(of: store.property("friend", of: ada), in: ada)
        }
        #expect(value == .object(ben))
    }

    @Test func `what others have done since the delete stays`() throws {
        let other = try store.newObject("Company")
        try store.commit(SaveRequest(changes: [store.insert(other)]))
        try deleteCompany()
        try store.commit(
            SaveRequest(changes: [store.update(ada, "employer", from: .null, to: .object(other))]))
        try store.commit(
            SaveRequest(changes: [store.update(ada, "employer", from: .object(other), to: .null)]))
        try store.commit(
            SaveRequest(changes: [store.update(ben, "employer", from: .null, to: .object(other))]))

        try store.commit(SaveRequest(changes: [rename], seen: seen, policy: .overwrite))

        #expect(try employer(of: ada) == .null)
        #expect(try employer(of: ben) == .object(other))
        #expect(try board() == [ada: 4])
    }

    @Test func `what the request takes out of an object that comes back stays out`() throws {
        try deleteCompany()
        let board = store.property("board", of: company).number
        let name = store.property("name", of: company).number
        let changes = [
            Change(
                object: company,
                kind: .update(
                    edits: [
                        Edit(property: name, old: .string("Analytical"), new: .string("Engines"))
                    ],
                    members: [
                        MembershipEdit(property: board, removed: [Member(object: ada, order: 4)])
                    ])),
            store.update(ada, "employer", from: .object(company), to: .null),
        ]

        try store.commit(SaveRequest(changes: changes, seen: seen, policy: .overwrite))

        #expect(try self.board().isEmpty)
        #expect(try employer(of: ada) == .null)
        #expect(try employer(of: ben) == .object(company))
    }

    @Test func `a member that is gone as well does not come back`() throws {
        try deleteCompany()
        try store.commit(SaveRequest(changes: [try store.delete(ada)]))

        let result = try store.commit(
            SaveRequest(changes: [rename], seen: seen, policy: .overwrite))

        #expect(result.conflicts.map(\.kind) == [.deletedByThem])
        #expect(try board().isEmpty)
        #expect(try employer(of: ben) == .object(company))
    }

    @Test func `the policies in which their side wins bring nothing back`() throws {
        try deleteCompany()

        let result = try store.commit(
            SaveRequest(changes: [rename], seen: seen, policy: .mergeByPropertyStoreTrump))

        #expect(result.sequence == nil)
        #expect(try employer(of: ben) == .null)
    }
}
