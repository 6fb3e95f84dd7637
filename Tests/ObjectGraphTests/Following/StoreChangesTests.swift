import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Entries that come one after the other.
@Suite struct StoreChangesTests {
    private let followed: FollowedStore
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
    }

    @Test func `an entry comes with its heading and its changes`() async throws {
        var entries = try store.changes(since: .head).makeAsyncIterator()
        let context = followed.container.newBackgroundContext()
        context.name = "desk"
        let date = Date(timeIntervalSince1970: 1_000_000)
        let (saved, id) = try await context.perform {
            let account = Deposit(context: context)
            (account.owner, account.balance) = ("Ada", 10)
            return (
                try context.save(author: "bob", note: "First", at: date), account.objectID
            )
        }

        let entry = try #require(try await entries.next())

        #expect(entry.sequence == saved)
        #expect(entry.author == "bob")
        #expect(entry.note == "First")
        #expect(entry.contextName == "desk")
        #expect(entry.time == date)
        #expect(entry.recordedAt > date)
        #expect(entry.undoes == nil)
        let change = try #require(entry.changes.first)
        #expect(entry.changes.count == 1)
        #expect(change.objectID == id)
        #expect(change.kind == .inserted)
        #expect(change.properties.map(\.name) == ["balance", "owner"])
        #expect(change.new(\Deposit.owner) == "Ada")
        #expect(change.old(\Deposit.owner) == nil)
        #expect(change.new(\Deposit.limit) == nil)
        #expect(change.property(\Deposit.limit) == nil)
    }

    @Test func `old and new values are read by key path and by name`() throws {
        let (id, _) = try followed.open("Ada", 10)
        var city: ManagedObjectID?
        let entry = try followed.save { context in
            let account = try context.account(id)
            account.balance = 25
            account.limit = 5
            let branch = Branch(context: context)
            branch.city = "Bonn"
            account.branch = branch
            city = branch.objectID
        }
        let deleted = try followed.save { context in
            try context.delete(context.account(id))
        }

        let told = try store.changes(from: entry)

        #expect(told.map(\.sequence) == [entry, deleted])
        let update = try #require(told[0].changes(of: Deposit.self).first)
        #expect(update.kind == .updated)
        #expect(update.old(\Deposit.balance) == 10)
        #expect(update.new(\Deposit.balance) == 25)
        #expect(update.old(\Deposit.limit) == nil)
        #expect(update.new(\Deposit.limit) == 5)
        #expect(update.property(named: "balance")?.new == .decimal(25))
        #expect(update.property(named: "owner") == nil)
        #expect(update.property(named: "nothing") == nil)
        #expect(update.new(\Deposit.branch) == city)
        #expect(update.old(\Deposit.branch) == nil)
        // A property of another class is none of this object's.
        #expect(update.new(\Branch.city) == nil)
        #expect(update.new(\Savings.rate) == nil)
        #expect(update.tombstone.isEmpty)
        let delete = try #require(told[1].changes(of: Deposit.self).first)
        #expect(delete.kind == .deleted)
        #expect(delete.old(\Deposit.branch) == city)
        #expect(delete.tombstone["owner"] == .string("Ada"))
        #expect(delete.tombstone["limit"] == .decimal(5))
        #expect(delete.new(\Deposit.owner) == nil)
    }

    @Test func `subclasses are read by the key paths of their base`() throws {
        let entry = try followed.save { context in
            let savings = Savings(context: context)
            (savings.owner, savings.rate) = ("Cid", 0.5)
        }

        let change = try #require(store.changes(from: entry).first?.changes.first)

        #expect(change.new(\Deposit.owner) == "Cid")
        #expect(change.new(\Savings.owner) == "Cid")
        #expect(change.new(\Savings.rate) == 0.5)
        #expect(try store.changes(from: entry)[0].changes(of: Deposit.self).count == 1)
        #expect(try store.changes(from: entry)[0].changes(of: Branch.self).isEmpty)
    }

    @Test func `members of a relationship join and leave, and a rule names its cause`() throws {
        var ids: [ManagedObjectID] = []
        try followed.save { context in
            let branch = Branch(context: context)
            branch.city = "Bonn"
            ids = [branch.objectID]
            for amount in 1...2 {
                let reserve = Reserve(context: context)
                reserve.amount = amount
                branch.reserves.append(reserve)
                ids.append(reserve.objectID)
            }
            let account = Deposit(context: context)
            account.branch = branch
            ids.append(account.objectID)
        }
        let end = try followed.save { context in
            try context.delete(context.existingObject(with: ids[0]))
        }

        let told = try store.changes(from: SequenceNumber(2))

        let insert = try #require(told.first?.changes(of: Branch.self).first)
        #expect(insert.property(\Branch.reserves)?.added == [ids[1], ids[2]])
        #expect(insert.property(\Branch.reserves)?.removed == [])
        let last = try #require(told.last)
        #expect(last.sequence == end)
        let cascade = try #require(last.changes.first { $0.objectID == ids[3] })
        #expect(cascade.kind == .deleted)
        #expect(cascade.cause == ids[0])
        #expect(last.changes.first { $0.objectID == ids[0] }?.cause == nil)
    }

    @Test func `following begins after a number, a date, a tag, or now`() async throws {
        let first = try followed.open("Ada").entry
        try followed.container.setTag("start", at: .sequence(first))
        let second = try followed.open("Bea").entry
        func next(since moment: Moment) async throws -> SequenceNumber? {
            var entries = try store.changes(since: moment).makeAsyncIterator()
            return try await entries.next()?.sequence
        }

        #expect(try await next(since: .sequence(.zero)) == SequenceNumber(1))
        #expect(try await next(since: .sequence(first)) == second)
        #expect(try await next(since: .tag("start")) == second)
        #expect(try await next(since: .date(.distantPast)) == SequenceNumber(1))
        var entries = try store.changes(since: .date(.distantFuture)).makeAsyncIterator()
        let third = try followed.open("Cid").entry
        #expect(try await entries.next()?.sequence == third)
    }

    @Test func `a moment that there is not is refused`() throws {
        let missing = #expect(throws: StoreError.self) {
            try store.changes(since: .sequence(SequenceNumber(99)))
        }
        #expect(missing?.code == .noSuchEntry)
        let untagged = #expect(throws: StoreError.self) { try store.changes(since: .tag("no")) }
        #expect(untagged?.code == .noSuchTag)
    }

    @Test func `every entry comes once, whoever saves it, even while the loop is slow`()
        async throws
    {
        let other = try followed.another()
        var entries = try store.changes(since: .head).makeAsyncIterator()
        var saved: [SequenceNumber] = []
        var told: [SequenceNumber] = []
        for round in 0..<20 {
            for number in 0..<(round % 4) + 1 {
                let container = number % 2 == 0 ? other : followed.container
                saved.append(try followed.open("\(round)", in: container).entry)
            }
            // The loop takes one of them, and is behind more and more.
            told.append(try #require(try await entries.next()).sequence)
        }
        while told.count < saved.count {
            told.append(try #require(try await entries.next()).sequence)
        }

        #expect(told == saved)
    }

    @Test func `a loop that saves to the store gets its own entries, unless it leaves them out`()
        async throws
    {
        try followed.open("Ada", by: "ada")
        let head = try store.head()
        var all = try store.changes(since: .sequence(head.previous)).makeAsyncIterator()
        var others = try store.changes(
            since: .sequence(head.previous), where: .all.notBy("echo")
        ).makeAsyncIterator()

        #expect(try await all.next()?.author == "ada")
        #expect(try await others.next()?.author == "ada")
        let echo = try followed.open("Echo", by: "echo").entry
        let last = try followed.open("Bea", by: "bea").entry

        #expect(try await all.next()?.sequence == echo)
        #expect(try await others.next()?.sequence == last)
    }

    @Test func `a loop ends when its task is cancelled, waiting or not`() async throws {
        try followed.open("Ada")
        let changes = try store.changes(since: .sequence(.zero))
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        let loop = _Concurrency.Task {
            var count = 0
            for try await _ in changes {
                count += 1
                if count == 2 { signal.yield() }
            }
            return count
        }
        for await _ in reached { break }

        loop.cancel()

        #expect(try await loop.value == 2)
        let late = _Concurrency.Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for try await _ in changes { return false }
            return true
        }
        #expect(try await late.value)
    }

    @Test func `a loop throws when the store is closed under it`() async throws {
        let other = try followed.another()
        let store = try #require(other.persistentStoreCoordinator.persistentStores.first)
        let changes = try store.changes(since: .sequence(.zero))
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        let loop = _Concurrency.Task { () -> StoreError.Code? in
            do {
                for try await _ in changes { signal.yield() }
            } catch let error as StoreError {
                return error.code
            }
            return nil
        }
        for await _ in reached { break }

        try other.persistentStoreCoordinator.remove(store)

        #expect(try await loop.value == .closed)
    }

    @Test func `a loop throws when its file is replaced`() async throws {
        let changes = try store.changes(since: .sequence(.zero))
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        let loop = _Concurrency.Task { () -> StoreError.Code? in
            do {
                for try await _ in changes { signal.yield() }
            } catch let error as StoreError {
                return error.code
            }
            return nil
        }
        for await _ in reached { break }
        let copy = followed.folder.url.appendingPathComponent("copy.daybook")
        try followed.container.backup(to: copy)

        #expect(rename(copy.path, followed.url.path) == 0)

        #expect(try await loop.value == .replaced)
    }

    @Test func `the iteration is over after an error`() async throws {
        let other = try followed.another()
        let store = try #require(other.persistentStoreCoordinator.persistentStores.first)
        var entries = try store.changes(since: .head).makeAsyncIterator()
        try other.persistentStoreCoordinator.remove(store)

        await #expect(throws: StoreError.self) { _ = try await entries.next() }
        #expect(try await entries.next() == nil)
    }

    @Test func `a store in memory is followed`() async throws {
        let container = try TestContainer.make(inMemory: FollowedStore.model)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        var entries = try store.changes(since: .head).makeAsyncIterator()
        let context = container.newBackgroundContext()
        let saved = try await context.perform {
            Deposit(context: context).owner = "Ada"
            return try context.save()
        }

        #expect(try await entries.next()?.sequence == saved)
    }

    @Test func `a program with an older model follows one with a newer`() async throws {
        var entries = try store.changes(since: .head).makeAsyncIterator()
        var deposits = try store.changes(since: .head, where: .all.of(Deposit.self))
            .makeAsyncIterator()
        let newer = try TestContainer.make(
            followed.url, model: FollowedStore.model + [Receipt.self])
        let context = newer.newBackgroundContext()
        try await context.perform {
            Receipt(context: context).text = "r"
            try context.save()
        }
        let last = try followed.save(in: newer) { context in
            let deposit = Deposit(context: context)
            deposit.owner = "Ada"
            Receipt(context: context).text = "s"
        }

        // The entry of the model, one of what this program does not know, and one of both.
        var told: [[ObjectChangeKind]] = []
        for _ in 0..<3 {
            told.append(try #require(try await entries.next()).changes.map(\.kind))
        }
        #expect(told == [[], [], [.inserted]])
        let entry = try #require(try await deposits.next())
        #expect(entry.sequence == last)
        #expect(entry.changes.first?.new(\Deposit.owner) == "Ada")
    }

    @Test func `a range is read with a limit, and an empty one is empty`() throws {
        for name in ["Ada", "Bea", "Cid", "Dan"] { try followed.open(name) }
        func owners(
            from first: UInt64, through last: UInt64? = nil, limit: Int? = nil
        ) throws -> [String?] {
            try store.changes(
                from: SequenceNumber(first), through: last.map { SequenceNumber($0) },
                where: .all.of(Deposit.self), limit: limit
            ).map { $0.changes.first?.new(\Deposit.owner) }
        }

        #expect(try owners(from: 0) == ["Ada", "Bea", "Cid", "Dan"])
        #expect(try owners(from: 3, through: 4) == ["Bea", "Cid"])
        #expect(try owners(from: 3, through: 99) == ["Bea", "Cid", "Dan"])
        #expect(try owners(from: 1, limit: 2) == ["Ada", "Bea"])
        #expect(try owners(from: 1, limit: 0) == [])
        #expect(try owners(from: 4, through: 3) == [])
        #expect(try owners(from: 99) == [])
    }

    @Test func `a damaged entry does not take its sound neighbours with it`() async throws {
        let followed = try FollowedStore()
        for name in ["Ada", "Zanzibar", "Cid", "Dan"] { try followed.open(name) }
        try followed.store.store.close()
        var bytes = try Data(contentsOf: followed.url)
        while let range = bytes.range(of: Data("Zanzibar".utf8)) {
            bytes.replaceSubrange(range, with: Data("Zanzibat".utf8))
        }
        try bytes.write(to: followed.url)
        let container = try followed.another()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        func numbers(_ entries: [FollowedEntry]) -> [UInt64] { entries.map(\.sequence.rawValue) }

        #expect(try numbers(store.changes(through: SequenceNumber(2))) == [1, 2])
        #expect(try numbers(store.changes(limit: 2)) == [1, 2])
        #expect(try numbers(store.changes(from: SequenceNumber(4))) == [4, 5])
        let cursor = try store.cursor(named: "c")
        try cursor.move(to: SequenceNumber(3))
        #expect(try store.cursor(named: "c").position == SequenceNumber(3))
        let refusal = #expect(throws: StoreError.self) { try store.changes() }
        #expect(refusal?.code == .corrupt)
        var walked: [UInt64] = []
        let end = #expect(throws: StoreError.self) {
            try store.store.entries { entry in
                walked.append(entry.sequence.rawValue)
                return .proceed
            }
        }
        #expect(end?.code == .corrupt)
        #expect(walked == [1, 2])

        var entries = try store.changes(since: .sequence(.zero)).makeAsyncIterator()
        #expect(try await entries.next()?.sequence == SequenceNumber(1))
        #expect(try await entries.next()?.sequence == SequenceNumber(2))
        do {
            _ = try await entries.next()
            Issue.record("The damaged entry came.")
        } catch {
            #expect(error.code == .corrupt)
        }
    }

    @Test func `an entry that is kept does not keep its store open, and is still read`() throws {
        let followed = try FollowedStore()
        let id = try followed.open("Ada", 100).account
        var container: PersistentContainer? = try followed.another()
        weak let store = container?.persistentStoreCoordinator.persistentStores.first?.store
        let entry = try #require(
            container?.persistentStoreCoordinator.persistentStores.first?.changes().last)
        container = nil

        #expect(store == nil)
        let change = try #require(entry.changes.first)
        #expect(change.objectID == id)
        #expect(change.new(\Deposit.owner) == "Ada")
        #expect(change.property(named: "owner")?.new == .string("Ada"))
        #expect(change.properties.map(\.name) == ["balance", "owner"])
    }
}
