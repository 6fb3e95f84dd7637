import Daybook
import DaybookTestSupport
import Foundation
import Testing

// example
enum LibraryV1: VersionedSchema {
    static let models: [ManagedObject.Type] = [Person.self]

    final class Person: ManagedObject {
        @Attribute var name: String = ""
    }
}

enum LibraryV2: VersionedSchema {
    static let models: [ManagedObject.Type] = [Person.self]

    final class Person: ManagedObject {
        @Attribute var firstName: String?
        @Attribute(.required) var lastName: String
    }
}

enum LibraryPlan: SchemaMigrationPlan {
    static let schemas: [any VersionedSchema.Type] = [LibraryV1.self, LibraryV2.self]
    static let stages: [MigrationStage] = [
        .custom(fromVersion: LibraryV1.self, toVersion: LibraryV2.self, note: "Split names") {
            old, new in
            for person in try old.fetch(FetchRequest<LibraryV1.Person>()) {
                let words = person.name.split(separator: " ").map(String.init)
                let same = new.object(with: person.objectID) as? LibraryV2.Person
                same?.firstName = words.dropLast().first
                same?.lastName = words.last ?? "?"
            }
        }
    ]
}
// end of example

/// The plan of the page on changing the model, and what the page says of it.
@Suite struct MigrationPlanExampleTests {
    @Test func `a name is split by the plan, and is whole again when the stage is undone`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("library.daybook")
        try fill(url)

        // example
        let container = try PersistentContainer(url, migrationPlan: LibraryPlan.self)
        // end of example

        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let persons = try context.fetch(FetchRequest<LibraryV2.Person>())
            let names = persons.map { "\($0.lastName), \($0.firstName ?? "-")" }
            #expect(names.sorted() == ["Homer, -", "Lovelace, Ada"])
        }
        _ = try container.undo(SequenceNumber(3))
        try remove(container)
        let older = try PersistentContainer(url, model: LibraryV1.models)
        let reader = older.newBackgroundContext()
        try reader.performAndWait { () throws in
            let names = try reader.fetch(FetchRequest<LibraryV1.Person>()).map(\.name)
            #expect(names.sorted() == ["Ada Lovelace", "Homer"])
        }
    }

    private func fill(_ url: URL) throws {
        let container = try PersistentContainer(url, model: LibraryV1.models)
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            for name in ["Ada Lovelace", "Homer"] {
                LibraryV1.Person(context: context).name = name
            }
            try context.save()
        }
        try remove(container)
    }

    private func remove(_ container: PersistentContainer) throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
