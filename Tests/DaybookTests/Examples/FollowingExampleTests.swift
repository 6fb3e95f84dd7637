import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on following.
@Suite struct FollowingExampleTests {
    // example
    final class Employee: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var salary: Decimal = 0
        @Relationship var team: Team?
    }

    final class Team: ManagedObject {
        @Attribute var title: String = ""
        @Attribute var payroll: Decimal = 0
        @Relationship(inverse: \Employee.team) var members: Set<Employee>
    }
    // end of example

    private let temporary: TemporaryDirectory
    private let container: PersistentContainer
    private let store: PersistentStore
    private var url: URL { temporary.url.appendingPathComponent("staff.daybook") }

    init() throws {
        temporary = try TemporaryDirectory()
        container = try PersistentContainer(
            temporary.url.appendingPathComponent("staff.daybook"),
            model: [Employee.self, Team.self])
        store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    }

    /// Saves somebody with a salary, or another salary.
    private func pay(_ name: String, _ salary: Decimal) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let request = FetchRequest<Employee>(where: \Employee.name == name)
            let employee = try context.fetch(request).first ?? Employee(context: context)
            (employee.name, employee.salary) = (name, salary)
            try context.save(author: "boss")
        }
    }

    /// Runs a loop until it has told of so many things, and cancels it.
    private func told(
        _ count: Int,
        by loop: @escaping @Sendable (@escaping @Sendable (String) -> Void) async throws -> Void
    ) async throws -> [String] {
        let (heard, hear) = AsyncStream.makeStream(of: String.self)
        let task = Task { try await loop { hear.yield($0) } }
        var told: [String] = []
        for await text in heard {
            told.append(text)
            if told.count == count { break }
        }
        task.cancel()
        try await task.value
        return told
    }

    @Test func `raises are printed`() async throws {
        try pay("Ada", 10)
        try pay("Ada", 12)
        let morning = Date.distantPast

        let told = try await told(1) { [store] print in
            // example
            let raises = EntryFilter.all.of(Employee.self).changing(\Employee.salary)
            for try await entry in try store.changes(since: .date(morning), where: raises) {
                for change in entry.changes where change.kind == .updated {
                    let old = change.old(\Employee.salary) ?? 0
                    let new = change.new(\Employee.salary) ?? 0
                    print("\(entry.author ?? "nobody"): \(change.objectID) \(old) → \(new)")
                }
            }
            // end of example
        }

        #expect(told == ["boss: Employee/1 10 → 12"])
    }

    @Test func `a mailer goes on where it ended`() async throws {
        try pay("Ada", 10)
        try pay("Bea", 20)
        @Sendable func mail(_ count: Int) async throws -> [String] {
            try await told(count) { [store] print in
                func send(_ entry: FollowedEntry) throws { print("\(entry.sequence)") }
                // example
                let cursor = try store.cursor(named: "mailer")
                let wanted = EntryFilter.all.of(Employee.self)
                for try await entry in try store.changes(since: cursor, where: wanted) {
                    try send(entry)
                    try cursor.move(to: entry.sequence)
                }
                // end of example
            }
        }

        #expect(try await mail(2) == ["2", "3"])
        try pay("Cid", 30)
        // The cursor may not have moved past the last one that was sent.
        #expect(try await mail(1).last.map { ["3", "4"].contains($0) } == true)
    }

    @Test func `a payroll is kept with the cursor`() async throws {
        try pay("Ada", 10)
        try pay("Ada", 15)
        try pay("Bea", 20)
        let context = container.newBackgroundContext()
        @Sendable func total(in context: ManagedObjectContext) throws -> Team {
            try context.fetch(FetchRequest<Team>()).first ?? Team(context: context)
        }
        let loop = Task { [store] in
            // example
            let cursor = try store.cursor(named: "payroll")
            let others = EntryFilter.all.of(Employee.self).notBy("payroll")
            for try await entry in try store.changes(since: cursor, where: others) {
                try await context.perform {
                    for change in entry.changes {
                        let old = change.old(\Employee.salary) ?? 0
                        let new = change.new(\Employee.salary) ?? 0
                        try total(in: context).payroll += new - old
                    }
                    try context.save(moving: cursor, to: entry.sequence, author: "payroll")
                }
            }
            // end of example
        }
        var own = try store.changes(since: .sequence(.zero), where: .all.by("payroll"))
            .makeAsyncIterator()
        var sums: [Decimal?] = []
        for _ in 0..<3 {
            sums.append(try await own.next()?.changes.first?.new(\Team.payroll))
        }
        loop.cancel()
        try await loop.value

        #expect(sums == [10, 15, 35])
        #expect(try store.cursor(named: "payroll").position == SequenceNumber(4))
    }

    @Test func `a container is told what others save, and copied`() throws {
        let (url, folder) = (url, temporary.url)
        do {
            // example
            var options = PersistentStoreOptions()
            options.remoteChanges = .immediate
            let container = try PersistentContainer(
                url, model: [Employee.self, Team.self], options: options)
            container.viewContext.automaticallyMergesChangesFromParent = true
            // end of example
        }

        // example
        try container.backup(to: folder.appendingPathComponent("monday.daybook"))
        // end of example

        #expect(FileManager.default.fileExists(atPath: folder.path + "/monday.daybook"))
    }
}
