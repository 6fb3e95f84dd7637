import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Observation
import Synchronization
import Testing

/// Structs whose parts are attributes.
@Suite struct CompositeTests {
    struct Place: CompositeAttribute, Equatable {
        var latitude = 0.0
        var longitude: Double?

        static let elements: [CompositeElement<Place>] = [
            CompositeElement(\.latitude, rules: [.minimum(-90), .maximum(90)]),
            CompositeElement(\.longitude),
        ]
    }

    struct Residence: CompositeAttribute, Equatable {
        var street = ""
        var city: String?
        var kind = Kind.house
        var place = Place()
        var view: Place?

        var line: String { "\(street), \(city ?? "")" }

        static let elements: [CompositeElement<Residence>] = [
            CompositeElement(\.street), CompositeElement(\.city, .indexed),
            CompositeElement(\.kind), CompositeElement(\.place), CompositeElement(\.view),
        ]
    }

    enum Kind: String, AttributeValue {
        case house, flat
    }

    final class Tenant: ManagedObject {
        @Attribute var name: String = ""
        @Composite var home = Residence(street: "Main Street")
        @Composite var work: Residence?
        @Composite var place: Place
        @Relationship(inverse: \Tenant.guests) var host: Tenant?
        @Relationship var guests: Set<Tenant>
    }

    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appending(path: "tenants.daybook"), model: [Tenant.self])
        context = container.newBackgroundContext()
    }

    // MARK: - The model

    @Test func `a struct declares an attribute for each of its stored properties`() throws {
        let entity = try #require(
            container.persistentStoreCoordinator.managedObjectModel.entities.first)
        let attributes = Dictionary(
            uniqueKeysWithValues: entity.attributes.map { ($0.name, $0) })

        #expect(
            attributes.keys.sorted() == [
                "home.city", "home.kind", "home.place.latitude", "home.place.longitude",
                "home.street", "home.view.latitude", "home.view.longitude", "name",
                "place.latitude", "place.longitude", "work.city", "work.kind",
                "work.place.latitude", "work.place.longitude", "work.street",
                "work.view.latitude", "work.view.longitude",
            ])
        #expect(attributes["home.street"]?.defaultValue == .string("Main Street"))
        #expect(attributes["home.street"]?.isOptional == false)
        #expect(attributes["home.kind"]?.defaultValue == .string("house"))
        #expect(attributes["home.city"]?.isOptional == true)
        #expect(attributes["home.city"]?.isIndexed == true)
        #expect(attributes["home.view.latitude"]?.isOptional == true)
        #expect(attributes["work.street"]?.isOptional == true)
        #expect(attributes["work.street"]?.defaultValue == .null)
        #expect(attributes["place.latitude"]?.rules.maximum == .double(90))
    }

    struct Forgetful: CompositeAttribute {
        var kept = ""
        var lost = ""
        static let elements: [CompositeElement<Forgetful>] = [CompositeElement(\.kept)]
    }

    struct Computing: CompositeAttribute {
        var stored = ""
        var text: String {
            get { stored }
            set { stored = newValue }
        }
        static let elements: [CompositeElement<Computing>] = [
            CompositeElement(\.stored), CompositeElement(\.text),
        ]
    }

    enum Only: String, AttributeValue { case one }

    struct Lonely: CompositeAttribute {
        var only = Only.one
        static let elements: [CompositeElement<Lonely>] = [CompositeElement(\.only)]
    }

    struct Empty: CompositeAttribute {
        static let elements: [CompositeElement<Empty>] = []
    }

    final class Flawed: ManagedObject {
        @Composite var forgetful = Forgetful()
        @Composite var computing = Computing()
        @Composite var lonely = Lonely()
        @Composite var empty = Empty()
    }

    @Test func `a struct that does not name its stored properties is refused`() throws {
        let error = #expect(throws: (any Error).self) {
            try TestContainer.make(
                folder.url.appending(path: "flawed.daybook"), model: [Flawed.self])
        }
        let text = "\(error as Any)"
        #expect(text.contains("'Forgetful.lost' is stored and not among the elements"))
        #expect(
            text.contains("'Computing' names an element that is not a stored property."))
        #expect(text.contains("is of a type with a single value"))
        #expect(text.contains("'Empty' has no elements."))
    }

    // MARK: - Values

    @Test func `values come back from the store as they were set`() throws {
        let read = try context.performAndWait {
            let tenant = Tenant(context: context)
            #expect(tenant.home == Residence(street: "Main Street"))
            #expect(tenant.work == nil)
            #expect(tenant.place == Place())
            tenant.home.city = "Bern"
            tenant.home.place.latitude = 46.9
            tenant.home.view = Place(latitude: 1, longitude: 2)
            tenant.work = Residence(street: "Side Street", kind: .flat)
            try context.save()
            context.reset()
            let tenants = try context.fetch(FetchRequest<Tenant>())
            return (tenants[0].home, tenants[0].work)
        }
        #expect(
            read.0
                == Residence(
                    street: "Main Street", city: "Bern", place: Place(latitude: 46.9),
                    view: Place(latitude: 1, longitude: 2)))
        #expect(read.1 == Residence(street: "Side Street", kind: .flat))
    }

    @Test func `a change of one element records that element only, and undo takes it back`() throws
    {
        try context.performAndWait {
            let tenant = Tenant(context: context)
            tenant.work = Residence(street: "Side Street")
            try context.save()

            tenant.home.city = "Bern"
            tenant.work?.street = "Side Street"
            #expect(Set(tenant.changedValues().keys) == ["home.city"])
            context.undo()
            #expect(tenant.home.city == nil)

            tenant.work = nil
            #expect(
                Set(tenant.changedValues().keys) == [
                    "work.street", "work.kind", "work.place.latitude",
                ])
            try context.save()
            #expect(tenant.work == nil)
        }
    }

    @Test func `two contexts change two elements of one object without a conflict`() throws {
        let other = container.newBackgroundContext()
        let id = try context.performAndWait {
            let tenant = Tenant(context: context)
            try context.save()
            return tenant.objectID
        }
        try other.performAndWait {
            let theirs = try #require(try other.existingObject(with: id) as? Tenant)
            theirs.home.street = "High Street"
            try context.performAndWait {
                let ours = try #require(try context.existingObject(with: id) as? Tenant)
                ours.home.city = "Bern"
                try context.save()
            }
            try other.save()
        }
        try context.performAndWait {
            context.reset()
            let tenant = try #require(try context.existingObject(with: id) as? Tenant)
            #expect(tenant.home.line == "High Street, Bern")
        }
    }

    @Test func `an optional composite attribute whose elements are all nil reads as nil`() throws {
        context.performAndWait {
            let tenant = Tenant(context: context)
            tenant.home.view = Place(latitude: 1, longitude: nil)
            tenant.setValue(nil, forKey: "home.view.latitude")
            #expect(tenant.home.view == nil)

            tenant.setValue(2.5, forKey: "home.view.longitude")
            #expect(tenant.home.view == Place(latitude: 0, longitude: 2.5))
        }
    }

    @Test func `a rule that is broken names the path`() throws {
        context.performAndWait {
            let tenant = Tenant(context: context)
            tenant.place.latitude = 91
            let error = #expect(throws: (any Error).self) { try context.save() }
            #expect("\(error as Any)".contains("place.latitude"), "\(error as Any)")
        }
    }

    @Test func `reading a composite attribute is observed, element by element`() throws {
        try context.performAndWait {
            context.tracksObservation = true
            let tenant = Tenant(context: context)
            try context.save()
            let count = Atomic<Int>(0)
            func watch() {
                withObservationTracking {
                    _ = tenant.home
                } onChange: {
                    count.add(1, ordering: .relaxed)
                }
            }
            watch()
            tenant.work = Residence()
            #expect(count.load(ordering: .relaxed) == 0)
            tenant.home.place.longitude = 7
            #expect(count.load(ordering: .relaxed) == 1)
        }
    }

    // MARK: - By name

    @Test func `a composite attribute is a dictionary by its name`() throws {
        try context.performAndWait {
            let tenant = Tenant(context: context)
            #expect(tenant.value(forKey: "work") == nil)

            tenant.setValue(
                ["street": "Side Street", "place": ["latitude": 1.5]] as [String: Any],
                forKey: "work")
            #expect(tenant.work?.place.latitude == 1.5)
            #expect(tenant.value(forKeyPath: "work.street") as? String == "Side Street")
            let work = try #require(tenant.value(forKey: "work") as? [String: Any])
            #expect(work.keys.sorted() == ["place", "street"])
            #expect((work["place"] as? [String: Any])?["latitude"] as? Double == 1.5)

            // What a dictionary does not name has no value then.
            tenant.setValue(["city": "Bern"], forKey: "work")
            #expect(tenant.value(forKey: "work.street") == nil)
            #expect(tenant.work?.city == "Bern")

            tenant.setValue(Residence(street: "High Street", kind: .flat), forKey: "work")
            #expect(tenant.work == Residence(street: "High Street", kind: .flat))
            tenant.setValue(nil, forKey: "work")
            #expect(tenant.work == nil)
        }
    }

    @Test func `a key path leads through relationships into composite attributes`() throws {
        context.performAndWait {
            let host = Tenant(context: context)
            let guest = Tenant(context: context)
            #expect(guest.value(forKeyPath: "host.home.street") == nil)
            guest.host = host
            guest.setValue("Bern", forKeyPath: "host.home.city")

            #expect(host.home.city == "Bern")
            #expect(guest.value(forKeyPath: "host.home.city") as? String == "Bern")
            #expect(
                host.value(forKeyPath: "guests.home.street") as? [String] == ["Main Street"])
        }
    }

    @Test func `an element that there is not stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let container = try TestContainer.make(inMemory: [Tenant.self])
            let context = container.newBackgroundContext()
            context.performAndWait {
                Tenant(context: context).setValue(["steet": "x"], forKey: "work")
            }
        }
    }

    // MARK: - Queries

    private func names(_ request: FetchRequest<Tenant>) throws -> [String] {
        try context.performAndWait { try context.fetch(request).map(\.name).sorted() }
    }

    private func fill() throws {
        try context.performAndWait {
            var last: Tenant?
            for (name, city) in [("Ada", "Bern"), ("Bob", "Rome"), ("Cem", nil)] {
                let tenant = Tenant(context: context)
                tenant.name = name
                tenant.home.city = city
                tenant.home.place.latitude = Double(name.utf8.first ?? 0)
                if name == "Bob" { tenant.work = Residence(city: "Oslo", view: Place()) }
                tenant.host = last
                last = tenant
            }
            try context.save()
        }
    }

    @Test func `key paths lead to elements`() throws {
        try fill()
        #expect(try names(FetchRequest(where: \.home.city == "Bern")) == ["Ada"])
        #expect(try names(FetchRequest(where: \.home.place.latitude > 65)) == ["Bob", "Cem"])
        #expect(try names(FetchRequest(where: \.work?.city == "Oslo")) == ["Bob"])
        #expect(try names(FetchRequest(where: \.work?.view?.latitude == 0)) == ["Bob"])
        #expect(try names(FetchRequest(where: \.host?.home.city == "Rome")) == ["Cem"])
        #expect(try names(FetchRequest(where: \.home.kind == .flat)) == [])
        #expect(try names(FetchRequest(where: (\Tenant.home.city).isIn(["Rome"]))) == ["Bob"])
        var request = FetchRequest<Tenant>()
        request.order = [.descending(\.home.city), .ascending("home.place.latitude")]
        let sorted = try context.performAndWait { try context.fetch(request).map(\.name) }
        #expect(sorted == ["Bob", "Ada", "Cem"])
    }

    @Test func `a predicate of Foundation leads to elements, and an index serves it`() throws {
        try fill()
        let bern = FetchRequest<Tenant>(
            where: Condition(#Predicate<Tenant> { $0.home.city == "Bern" }))
        #expect(try names(bern) == ["Ada"])
        let explanation = try context.performAndWait { try context.explain(bern) }
        #expect(
            explanation.contains("index") && explanation.contains("home.city"), "\(explanation)")
        #expect(
            try names(
                FetchRequest(where: Condition(#Predicate<Tenant> { $0.work?.city == "Oslo" })))
                == ["Bob"])
        #expect(
            try names(
                FetchRequest(
                    where: Condition(#Predicate<Tenant> { $0.home.place.latitude > 65 })))
                == ["Bob", "Cem"])
        #expect(
            try names(
                FetchRequest(
                    where: Condition(
                        #Predicate<Tenant> { $0.guests.contains { $0.home.city == "Rome" } })))
                == ["Ada"])
    }

    @Test func `text leads to elements by dots`() throws {
        try fill()
        #expect(try names(FetchRequest(where: Condition("home.city == 'Bern'"))) == ["Ada"])
        #expect(
            try names(FetchRequest(where: Condition("host.home.city BEGINSWITH 'R'"))) == ["Cem"])
        #expect(
            try names(FetchRequest(where: Condition("ANY guests.home.city == 'Rome'"))) == ["Ada"])
    }

    @Test func `a computed property of the struct is no element`() throws {
        try fill()
        let error = #expect(throws: QueryError.self) {
            try context.performAndWait {
                try context.fetch(FetchRequest<Tenant>(where: \Tenant.home.line == "x"))
            }
        }
        #expect(error?.message.contains("computed property") == true)
    }

    @Test func `rows of a batch take structs and elements`() throws {
        let request = BatchInsertRequest<Tenant>(0..<2) { number, row in
            row[\.name] = "Row \(number)"
            row.set(\.work, to: Residence(street: "S", city: "Bern"))
            row[\.home.city] = "Rome"
        }
        try context.performAndWait {
            _ = try context.execute(request)
            let tenants = try context.fetch(FetchRequest<Tenant>(where: \.work?.city == "Bern"))
            #expect(tenants.count == 2)
            #expect(tenants.first?.home.city == "Rome")
            #expect(tenants.first?.home.street == "Main Street")
        }
    }

    @Test func `history and blame tell of elements`() throws {
        try context.performAndWait {
            let tenant = Tenant(context: context)
            tenant.home.city = "Rome"
            try context.save()
            tenant.home.city = "Bern"
            try context.save()

            #expect(try context.history(of: tenant.objectID).count == 2)
            let city = try context.blame(of: tenant, \Tenant.home.city)
            let street = try context.blame(of: tenant.objectID, property: "home.street")
            #expect(city.name == "home.city")
            #expect(city.sequence != street.sequence)
        }
    }
}
