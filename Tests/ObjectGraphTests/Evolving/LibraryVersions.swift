import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// A library in which a person has a name, and a book the name of its author and its shelf.
enum LibraryV1: VersionedSchema {
    static let models: [ManagedObject.Type] = [Person.self, Book.self]

    final class Person: ManagedObject {
        @Attribute(.required) var name: String
        @Relationship(inverse: \Book.reader) var books: Set<Book>
    }

    final class Book: ManagedObject {
        @Attribute(.unique) var isbn: String
        @Attribute var author: String = ""
        @Attribute var shelf: String?
        @Relationship var reader: Person?
    }
}

/// The name is split, and one half of it is required.
enum LibraryV2: VersionedSchema {
    static let models: [ManagedObject.Type] = [Person.self, Book.self]

    final class Person: ManagedObject {
        @Attribute(.required) var lastName: String
        @Attribute var firstName: String?
        @Relationship(inverse: \Book.reader) var books: Set<Book>
    }

    final class Book: ManagedObject {
        @Attribute(.unique) var isbn: String
        @Attribute var author: String = ""
        @Attribute var shelf: String?
        @Relationship var reader: Person?
    }
}

/// What can be worked out: another name, one more attribute, an index.
enum LibraryV3: VersionedSchema {
    static let models: [ManagedObject.Type] = [Person.self, Book.self]

    final class Person: ManagedObject {
        @Attribute([.required, .renamed("lastName")]) var familyName: String
        @Attribute var firstName: String?
        @Relationship(inverse: \Book.reader) var books: Set<Book>
    }

    final class Book: ManagedObject {
        @Attribute(.unique) var isbn: String
        @Attribute(.indexed) var author: String = ""
        @Attribute var shelf: String?
        @Attribute var pages: Int = 1
        @Relationship var reader: Person?
    }
}

/// The shelf, an attribute before, is an entity; books without a shelf are given away.
enum LibraryV4: VersionedSchema {
    static let models: [ManagedObject.Type] = [Person.self, Book.self, Shelf.self]

    final class Person: ManagedObject {
        @Attribute(.required) var familyName: String
        @Attribute var firstName: String?
        @Relationship(inverse: \Book.reader) var books: Set<Book>
    }

    final class Book: ManagedObject {
        @Attribute(.unique) var isbn: String
        @Attribute(.indexed) var author: String = ""
        @Attribute var pages: Int = 1
        @Relationship var reader: Person?
        @Relationship(isOptional: false) var place: Shelf?
    }

    final class Shelf: ManagedObject {
        @Attribute(.unique) var label: String
        @Relationship(inverse: \Book.place) var books: Set<Book>
    }
}

enum LibraryPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [
        LibraryV1.self, LibraryV2.self, LibraryV3.self, LibraryV4.self,
    ]

    static let stages: [MigrationStage] = [
        .custom(
            fromVersion: LibraryV1.self, toVersion: LibraryV2.self, author: "splitter",
            note: "Split the name", migrate: split),
        .lightweight(fromVersion: LibraryV2.self, toVersion: LibraryV3.self),
        .custom(
            fromVersion: LibraryV3.self, toVersion: LibraryV4.self, migrate: shelve),
    ]

    @Sendable static func split(
        _ old: ManagedObjectContext, _ new: ManagedObjectContext
    ) throws {
        for person in try old.fetch(FetchRequest<LibraryV1.Person>()) {
            let words = person.name.split(separator: " ").map(String.init)
            let same = new.object(with: person.objectID) as? LibraryV2.Person
            same?.firstName = words.count > 1 ? words.first : nil
            same?.lastName = words.last ?? ""
        }
    }

    @Sendable static func shelve(
        _ old: ManagedObjectContext, _ new: ManagedObjectContext
    ) throws {
        var shelves: [String: LibraryV4.Shelf] = [:]
        for book in try old.fetch(FetchRequest<LibraryV3.Book>()) {
            guard let same = new.object(with: book.objectID) as? LibraryV4.Book else { continue }
            guard let label = book.shelf else {
                new.delete(same)
                continue
            }
            let shelf = shelves[label] ?? LibraryV4.Shelf(context: new)
            shelf.label = label
            shelves[label] = shelf
            same.place = shelf
        }
    }
}

/// A plan that leads to the second version only.
enum ShortPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
    static let stages = [LibraryPlan.stages[0]]
}

/// A library file that programs open in turn.
final class LibraryFile {
    let folder: TemporaryDirectory
    var url: URL { folder.url.appendingPathComponent("library.daybook") }
    var path: String { url.path }

    init() throws { folder = try TemporaryDirectory() }

    /// Closes a container's store.
    static func close(_ container: PersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// Runs a program with classes, or with a plan, from opening to closing.
    func program<Result>(
        _ open: (URL) throws -> PersistentContainer,
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let container = try open(url)
        let context = container.newBackgroundContext()
        let result = try context.performAndWait { try body(context) }
        try Self.close(container)
        return result
    }

    func program<Result>(
        _ schema: any VersionedSchema.Type, _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        try program({ try TestContainer.make($0, model: schema.models) }, body)
    }

    func program<Result>(
        _ plan: any SchemaMigrationPlan.Type, _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        try program({ try TestContainer.make($0, migrationPlan: plan) }, body)
    }

    /// The first program's library: 3 persons, 4 books.
    func fill() throws {
        try program(LibraryV1.self) { context in
            let persons = ["Ada Lovelace", "Homer", "Jane Austen"].map { name in
                let person = LibraryV1.Person(context: context)
                person.name = name
                return person
            }
            for (index, shelf) in ["A", "B", nil, "A"].enumerated() {
                let book = LibraryV1.Book(context: context)
                book.isbn = "\(index)"
                book.author = "author \(index)"
                book.shelf = shelf
                book.reader = index < 3 ? persons[index] : nil
            }
            try context.save(author: "librarian")
        }
    }

    /// Reads the closed file.
    func store<Result>(_ body: (Store) throws -> Result) throws -> Result {
        let store = try TestStore.open(at: path, options: StoreOptions(isReadOnly: true))
        let result = try body(store)
        try store.close()
        return result
    }

    func head() throws -> UInt64 { try store { try $0.head().rawValue } }
}
