import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The example of the page *Coming from Core Data*.
@Suite struct CoreDataExampleTests {
    final class Country: ManagedObject {
        @Attribute var name: String = ""
    }

    @MainActor @Test func `a child conflicts with its parent as the page says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("countries.daybook"), model: [Country.self])
        let main = container.viewContext
        let italy = Country(context: main)
        italy.name = "Italy"
        try main.save()
        var printed: [String] = []
        func print(_ conflicts: [MergeConflict]) { printed = conflicts.map(\.description) }

        // example
        let editor = ManagedObjectContext(parent: main, concurrencyType: .mainQueue)
        let draft = try editor.existingObject(with: italy.objectID) as? Country
        draft?.name = "Italia"
        italy.name = "Italian Republic"  // meanwhile, in the parent

        do {
            try editor.save()
        } catch let error as StoreError where error.code == .conflict {
            print(error.conflicts)  // 'name' of Country/1 was changed by both sides.
            _ = try editor.mergeChanges()  // what is pending stays, on top of the parent's value
            try editor.save()
        }
        // end of example

        #expect(printed == ["'name' of Country/1 was changed by both sides."])
        #expect(italy.name == "Italia")

        let other = ManagedObjectContext(parent: main, concurrencyType: .mainQueue)
        other.mergePolicy = .mergeByPropertyObjectTrump
        let same = try other.existingObject(with: italy.objectID) as? Country
        same?.name = "Italien"
        italy.name = "Italie"
        try other.save()
        #expect(italy.name == "Italien")
    }
}
