import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on stacks, in order.
@Suite struct StacksExampleTests {
    // example
    final class Country: ManagedObject {
        @Attribute(.unique) var code: String
        @Attribute var name: String = ""
    }

    final class Remark: ManagedObject {
        @Attribute var countryCode: String = ""
        @Attribute var text: String = ""
    }
    // end of example

    @MainActor @Test func `stacks of one store go as the page says`() async throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("countries.daybook")

        // example
        let container = try PersistentContainer(url, model: [Country.self, Remark.self])
        let context = container.viewContext

        let france = Country(context: context)
        france.code = "FR"
        try context.save(note: "First country")
        // end of example

        // example
        let root = container.newBackgroundContext()
        let main = ManagedObjectContext(parent: root, concurrencyType: .mainQueue)

        let country = try main.fetch(FetchRequest<Country>()).first
        country?.name = "France"
        try main.save(author: "editor", note: "Name")  // into the root: memory only
        try await root.perform { _ = try root.save() }  // to the disk, on the root's queue
        // end of example

        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(try store.head() == SequenceNumber(3))
        #expect(france.name == "")
        context.refresh(france, mergeChanges: true)
        #expect(france.name == "France")

        // example
        let view = container.viewContext
        view.automaticallyMergesChangesFromParent = true

        try await container.performBackgroundTask { importer in
            let italy = Country(context: importer)
            italy.code = "IT"
            italy.name = "Italy"
            try importer.save(author: "import")
        }
        // end of example

        let italy = try #require(
            try view.fetch(FetchRequest<Country>(where: \Country.code == "IT")).first)

        // example
        let editor = ManagedObjectContext(parent: view)
        try await editor.perform {
            let italy = try editor.fetch(FetchRequest<Country>(where: \Country.code == "IT")).first
            italy?.name = "Italia"
            try editor.save()  // or let the editor go, and nothing has happened
        }
        view.undo()  // takes back all that the editor saved, as one step
        // end of example

        #expect(italy.name == "Italy")
        view.redo()
        #expect(italy.name == "Italia")
        #expect(try view.save() == SequenceNumber(5))
    }

    @MainActor @Test func `stacks of several stores go as the page says`() throws {
        let temporary = try TemporaryDirectory()
        let folder = temporary.url

        // example
        let reference = folder.appendingPathComponent("reference.daybook")
        let personal = folder.appendingPathComponent("personal.daybook")
        let library = try PersistentContainer(
            model: [Country.self, Remark.self],
            configurations: ["Reference": [Country.self], "Personal": [Remark.self]],
            descriptions: [
                PersistentStoreDescription(url: reference, configuration: "Reference"),
                PersistentStoreDescription(url: personal, configuration: "Personal"),
            ])
        library.loadPersistentStores { description, error in
            if let error { print("\(description.url.lastPathComponent): \(error)") }
        }

        let desk = library.viewContext
        let spain = Country(context: desk)
        spain.code = "ES"
        let remark = Remark(context: desk)
        remark.countryCode = spain.code
        try desk.save()  // one entry in each store
        // end of example

        let coordinator = library.persistentStoreCoordinator
        #expect(
            try coordinator.persistentStores.map { try $0.head() } == [
                SequenceNumber(2), SequenceNumber(2),
            ])

        // example
        let archive = try library.persistentStoreCoordinator.addPersistentStore(
            at: folder.appendingPathComponent("archive.daybook"))
        let prussia = Country(context: desk)
        try desk.assign(prussia, to: archive)
        prussia.code = "XP"
        try desk.save()

        var inArchive = FetchRequest<Country>()
        inArchive.affectedStores = [archive]
        let archived = try desk.fetch(inArchive)
        // end of example

        #expect(archived == [prussia])
        #expect(try desk.count(FetchRequest<Country>()) == 2)

        // example
        let before = try library.context(at: .date(Date(timeIntervalSinceNow: -3600)))
        let countries = try before.performAndWait { try before.count(FetchRequest<Country>()) }
        // end of example

        #expect(countries == 0)
    }
}
