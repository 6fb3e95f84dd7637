import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page on undo, in order.
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

    @MainActor @Test func `undo of what was saved goes as its page says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("saved.daybook")
        let container = try PersistentContainer(url, model: [Country.self, City.self])
        let turkey = Country(context: container.viewContext)
        turkey.name = "Turkey"
        let city = City(context: container.viewContext)
        city.country = turkey
        try container.viewContext.save()
        turkey.flag = "🇹🇷"
        let flagged = try #require(try container.viewContext.save(author: "ada"))
        turkey.name = "Türkiye"
        let renamed = try #require(try container.viewContext.save(author: "ada"))
        let turkeyID = turkey.objectID

        // example
        let outcome = try container.undo(flagged, author: "ada", note: "No flag yet")
        try container.redo(flagged)  // by undoing what undid it
        let preview = try container.previewUndo(of: flagged...renamed)  // changes nothing
        // end of example

        #expect(outcome.entry == renamed.next)
        #expect(preview.entry == nil)
        #expect(preview.updatedObjectIDs == [turkeyID])

        let again = try PersistentContainer(url, model: [Country.self, City.self])
        try going(on: again.viewContext, with: turkeyID)
        _ = try container.viewContext.mergeChanges()
        #expect(turkey.name == "Turkey")
        turkey.flag = nil
        try container.viewContext.save()
        container.viewContext.delete(turkey)
        try container.viewContext.save()

        // example
        try container.restore(turkeyID)  // deleted by mistake, with all its cities
        try container.restore(turkeyID, at: .sequence(flagged))  // with the values it had then
        // end of example

        _ = try container.viewContext.mergeChanges()
        let back = try container.viewContext.existingObject(with: turkeyID)
        #expect((back as? Country)?.flag == "🇹🇷")
        #expect((back as? Country)?.cities.count == 1)
    }

    @MainActor private func going(
        on context: ManagedObjectContext, with turkeyID: ManagedObjectID
    ) throws {
        // example
        var blocked: [String] = []
        context.undoFailureHandler = { error in blocked.append("\(error)") }
        try context.continueUndo(savesBy: .author("ada"), limit: 20)
        context.undo()  // Ada's last save, whenever that was
        try context.save(author: "ada")
        // end of example

        #expect(blocked.isEmpty)
        let turkey = try #require(try context.existingObject(with: turkeyID) as? Country)
        #expect(turkey.name == "Turkey")
        #expect(turkey.flag == "🇹🇷")
    }
}
