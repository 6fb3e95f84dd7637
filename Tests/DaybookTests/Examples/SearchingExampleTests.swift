import Daybook
import DaybookSearch
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on searching, in order.
@Suite struct SearchingExampleTests {
    final class Note: ManagedObject {
        @Attribute var body: String = ""
    }

    final class Country: ManagedObject {
        @Attribute var name: String = ""
    }

    @MainActor @Test func `words are found as the page says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("s.daybook")
        let container = try PersistentContainer(url, model: [Note.self, Country.self])
        let context = container.viewContext
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        Note(context: context).body = "A red herring"
        Note(context: context).body = "Blue fish"
        let country = Country(context: context)
        country.name = "Swaziland"
        try context.save()
        country.name = "Eswatini"
        try context.save()

        // example
        let index = try TextIndex(of: store)
        for match in try index.search("red herring") { print(match.text, match.objectID) }
        // end of example

        #expect(index.url?.lastPathComponent == "s.daybook-text")
        #expect(try index.search("red herring").map(\.text) == ["A red herring"])

        // example
        let names = SearchScope(at: .ever, entityName: "Country", propertyName: "name")
        for match in try index.search("swaziland", in: names) {
            print(match.text, match.since, match.until.map(String.init(describing:)) ?? "today")
        }
        // end of example

        let former = try #require(try index.search("swaziland", in: names).first)
        #expect(former.objectID == country.objectID)
        #expect(former.propertyName == "name")
        #expect(former.since < former.until ?? .zero)
        #expect(try index.search("swaziland").isEmpty)

        // example
        let found = try index.search("herring").map(\.objectID)
        let notes = try context.fetch(FetchRequest<Note>(where: Condition("SELF IN %@", found)))
        // end of example

        #expect(notes.map(\.body) == ["A red herring"])

        Note(context: context).body = "A second herring"
        #expect(try index.search("herring").count == 1)
        try context.save()
        #expect(try index.bringUpToDate() == store.head())
        #expect(try index.search("herring").count == 2)
    }

    @MainActor @Test func `a store in memory has its index in memory`() throws {
        let container = try PersistentContainer(inMemory: [Note.self, Country.self])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        Note(context: container.viewContext).body = "herring"
        try container.viewContext.save()
        let index = try TextIndex(of: store)

        #expect(index.url == nil)
        #expect(try index.search("her*").count == 1)
    }
}
