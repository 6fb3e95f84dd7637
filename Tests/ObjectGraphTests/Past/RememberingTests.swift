import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Questions about the past in contexts: what counts as a state, what is refused, and what pending changes do.
@Suite struct RememberingTests {
    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init() throws {
        folder = try TemporaryDirectory()
        container = try Self.container(folder, "s.daybook")
        context = container.newBackgroundContext()
    }

    private static func container(
        _ folder: TemporaryDirectory, _ name: String
    ) throws -> PersistentContainer {
        try TestContainer.make(
            folder.url.appendingPathComponent(name), model: [Team.self, Worker.self, Chore.self])
    }

    private static func date(_ text: String) throws -> Date {
        try #require(DateText.date(text))
    }

    /// Saves a worker with one salary after the other, at the first of each month of 2024, by 'ada' and 'bob' in
    /// turn.
    @discardableResult
    private func paid(_ salaries: Int?...) throws -> Worker {
        let worker = Worker(context: context)
        for (index, salary) in salaries.enumerated() {
            worker.salary = salary
            try context.save(
                author: index.isMultiple(of: 2) ? "ada" : "bob", note: "Month \(index + 1)",
                at: Self.date("2024-0\(index + 1)-01"))
        }
        return worker
    }

    private func count(_ condition: Condition<Worker>) throws -> Int {
        try context.fetch(FetchRequest(where: condition)).count
    }

    @Test func `key paths and text ask the same`() throws {
        try context.performAndWait { () throws in
            let worker = try paid(3000, 6000, 4000)
            let (february, march) = (try Self.date("2024-02-01"), try Self.date("2024-03-01"))
            let pairs: [(Condition<Worker>, String, Int)] = [
                (.ever(\.salary > 5000), "EVER salary > 5000", 1),
                (.always(\.salary > 5000), "ALWAYS salary > 5000", 0),
                (.always(\.salary > 2000), "ALWAYS salary > 2000", 1),
                (
                    .was(\.salary == 6000, at: .date(february)),
                    "WAS salary == 6000 AT '2024-02-01'", 1
                ),
                (.was(\.salary == 6000, at: .head), "WAS salary == 6000 AT 'head'", 0),
                (
                    .was(\.salary == 6000, at: .sequence(SequenceNumber(3))),
                    "WAS salary == 6000 AT 3", 1
                ),
                ((\Worker.salary).changed(), "salary CHANGED", 1),
                ((\Worker.salary).changed(by: "eve"), "salary CHANGED BY 'eve'", 0),
                ((\Worker.salary).increased(by: "bob"), "salary INCREASED BY 'bob'", 1),
                ((\Worker.salary).decreased(by: "bob"), "salary DECREASED BY 'bob'", 0),
                (
                    (\Worker.salary).decreased(since: .date(march)),
                    "salary DECREASED SINCE '2024-03-01'",
                    1
                ),
                (
                    (\Worker.salary).decreased(until: .date(march)),
                    "salary DECREASED UNTIL '2024-03-01'",
                    0
                ),
                (
                    (\Worker.salary).increased(
                        since: .date(february), until: .sequence(SequenceNumber(3))),
                    "salary INCREASED SINCE '2024-02-01' UNTIL 3", 1
                ),
            ]
            for (condition, text, expected) in pairs {
                #expect(try count(condition) == expected, "\(text)")
                #expect(try count(Condition(text)) == expected, "\(text)")
                #expect(
                    try context.explain(FetchRequest(where: condition))
                        == context.explain(FetchRequest<Worker>(where: Condition(text))), "\(text)")
            }

            let falls = try context.changes(
                for: FetchRequest<Worker>(where: (\Worker.salary).decreased(since: .date(february)))
            )

            let fall = try #require(falls.first)
            #expect(falls.count == 1)
            #expect(fall.objectID == worker.objectID)
            #expect(fall.old == .int(6000))
            #expect(fall.new == .int(4000))
            #expect(fall.author == "ada")
            #expect(fall.note == "Month 3")
            #expect(fall.time == march)
            #expect(
                fall.description
                    == "\(worker.objectID) salary: 6000 → 4000, entry 4 by 'ada' at 2024-03-01T00:00:00Z: "
                    + "\"Month 3\"")
        }
    }

    @Test func `nil is a state, and changes to and from it are no rise and no fall`() throws {
        try context.performAndWait { () throws in
            try paid(nil, 5, nil)

            #expect(try count(.ever(\.salary == nil)) == 1)
            #expect(try count(.ever(\.salary == 5)) == 1)
            #expect(try count((\Worker.salary).increased()) == 0)
            #expect(try count((\Worker.salary).decreased()) == 0)
            #expect(
                try context.changes(for: FetchRequest<Worker>(where: (\Worker.salary).changed()))
                    .map(\.new) == [.int(5), .null])
        }
    }

    @Test func `what is pending is no past`() throws {
        try context.performAndWait { () throws in
            let worker = try paid(3)
            worker.salary = 9
            let fresh = Worker(context: context)
            fresh.salary = 9

            #expect(try count(.ever(\.salary == 9)) == 0)
            #expect(try count((\Worker.salary).changed()) == 0)
            #expect(try count(.was(\.salary == 9, at: .head)) == 0)
            // An object without a state has been anything always.
            let always = try context.fetch(FetchRequest<Worker>(where: .always(\.salary == 7)))
            #expect(always == [fresh])
            #expect(try count(.ever(\.salary == 3) && \Worker.salary == 9) == 1)

            try context.save()

            #expect(try count(.ever(\.salary == 9)) == 2)
            #expect(try count((\Worker.salary).increased()) == 1)
        }
    }

    @Test func `a child asks for what was saved below its parent`() throws {
        try context.performAndWait { () throws in
            let worker = try paid(3, 4)
            worker.salary = 5
        }
        let child = ManagedObjectContext(parent: context)

        try child.performAndWait { () throws in
            let ever = FetchRequest<Worker>(where: .ever(\.salary == 4) && \Worker.salary == 5)
            #expect(try child.fetch(ever).count == 1)
            #expect(try child.count(FetchRequest<Worker>(where: .ever(\.salary == 5))) == 0)
            let changes = try child.changes(
                for: FetchRequest<Worker>(where: (\Worker.salary).changed()))
            #expect(changes.map(\.new) == [.int(4)])
        }
    }

    @Test func `deleted objects are not found, and coming back changes nothing`() throws {
        try context.performAndWait { () throws in
            let worker = try paid(3, 4)
            context.delete(worker)
            let deletion = try #require(try context.save())

            #expect(try count(.ever(\.salary == 3)) == 0)
            let past = try container.context(at: .sequence(deletion.previous))
            try past.performAndWait { () throws in
                #expect(try past.count(FetchRequest<Worker>(where: .ever(\.salary == 3))) == 1)
            }

            try container.undo(deletion)

            #expect(try count(.ever(\.salary == 3)) == 1)
            #expect(try count(.always(\.salary != nil)) == 1)
            #expect(
                try context.changes(for: FetchRequest<Worker>(where: (\Worker.salary).changed()))
                    .map(\.new) == [.int(4)])
            #expect(try count(.was(\.salary != nil, at: .sequence(deletion))) == 0)
            #expect(try count(.was(\.salary == nil, at: .sequence(deletion))) == 0)
        }
    }

    @Test func `an undone entry was there all the same`() throws {
        try context.performAndWait { () throws in
            try paid(3, 4)
            try container.undo(SequenceNumber(3), author: "eve")

            #expect(try count(.ever(\.salary == 4) && \Worker.salary == 3) == 1)
            #expect(try count((\Worker.salary).decreased(by: "eve")) == 1)
        }
    }

    @Test func `relationships change, and what they lead to was what it was then`() throws {
        try context.performAndWait { () throws in
            let (red, blue) = (Team(context: context), Team(context: context))
            (red.name, blue.name) = ("red", "blue")
            let worker = try paid(1)
            worker.team = red
            try context.save(author: "ada")
            red.name = "crimson"
            try context.save(author: "ada")
            worker.team = blue
            try context.save(author: "bob")
            func teams(_ condition: Condition<Team>) throws -> [String] {
                try context.fetch(FetchRequest(where: condition)).map(\.name).sorted()
            }

            #expect(try count((\Worker.team).changed(by: "bob")) == 1)
            #expect(try count(.ever(\.team == red)) == 1)
            #expect(try count(.ever(\.team?.name == "crimson")) == 1)
            #expect(try count(.always(\.team?.name != "crimson")) == 0)
            #expect(try count((\Worker.team?.name).changed()) == 0)
            #expect(try teams((\Team.workers).changed()) == ["blue", "crimson"])
            #expect(try teams((\Team.workers).changed(by: "bob")) == ["blue", "crimson"])
            #expect(try teams(Condition("EVER workers.@count == 1")) == ["blue", "crimson"])
            #expect(try teams(Condition("ALWAYS workers.@count == 0")) == [])
            let moves = try context.changes(
                for: FetchRequest<Team>(where: (\Team.workers).changed(by: "bob")))
            #expect(moves.map(\.change.added) == [[], [worker.objectID]])
            #expect(moves.map(\.change.removed) == [[worker.objectID], []])
            // What is derived stands in entries, too.
            #expect(try teams((\Team.headcount).increased(by: "bob")) == ["blue"])
        }
    }

    @Test func `what the past is not asked for is refused`() throws {
        try context.performAndWait { () throws in
            let worker = try paid(1)
            func error(_ condition: Condition<Worker>) -> String? {
                let error = #expect(throws: QueryError.self) { try count(condition) }
                return error?.message
            }

            #expect(
                error(.ever(.always(\.salary == 1)))
                    == "One question about the past cannot stand within another. Join them with AND or OR."
            )
            #expect(
                error(.ever(Condition("salary CHANGED")))
                    == "One question about the past cannot stand within another. Join them with AND or OR."
            )
            #expect(
                error((\Worker.team).increased())
                    == "INCREASED compares numbers and dates, and 'team' is neither. CHANGED asks whether "
                    + "it became another.")
            #expect(
                error(.ever(Condition(#Predicate<Worker> { $0.isRight })))?
                    .hasPrefix(
                        "A predicate about the past has to be one that the store can evaluate")
                    == true)
            #expect(throws: QueryError.self) {
                try context.changes(for: FetchRequest<Worker>(where: !(\Worker.salary).changed()))
            }
            let beyond = #expect(throws: StoreError.self) {
                try count((\Worker.salary).changed(since: .sequence(SequenceNumber(99))))
            }
            #expect(beyond?.code == .noSuchEntry)
            let unknown = #expect(throws: StoreError.self) {
                try count(.was(\.salary == 1, at: .tag("audit")))
            }
            #expect(unknown?.code == .noSuchTag)
            try container.setTag("audit")
            #expect(try count(.was(\.salary == 1, at: .tag("audit"))) == 1)
            worker.salary = 2
            try context.save()
            #expect(try count((\Worker.salary).changed(since: .tag("audit"))) == 1)
            #expect(try count((\Worker.salary).changed(until: .tag("audit"))) == 0)
        }
    }

    @Test func `a list cannot follow the past`() throws {
        try context.performAndWait { () throws in
            let error = #expect(throws: QueryError.self) {
                try ResultsObserver(
                    FetchRequest<Worker>(where: .ever(\.salary == 1)), in: context)
            }
            #expect(
                error?.message
                    == "A list of 'Worker' cannot be kept right by its past, which grows with each entry. "
                    + "Fetch when it is asked for.")
        }
    }

    @Test func `in several stores an entry is no common moment, and a date is`() throws {
        let second = folder.url.appendingPathComponent("t.daybook")
        let added = try container.persistentStoreCoordinator.addPersistentStore(at: second)
        try context.performAndWait { () throws in
            let first = try paid(1, 2)
            let other = Worker(context: context)
            let stores = container.persistentStoreCoordinator.persistentStores
            try context.assign(other, to: added)
            other.salary = 1
            try context.save(at: Self.date("2024-01-01"))
            other.salary = 3
            try context.save(at: Self.date("2024-03-01"))

            let error = #expect(throws: QueryError.self) {
                try count(.was(\.salary == 1, at: .head))
            }
            #expect(
                error?.message
                    == "An entry, a tag or the head is another moment in each of 2 stores. Give a date, or "
                    + "set 'affectedStores' to one store.")
            let rise = FetchRequest<Worker>(
                where: (\Worker.salary).increased(since: .date(try Self.date("2024-02-15"))))
            #expect(try context.fetch(rise) == [other])
            #expect(try context.changes(for: rise).map(\.new) == [.int(3)])
            var one = FetchRequest<Worker>(where: .was(\.salary == 2, at: .head))
            one.affectedStores = [stores[0]]
            #expect(try context.fetch(one) == [first])
        }
    }

    @Test func `entries since a moment choose the objects where they are few`() throws {
        try context.performAndWait { () throws in
            var workers: [Worker] = []
            for number in 0..<100 {
                let worker = Worker(context: context)
                worker.salary = number
                workers.append(worker)
            }
            try context.save()
            for round in 1...3 {
                for worker in workers { worker.salary = (worker.salary ?? 0) + round }
                try context.save()
            }
            workers[7].salary = 0
            let last = try #require(try context.save(author: "ada"))

            let always = FetchRequest<Worker>(
                where: (\Worker.salary).decreased(since: .sequence(.zero)))
            #expect(try context.fetch(always) == [workers[7]])

            let request = FetchRequest<Worker>(
                where: (\Worker.salary).decreased(since: .sequence(last)))

            #expect(try context.fetch(request) == [workers[7]])
            #expect(
                try context.explain(request)
                    == "the objects in the entries since then for salary DECREASED SINCE \(last), or all "
                    + "objects where these are many; about 1 of \(workers.count) objects; the past of each "
                    + "object is read from its versions"
            )
        }
    }
}
