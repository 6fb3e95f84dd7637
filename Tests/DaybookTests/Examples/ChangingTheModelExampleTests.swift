import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The example of the page on changing the model, and what the page says of it.
@Suite struct ChangingTheModelExampleTests {
    enum Before {
        final class Country: ManagedObject {
            @Attribute(.unique) var alpha2: String
            @Attribute var name: String = ""
        }
    }

    enum After {
        // example
        final class Country: ManagedObject {
            @Attribute(.unique) var alpha2: String
            @Attribute(.renamed("name")) var title: String = ""
            @Attribute var area: Double?
        }
        // end of example
    }

    @Test func `a store is opened with the next classes, and with the ones before beside them`()
        throws
    {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("atlas.daybook")
        func use(
            _ classes: [ManagedObject.Type], _ body: (ManagedObjectContext) throws -> Void
        ) throws {
            let container = try PersistentContainer(url, model: classes)
            let context = container.newBackgroundContext()
            try context.performAndWait { () throws in try body(context) }
            let past = try container.context(at: .sequence(SequenceNumber(1)))
            try past.performAndWait { () throws in
                #expect(try past.count(FetchRequest<ManagedObject>(entityName: "Country")) == 0)
            }
        }

        try use([Before.Country.self]) { context in
            let turkey = Before.Country(context: context)
            turkey.alpha2 = "TR"
            turkey.name = "Turkey"
            try context.save()
        }
        try use([After.Country.self]) { context in
            let turkey = try #require(try context.fetch(FetchRequest<After.Country>()).first)
            #expect(turkey.title == "Turkey")
            #expect(turkey.area == nil)
            turkey.title = "Türkiye"
            turkey.area = 783_562
            try context.save()
        }
        try use([Before.Country.self]) { context in
            let turkey = try #require(try context.fetch(FetchRequest<Before.Country>()).first)
            #expect(turkey.name == "Türkiye")
            turkey.name = "Turkey"
            try context.save()
        }
        try use([After.Country.self]) { context in
            let turkey = try #require(try context.fetch(FetchRequest<After.Country>()).first)
            #expect(turkey.title == "Turkey")
            #expect(turkey.area == 783_562)
        }
    }

    @Test func `the past is read in the model of its day`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("atlas.daybook")
        let older = try PersistentContainer(url, model: [Before.Country.self])
        let context = older.newBackgroundContext()
        try context.performAndWait { () throws in
            let turkey = Before.Country(context: context)
            turkey.alpha2 = "TR"
            turkey.name = "Turkey"
            try context.save()
        }
        let container = try PersistentContainer(url, model: [After.Country.self])

        // example
        let past = try container.context(at: .sequence(SequenceNumber(2)), model: .then)
        let names = try past.performAndWait {
            let countries = try past.fetch(FetchRequest<ManagedObject>(entityName: "Country"))
            return countries.map { $0.value(forKey: "name") as? String }
        }
        // end of example

        #expect(names == ["Turkey"])
    }
}
