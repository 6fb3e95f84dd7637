import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// What many contexts, and readers that do not end, do to a store.
@Suite struct ManyContextsTests {
    private let office: OfficeStore

    init() throws {
        office = try OfficeStore()
    }

    private func insertPerson(named name: String, in context: ManagedObjectContext) throws {
        try context.performAndWait {
            Person(context: context).first = name
            try context.save()
        }
    }

    @Test func `a thousand contexts follow what each of ten saves, and let it go`() throws {
        let contexts = (0..<1_000).map { _ in
            let context = office.container.newBackgroundContext()
            context.performAndWait {
                // Undo would keep what was inserted.
                context.undoManager = nil
                context.automaticallyMergesChangesFromParent = true
            }
            return context
        }
        for (number, context) in contexts.prefix(10).enumerated() {
            try insertPerson(named: "\(number)", in: context)
        }
        let all = Set((0..<10).map { "\($0)" })
        for context in contexts {
            try context.performAndWait {
                let people = try context.fetch(FetchRequest<Person>())
                #expect(Set(people.map(\.first)) == all)
            }
            context.performAndWait {
                #expect(context.registeredObjects.isEmpty)
            }
        }
    }

    @Test func `readers that do not end hold back no save, and the file does not grow for them`()
        async throws
    {
        let writer = office.container.newBackgroundContext()
        let names = (0..<2_000).map { "\($0)" }
        let url = office.folder.url.appendingPathComponent("office.daybook")
        _ = try await writer.perform {
            for name in names { Person(context: writer).first = name }
            return try writer.save()
        }
        let alone = try growth(of: url, bySavingIn: writer)
        // More of them than there are places for readers in the lock file.
        var readers: [ValueStream<String>.AsyncIterator] = []
        for _ in 0..<600 {
            let context = office.container.newBackgroundContext()
            var reader = context.stream(FetchRequest<Person>()) { $0.first }.makeAsyncIterator()
            let first = try await reader.next()
            #expect(first == names[0])
            readers.append(reader)
        }
        let read = try growth(of: url, bySavingIn: writer)

        #expect(read <= 2 * alone, "\(read) bytes with readers, \(alone) without")
        // Each goes on with what was there when it began.
        var rest: [String] = []
        while let name = try await readers[599].next() { rest.append(name) }
        #expect(rest == Array(names.dropFirst()))
    }

    /// By how many bytes a file grows when a hundred saves rename every twentieth of its people.
    private func growth(of url: URL, bySavingIn context: ManagedObjectContext) throws -> Int {
        let before = try size(of: url)
        try context.performAndWait {
            let people = try context.fetch(FetchRequest<Person>())
            for round in 0..<100 {
                for person in people where person.objectID.object.number.isMultiple(of: 20) {
                    person.last = "\(round)"
                }
                try context.save()
            }
        }
        return try size(of: url) - before
    }

    private func size(of url: URL) throws -> Int {
        try #require(
            try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int)
    }
}
