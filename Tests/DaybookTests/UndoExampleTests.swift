import Daybook
import Foundation
import TestSupport
import Testing

/// The examples of the page on undo, one after the other.
@Suite struct UndoExampleTests {
    final class Country: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var flag: String?
        @Transient var lastOpened: Date?
        @Relationship(.cascade, inverse: \City.country) var cities: Set<City>
    }

    final class City: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var isCapital: Bool = false
        @Relationship var country: Country?
    }

    @MainActor @Test func `undo goes as its page says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("undo.daybook"), model: [Country.self, City.self])
        let context = container.viewContext
        let turkey = Country(context: context)
        turkey.name = "Turkey"
        for name in ["Ankara", "Istanbul"] {
            let city = City(context: context)
            city.name = name
            city.country = turkey
        }
        try context.save()

        // example
        turkey.name = "Türkiye"
        context.processPendingChanges()  // ends the step
        turkey.flag = "🇹🇷"
        context.undo()  // no flag again; the name stays
        context.redo()
        // end of example

        #expect(turkey.name == "Türkiye")
        #expect(turkey.flag == "🇹🇷")

        // example
        guard let manager = context.undoManager else { return }
        manager.beginUndoGrouping()
        for city in turkey.cities {
            city.isCapital = city.name == "Ankara"
            context.processPendingChanges()
        }
        manager.setActionName("Choose Capital")
        manager.endUndoGrouping()
        let title = "Undo \(manager.undoActionName)"
        context.undo()  // all of them
        // end of example

        #expect(title == "Undo Choose Capital")
        #expect(turkey.cities.allSatisfy { !$0.isCapital })

        let today = Date(timeIntervalSince1970: 0)
        let count = manager.undoCount

        // example
        manager.disableUndoRegistration()  // ends the event, so that what went before is a step
        turkey.lastOpened = today
        manager.enableUndoRegistration()  // ends the event, so that what was changed is none
        // end of example

        #expect(manager.undoCount == count)
        context.undo()
        #expect(turkey.flag == nil)
        #expect(turkey.lastOpened == today)
    }
}
