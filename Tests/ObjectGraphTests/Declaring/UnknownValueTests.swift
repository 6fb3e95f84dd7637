import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The original declaration of a diary.
private enum Old {
    enum Mood: String, AttributeValue { case happy, sad }

    final class Page: ManagedObject {
        @Attribute var mood: Mood = .happy
        @Attribute var weather: Mood = .happy
        @Attribute var last: Mood?
        @Attribute var text: String = ""

        override class var entityName: String { "Page" }
    }
}

/// The same diary after a case was removed.
private enum New {
    enum Mood: String, AttributeValue { case happy }

    enum Weather: String, AttributeValue {
        case happy, other

        static var unknownValue: Weather? { .other }
    }

    final class Page: ManagedObject {
        @Attribute var mood: Mood = .happy
        @Attribute var weather: Weather = .happy
        @Attribute var last: Weather?
        @Attribute var text: String = ""

        override class var entityName: String { "Page" }
    }
}

@Suite struct UnknownValueTests {
    private func withOldStore(
        _ body: (ManagedObjectContext, New.Page) throws -> Void
    ) throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("diary.daybook")
        let old = try TestContainer.make(url, model: [Old.Page.self]).newBackgroundContext()
        try old.performAndWait {
            let page = Old.Page(context: old)
            page.mood = .sad
            page.weather = .sad
            page.last = .sad
            try old.save()
        }
        let context = try TestContainer.make(url, model: [New.Page.self]).newBackgroundContext()
        try context.performAndWait {
            try body(context, try #require(try context.fetch(FetchRequest<New.Page>()).first))
        }
    }

    @Test func `a case that was removed is an error with the stored value in hand`() throws {
        try withOldStore { context, page in
            var told: [any Error] = []
            context.inaccessibleFaultHandler = { told.append($1) }

            _ = page.mood

            let error = try #require(told.first as? StoreError)
            let cause = try #require(error.cause as? UnreadableValue)
            #expect(told.count == 1)
            #expect(error.code == .unreadableValue)
            #expect(cause.objectID == page.objectID)
            #expect(cause.property == "mood")
            #expect(cause.storedValue == .string("sad"))
            #expect(cause.typeName == "Mood")
            #expect(!error.message.contains("sad"))
            #expect(throws: StoreError.self) { try page.willAccessValue(forKey: "mood") }
            try page.willAccessValue(forKey: "text")
            #expect(page.storedValue(forKey: "mood") == .string("sad"))
            #expect(page.value(forKey: "mood") as? String == "sad")
            #expect(told.count == 2)
        }
    }

    @Test func `a type with a word for unknown values reads as that`() throws {
        try withOldStore { context, page in
            var told = 0
            context.inaccessibleFaultHandler = { _, _ in told += 1 }

            #expect(page.weather == .other)
            #expect(page.last == .other)
            #expect(page.value(forKey: "weather") as? New.Weather == .other)
            try page.willAccessValue(forKey: "weather")
            #expect(told == 0)
        }
    }

    @Test func `saving an object whose unknown value was not set keeps what is stored`() throws {
        try withOldStore { context, page in
            context.inaccessibleFaultHandler = { _, _ in }
            _ = page.mood
            _ = page.weather
            page.text = "rain"
            try context.save()
            context.reset()

            let read = try #require(try context.fetch(FetchRequest<New.Page>()).first)

            #expect(read.text == "rain")
            #expect(read.storedValue(forKey: "mood") == .string("sad"))
            #expect(read.storedValue(forKey: "weather") == .string("sad"))
            read.weather = .other
            try context.save()
            #expect(read.storedValue(forKey: "weather") == .string("other"))
        }
    }
}

/// The declaration of a home whose kinds are more.
private enum Richer {
    enum Kind: String, AttributeValue { case house, villa }

    struct Home: CompositeAttribute {
        var city = ""
        var kind = Kind.house
        var next = Kind.house

        static let elements: [CompositeElement<Home>] = [
            CompositeElement(\.city), CompositeElement(\.kind), CompositeElement(\.next),
        ]
    }

    final class Tenant: ManagedObject {
        @Composite var home = Home()

        override class var entityName: String { "Tenant" }
    }
}

/// The same home where one of them is not known.
private enum Poorer {
    enum Kind: String, AttributeValue { case house, hut }

    enum NextKind: String, AttributeValue {
        case house, other

        static var unknownValue: NextKind? { .other }
    }

    struct Home: CompositeAttribute {
        var city = ""
        var kind = Kind.house
        var next = NextKind.house

        static let elements: [CompositeElement<Home>] = [
            CompositeElement(\.city), CompositeElement(\.kind), CompositeElement(\.next),
        ]
    }

    final class Tenant: ManagedObject {
        @Composite var home = Home()

        override class var entityName: String { "Tenant" }
    }
}

extension UnknownValueTests {
    @Test func `an element that cannot be read stays when another one is set`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("homes.daybook")
        let richer = try TestContainer.make(url, model: [Richer.Tenant.self])
            .newBackgroundContext()
        try richer.performAndWait {
            Richer.Tenant(context: richer).home = Richer.Home(kind: .villa, next: .villa)
            try richer.save()
        }
        let context = try TestContainer.make(url, model: [Poorer.Tenant.self])
            .newBackgroundContext()
        try context.performAndWait {
            context.inaccessibleFaultHandler = { _, _ in }
            let tenant = try #require(try context.fetch(FetchRequest<Poorer.Tenant>()).first)

            tenant.home.city = "Bern"
            var home = tenant.home
            home.city = "Basel"
            tenant.setValue(home, forKey: "home")

            #expect(tenant.changedValues().keys.sorted() == ["home.city"])
            #expect(tenant.storedValue(forKey: "home.kind") == .string("villa"))
            #expect(tenant.storedValue(forKey: "home.next") == .string("villa"))

            tenant.home.next = .house

            #expect(tenant.storedValue(forKey: "home.next") == .string("house"))
            #expect(tenant.storedValue(forKey: "home.kind") == .string("villa"))
        }
    }
}
