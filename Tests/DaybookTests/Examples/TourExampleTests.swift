import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the tour, in order, on one store.
@Suite struct TourExampleTests {
    // example
    final class Country: ManagedObject {
        @Attribute(.unique) var alpha2: String
        @Attribute(.indexed) var name: String = ""
        @Attribute var flag: String?
        @Relationship(.cascade, inverse: \Subdivision.country) var subdivisions: Set<Subdivision>
    }

    final class Subdivision: ManagedObject {
        @Attribute(.unique) var code: String
        @Attribute var name: String = ""
        @Relationship var country: Country?
    }
    // end of example

    @MainActor @Test func `the tour goes as it says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("iso.daybook")

        // example
        let container = try PersistentContainer(url, model: [Country.self, Subdivision.self])
        let context = container.viewContext
        context.author = "registry"

        let turkey = Country(context: context)
        turkey.alpha2 = "TR"
        turkey.name = "Turkey"
        let ankara = Subdivision(context: context)
        ankara.code = "TR-06"
        ankara.name = "Ankara"
        ankara.country = turkey
        let first = try context.save(note: "First list")
        // end of example

        #expect(first == SequenceNumber(2))
        #expect(turkey.subdivisions == [ankara])

        // example
        var request = FetchRequest<Country>(where: (\Country.name).beginsWith("T"))
        request.order = [.ascending(\Country.name)]
        request.limit = 10
        let countries = try context.fetch(request)

        let inTurkey = Condition<Subdivision>("country.alpha2 == 'TR' AND name CONTAINS[c] 'KARA'")
        let found = try context.fetch(FetchRequest(where: inTurkey))

        let withFlag = FetchRequest<Country>(where: #Predicate { $0.flag != nil })
        let plan = try context.explain(withFlag)
        // end of example

        #expect(countries == [turkey])
        #expect(found == [ankara])
        #expect(try context.count(withFlag) == 0)
        #expect(!plan.contains("memory"), "\(plan)")

        // example
        turkey.flag = "🇹🇷"
        context.processPendingChanges()  // ends the step
        turkey.name = "Türkiye"

        context.undo()  // the name is "Turkey" again; the flag stays
        context.redo()
        context.rollback()  // both are as they were at the last save
        // end of example

        #expect(turkey.name == "Turkey")
        #expect(turkey.flag == nil)
        #expect(!context.hasChanges)

        // example
        let id = turkey.objectID
        let editor = container.newBackgroundContext()
        try editor.performAndWait {
            let country = try editor.existingObject(with: id) as? Country
            country?.name = "Türkiye"
            try editor.save(author: "editor", note: "Newsletter VI-8")
        }

        turkey.flag = "🇹🇷"
        let conflicts = try context.mergeChanges()  // the new name, under the pending flag
        try context.save(note: "Flags")
        // end of example

        #expect(conflicts.isEmpty)
        #expect(turkey.name == "Türkiye")
        #expect(turkey.flag == "🇹🇷")

        // example
        let codes = [("FR", "France"), ("PL", "Poland"), ("SE", "Sweden")]
        let batch = BatchInsertRequest<Country>(codes) { code, row in
            row[\.alpha2] = code.0
            row[\.name] = code.1
        }
        let loaded = try context.execute(batch, note: "Second list")
        _ = try context.mergeChanges()
        // end of example

        #expect(loaded.count == 3)
        #expect(try context.count(FetchRequest<Country>()) == 4)

        // example
        let past = try container.context(at: .sequence(SequenceNumber(2)))
        let oldName = try past.performAndWait {
            try past.fetch(FetchRequest<Country>(where: \Country.alpha2 == "TR")).first?.name
        }
        // end of example

        #expect(oldName == "Turkey")
    }

    @MainActor @Test func `a model is read at run time`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("notes.daybook")

        // example
        let model = try ManagedObjectModel(
            json: """
                {"entities": [{"name": "Note", "attributes": [
                  {"name": "text", "type": "string", "optional": false},
                  {"name": "stars", "type": "int64"}]}]}
                """)
        let container = try PersistentContainer(url, managedObjectModel: model)
        let context = container.viewContext

        let note = context.insertNewObject(forEntityName: "Note")
        note.setValue("Milk", forKey: "text")
        note.setValue(3, forKey: "stars")
        try context.save()
        let notes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))
        // end of example

        #expect(notes.map { $0.value(forKey: "text") as? String } == ["Milk"])
        #expect(notes.map { $0.value(forKey: "stars") as? Int64 } == [3])
    }

    @Test func `contexts are used on their queues and identifiers cross`() async throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("iso.daybook"),
            model: [Country.self, Subdivision.self])

        // example
        let context = container.newBackgroundContext()
        let id = try await context.perform {
            let france = Country(context: context)
            france.alpha2 = "FR"
            france.name = "France"
            try context.save(author: "registry")
            return france.objectID
        }

        let name = try await container.performBackgroundTask { other in
            let france = try other.existingObject(with: id) as? Country
            return france?.name
        }
        // end of example

        #expect(name == "France")
    }

    @Test func `a context follows the others when asked to`() async throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("iso.daybook"),
            model: [Country.self, Subdivision.self])

        // example
        let reader = container.newBackgroundContext()
        reader.performAndWait {
            reader.automaticallyMergesChangesFromParent = true
            reader.mergeFailureHandler = { error in print("Could not follow: \(error)") }
        }
        // end of example

        let id = try await container.performBackgroundTask { context in
            let france = Country(context: context)
            france.alpha2 = "FR"
            try context.save()
            return france.objectID
        }
        let france = try #require(
            await reader.perform {
                let country = try reader.existingObject(with: id)
                reader.retainsRegisteredObjects = true
                return country.objectID
            })
        try await container.performBackgroundTask { context in
            (try context.existingObject(with: france) as? Country)?.name = "France"
            try context.save()
        }
        let name = try await reader.perform {
            (try reader.existingObject(with: id) as? Country)?.name
        }
        #expect(name == "France")
    }

    @Test func `a conflict names both sides`() async throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("iso.daybook"),
            model: [Country.self, Subdivision.self])
        let context = container.newBackgroundContext()
        let id = try await context.perform {
            let turkey = Country(context: context)
            turkey.alpha2 = "TR"
            turkey.name = "Turkey"
            try context.save()
            return turkey.objectID
        }

        try await context.perform {
            let turkey = try context.existingObject(with: id) as? Country
            turkey?.name = "Turquie"
            let other = container.newBackgroundContext()
            try other.performAndWait {
                (try other.existingObject(with: id) as? Country)?.name = "Türkiye"
                try other.save()
            }
            var messages: [String] = []

            // example
            do {
                try context.save()
            } catch let error as StoreError where error.code == .conflict {
                for conflict in error.conflicts {
                    messages.append("\(conflict.theirs) in the store, \(conflict.ours) here")
                }
                context.mergePolicy = .mergeByPropertyStoreTrump  // theirs wins
                try context.save()
            }
            // end of example

            #expect(messages == [#""Türkiye" in the store, "Turquie" here"#])
            #expect(turkey?.name == "Türkiye")
        }
    }
}
