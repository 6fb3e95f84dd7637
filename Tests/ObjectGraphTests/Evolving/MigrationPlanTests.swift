import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@Suite struct MigrationPlanTests {
    @Test func `a store goes from the first version to the fourth, by an entry for each stage`()
        throws
    {
        let file = try LibraryFile()
        try file.fill()

        try file.program(LibraryPlan.self) { context throws in
            let persons = try context.fetch(FetchRequest<LibraryV4.Person>())
            let names = persons.map { "\($0.firstName ?? "-") \($0.familyName)" }.sorted()
            #expect(names == ["- Homer", "Ada Lovelace", "Jane Austen"])
            let books = try context.fetch(FetchRequest<LibraryV4.Book>())
            let places = books.map { "\($0.isbn) \($0.place?.label ?? "-") \($0.pages)" }.sorted()
            #expect(places == ["0 A 1", "1 B 1", "3 A 1"])
            let shelves = try context.fetch(FetchRequest<LibraryV4.Shelf>())
            #expect(shelves.map(\.books.count).sorted() == [1, 2])
            let jane = try #require(persons.first { $0.familyName == "Austen" })
            #expect(jane.books.isEmpty)
        }

        try file.store { store in
            #expect(try store.head().rawValue == 5)
            let headers = try (3...5).map { try store.entry(SequenceNumber($0)).header }
            #expect(headers.allSatisfy { $0.kind == .model })
            #expect(headers.map(\.author) == ["splitter", nil, nil])
            #expect(
                headers.map(\.note) == [
                    "Split the name", "LibraryV2 to LibraryV3", "LibraryV3 to LibraryV4",
                ])
            let versions = try store.modelHistory().versions.map(\.schema)
            let steps = zip(versions, versions.dropFirst()).map { before, after in
                after.steps(from: before).filter { $0.kind == .customStage }.map(\.description)
            }
            #expect(
                steps == [
                    ["run the custom stage 'LibraryV1 to LibraryV2'"], [],
                    ["run the custom stage 'LibraryV3 to LibraryV4'"],
                ])
        }
        #expect(try Store.verify(path: file.path).isSound)
    }

    @Test func `a store that has come to the end of a plan is opened without an entry`() throws {
        let file = try LibraryFile()
        try file.fill()
        try file.program(LibraryPlan.self) { _ in }
        let head = try file.head()

        try file.program(LibraryPlan.self) { context throws in
            #expect(try context.count(FetchRequest<LibraryV4.Shelf>()) == 2)
        }

        #expect(try file.head() == head)
    }

    @Test func `a store that a plan makes begins with the last version`() throws {
        let file = try LibraryFile()

        try file.program(LibraryPlan.self) { context throws in
            LibraryV4.Shelf(context: context).label = "A"
            try context.save()
        }

        #expect(try file.head() == 2)
    }

    @Test func `the state before each stage is read as it was then`() throws {
        let file = try LibraryFile()
        try file.fill()
        try file.program(LibraryPlan.self) { _ in }

        try file.store { store in
            let history = try store.modelHistory()
            for (sequence, key) in [(2, "name"), (3, "lastName"), (4, "familyName")] {
                let schema = history.schema(at: SequenceNumber(UInt64(sequence)))
                let person = try #require(schema.entity(named: "Person"))
                #expect(person.property(named: key) != nil)
            }
        }
        let container = try TestContainer.make(file.url, migrationPlan: LibraryPlan.self)
        let past = try container.context(at: .sequence(SequenceNumber(2)))
        try past.performAndWait { () throws in
            #expect(try past.count(FetchRequest<LibraryV4.Book>()) == 4)
            #expect(try past.count(FetchRequest<LibraryV4.Shelf>()) == 0)
        }
        try LibraryFile.close(container)
    }

    @Test
    func `a program of a version before a custom stage can no longer save, and is told which`()
        throws
    {
        let file = try LibraryFile()
        try file.fill()
        let older = try TestContainer.make(file.url, model: LibraryV1.models)
        let context = older.newBackgroundContext()
        try file.program(ShortPlan.self) { _ in }

        try context.performAndWait { () throws in
            let books = try context.fetch(FetchRequest<LibraryV1.Book>())
            #expect(books.count == 4)
            books.first?.author = "somebody"
            let error = try #require(throws: StoreError.self) { try context.save() }
            #expect(error.code == .modelSuperseded)
            #expect(error.message.contains("entry 3 by 'splitter'"))
        }
        try LibraryFile.close(older)
    }

    /// Only what a closure has done tells the versions apart.
    @Test func `after a custom stage between compatible models older programs cannot save either`()
        throws
    {
        enum Before: VersionedSchema {
            static let models: [ManagedObject.Type] = [Note.self]
            final class Note: ManagedObject { @Attribute var text: String = "" }
        }
        enum After: VersionedSchema {
            static let models: [ManagedObject.Type] = [Note.self]
            final class Note: ManagedObject {
                @Attribute var text: String = ""
                @Attribute var length: Int?
            }
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [Before.self, After.self]
            static let stages: [MigrationStage] = [
                .custom(fromVersion: Before.self, toVersion: After.self, author: "Ada") { _, new in
                    for note in try new.fetch(FetchRequest<After.Note>()) {
                        note.length = note.text.count
                    }
                }
            ]
        }
        let file = try LibraryFile()
        try file.program(Before.self) { context throws in
            Before.Note(context: context).text = "four"
            try context.save()
        }
        let older = try TestContainer.make(file.url, model: Before.models)
        let context = older.newBackgroundContext()
        try file.program(Plan.self) { context throws in
            #expect(try context.fetch(FetchRequest<After.Note>()).map(\.length) == [4])
        }

        try context.performAndWait { () throws in
            _ = Before.Note(context: context)
            let error = try #require(throws: StoreError.self) { try context.save() }
            #expect(error.code == .modelSuperseded)
            #expect(error.message.contains("run the custom stage 'Before to After'"))
            #expect(error.message.contains("entry 3 by 'Ada'"))
        }
        try LibraryFile.close(older)
    }

    // MARK: - Options

    @Test func `a description's plan is taken when its store is loaded`() throws {
        let file = try LibraryFile()
        try file.fill()
        var description = PersistentStoreDescription(url: file.url)
        description.migrationPlan = LibraryPlan.self
        let container = try TestContainer.make(
            model: LibraryV4.models, descriptions: [description])

        container.loadPersistentStores { _, error in #expect(error == nil) }

        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            #expect(try context.count(FetchRequest<LibraryV4.Shelf>()) == 2)
        }
        try LibraryFile.close(container)
    }

    @Test func `a store that is only read is not taken through a plan`() throws {
        let file = try LibraryFile()
        try file.fill()
        var options = PersistentStoreOptions()
        options.isReadOnly = true

        let error = try #require(throws: StoreError.self) {
            try TestContainer.make(
                file.url, migrationPlan: LibraryPlan.self, options: options)
        }

        #expect(error.code == .modelMismatch)
        #expect(try file.head() == 2)
    }

    @Test func `options differ by their plans`() {
        var one = PersistentStoreOptions()
        var other = one
        one.migrationPlan = LibraryPlan.self
        #expect(one != other)
        other.migrationPlan = ShortPlan.self
        #expect(one != other)
        other.migrationPlan = LibraryPlan.self
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
    }

    @Test func `a program of a plan's version before the store's goes on as an older one`() throws {
        let file = try LibraryFile()
        try file.fill()
        try file.program(LibraryPlan.self) { _ in }
        let head = try file.head()

        try file.program(ShortPlan.self) { context throws in
            let persons = try context.fetch(FetchRequest<LibraryV2.Person>())
            #expect(persons.map(\.lastName).sorted() == ["Austen", "Homer", "Lovelace"])
        }

        #expect(try file.head() == head)
    }
}
