import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// What of the journal a program takes.
@Suite struct EntryFilterTests {
    private let followed: FollowedStore
    private let ada: ManagedObjectID
    private let bea: ManagedObjectID

    /// Entries 2 to 7: two accounts, a branch with a savings account, an update of both accounts, an update by
    /// nobody, and a delete.
    init() throws {
        followed = try FollowedStore()
        ada = try followed.open("Ada", 10, by: "clerk").account
        bea = try followed.open("Bea", 20, by: "boss").account
        try followed.save(by: "clerk", note: "New branch") { context in
            let branch = Branch(context: context)
            branch.city = "Bonn"
            let savings = Savings(context: context)
            (savings.owner, savings.branch) = ("Cid", branch)
        }
        let (ada, bea) = (ada, bea)
        try followed.save(by: "boss", note: "Raise of limits") { context in
            try context.account(ada).limit = 5
            try context.account(bea).limit = 6
        }
        try followed.save { context in try context.account(ada).balance = 11 }
        try followed.save(by: "clerk") { context in try context.delete(context.account(bea)) }
    }

    /// The numbers of the entries that a filter takes, and of how many changes of each.
    private func taken(_ filter: EntryFilter) throws -> [UInt64: Int] {
        let entries = try followed.store.changes(where: filter)
        return Dictionary(
            entries.map { ($0.sequence.rawValue, $0.changes.count) },
            uniquingKeysWith: { _, _ in 0 })
    }

    @Test func `a new filter takes everything, and the entry of the model without changes`() throws
    {
        #expect(try taken(.all) == [1: 0, 2: 1, 3: 1, 4: 2, 5: 2, 6: 1, 7: 1])
    }

    @Test func `authors are wanted or left out`() throws {
        #expect(try taken(.all.by("boss")) == [3: 1, 5: 2])
        #expect(try taken(.all.by("boss", "clerk")) == [2: 1, 3: 1, 4: 2, 5: 2, 7: 1])
        #expect(try taken(.all.notBy("clerk")) == [1: 0, 3: 1, 5: 2, 6: 1])
        #expect(try taken(.all.by("nobody")) == [:])
    }

    @Test func `notes are searched`() throws {
        #expect(try taken(.all.noting("Raise")) == [5: 2])
        #expect(try taken(.all.noting("Raise", "branch")) == [4: 2, 5: 2])
        #expect(try taken(.all.noting("raise")) == [:])
    }

    @Test func `information is looked for by key and text`() throws {
        let context = followed.container.newBackgroundContext()
        try context.performAndWait { () throws in
            for request in ["r1", "r2"] {
                Deposit(context: context).owner = request
                try context.save(info: ["request": request, "device": "desk"])
            }
        }

        #expect(try taken(.all.having("request")) == [8: 1, 9: 1])
        #expect(try taken(.all.having("request", "r2", "r3")) == [9: 1])
        #expect(try taken(.all.having("request", "r1").having("device", "desk")) == [8: 1])
        #expect(try taken(.all.having("device", "phone")) == [:])
        #expect(try followed.store.changes(from: SequenceNumber(9))[0].info["request"] == "r2")
    }

    @Test func `entities include what inherits from them`() throws {
        #expect(try taken(.all.of(Deposit.self)) == [2: 1, 3: 1, 4: 1, 5: 2, 6: 1, 7: 1])
        #expect(try taken(.all.of(Savings.self)) == [4: 1])
        #expect(try taken(.all.of(Savings.self, Branch.self)) == [4: 2])
    }

    @Test func `objects are taken by themselves`() throws {
        #expect(try taken(.all.of(ada)) == [2: 1, 5: 1, 6: 1])
        #expect(try taken(.all.of(ada, bea)) == [2: 1, 3: 1, 5: 2, 6: 1, 7: 1])
        let foreign = try FollowedStore().open("Eve").account
        #expect(try taken(.all.of(foreign)) == [:])
    }

    @Test func `properties are named or given by key path`() throws {
        // An insert and a delete change what has a value.
        #expect(try taken(.all.changing(\Deposit.limit)) == [5: 2, 7: 1])
        #expect(try taken(.all.changing("limit", "city")) == [4: 1, 5: 2, 7: 1])
        #expect(try taken(.all.changing(\Deposit.branch)) == [4: 1])
        #expect(try taken(.all.of(bea).changing(\Deposit.limit)) == [5: 1, 7: 1])
    }

    @Test func `a property that a class inherits is wanted of that class only`() throws {
        #expect(try taken(.all.changing(\Savings.owner)) == [4: 1])
        #expect(try taken(.all.changing(\Savings.owner).changing("city")) == [4: 2])
        #expect(try taken(.all.changing(\Savings.limit)) == [:])
        #expect(try taken(.all.changing(\Deposit.owner)) == [2: 1, 3: 1, 4: 1, 7: 1])
    }

    @Test func `a relationship that is kept at its other end is refused, and the other end named`()
        throws
    {
        for filter in [EntryFilter.all.changing(\Branch.accounts), .all.changing("accounts")] {
            let error = #expect(throws: StoreError.self) { try taken(filter) }
            #expect(error?.code == .noSuchEntity)
            #expect(error?.message.contains("'Deposit.branch'") == true)
            #expect(throws: StoreError.self) {
                try followed.store.changes(since: .head, where: filter)
            }
        }
    }

    @Test func `kinds of change are chosen`() throws {
        var filter = EntryFilter.all.of(Deposit.self)
        filter.kinds = [.updated]
        #expect(try taken(filter) == [5: 2, 6: 1])
        filter.kinds = [.inserted, .deleted]
        #expect(try taken(filter) == [2: 1, 3: 1, 4: 1, 7: 1])
    }

    @Test func `times and contexts limit the entries`() throws {
        let moment = Date(timeIntervalSince1970: 86_400)
        let context = followed.container.newBackgroundContext()
        context.name = "desk"
        try context.performAndWait { () throws in
            Deposit(context: context).owner = "Old"
            try context.save(at: moment)
        }
        var filter = EntryFilter.all
        filter.until = moment
        #expect(try taken(filter) == [8: 1])
        filter.until = nil
        filter.since = moment.addingTimeInterval(1)
        #expect(try taken(filter).keys.sorted() == [1, 2, 3, 4, 5, 6, 7])
        filter.since = nil
        filter.contextNames = ["desk"]
        #expect(try taken(filter) == [8: 1])
    }

    @Test func `names that the model does not have are refused`() throws {
        for filter in [EntryFilter.all.changing("nothing"), EntryFilter.all.of(Department.self)] {
            let error = #expect(throws: StoreError.self) { try taken(filter) }
            #expect(error?.code == .noSuchEntity)
        }
    }

    @Test func `a key path through an object stops the program`() async throws {
        await #expect(processExitsWith: .failure) {
            let followed = try FollowedStore()
            _ = try followed.store.changes(where: .all.changing(\Deposit.branch?.city))
        }
    }
}
