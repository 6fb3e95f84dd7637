import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Objects as values that leave their context.
@Suite struct ObjectSnapshotTests {
    struct Spot: CompositeAttribute, Equatable {
        var x = 0.5
        var y: Double?

        static let elements: [CompositeElement<Spot>] = [
            CompositeElement(\.x), CompositeElement(\.y),
        ]
    }

    struct Home: CompositeAttribute, Equatable {
        var street = ""
        var spot = Spot()

        static let elements: [CompositeElement<Home>] = [
            CompositeElement(\.street), CompositeElement(\.spot),
        ]
    }

    enum Mood: String, AttributeValue { case glad, sad }

    struct Extra: CodableAttributeValue, Equatable {
        var level = 1
    }

    final class Writer: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var fee: Decimal?
        @Attribute var born: Date?
        @Attribute var key: UUID?
        @Attribute var page: URL?
        @Attribute var mood: Mood = .glad
        @Attribute var extra: Extra = Extra()
        @Attribute var picture: Data?
        @Attribute var books: Int16 = 0
        @Attribute var rate: Double = 0
        @Attribute var isLive: Bool = true
        @Transient var shown: String?
        @Composite var home = Home()
        @Composite var work: Home?
        @Relationship var mentor: Writer?
        @Relationship(inverse: \Writer.mentor) var pupils: Set<Writer>
        @Relationship(inverse: \Tale.writer) var tales: Set<Tale>
        @Relationship var favourites: [Tale]
        var initial: String { String(name.prefix(1)) }
    }

    final class Tale: ManagedObject {
        @Attribute var title: String = ""
        @Relationship var writer: Writer?
        @Relationship(inverse: \Writer.favourites) var admirers: Set<Writer>
    }

    private let folder: TemporaryDirectory
    private let container: PersistentContainer
    private let key = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("w.daybook"), model: [Writer.self, Tale.self])
    }

    /// A writer with everything, her mentor and two tales.
    private func make(_ context: ManagedObjectContext) throws -> Writer {
        let ada = Writer(context: context)
        ada.name = "Ada"
        ada.fee = Decimal(string: "12345678901234567890.125")
        ada.born = Date(timeIntervalSince1970: 86_400.5)
        ada.key = key
        ada.page = URL(string: "https://example.org/a?b=c")
        ada.mood = .sad
        ada.extra.level = 7
        ada.picture = Data([1, 2, 3])
        ada.books = 2
        ada.rate = 0.25
        ada.isLive = false
        ada.shown = "A."
        ada.home.street = "Elm"
        ada.home.spot.y = 1.5
        let mentor = Writer(context: context)
        mentor.name = "Bea"
        ada.mentor = mentor
        for title in ["One", "Two"] {
            let tale = Tale(context: context)
            tale.title = title
            tale.writer = ada
            ada.favourites.insert(tale, at: 0)
        }
        try context.save()
        return ada
    }

    @MainActor @Test func `a snapshot has the values and types of its object, for ever`() throws {
        let context = container.viewContext
        let ada = try make(context)
        let mentor = try #require(ada.mentor)

        let snapshot = try ada.snapshot(including: \.mentor, \.favourites)
        ada.name = "Eve"
        ada.fee = nil
        ada.mentor = nil
        context.delete(ada.favourites[0])

        #expect(snapshot.name == "Ada")
        #expect(snapshot.fee == Decimal(string: "12345678901234567890.125"))
        #expect(snapshot.born == Date(timeIntervalSince1970: 86_400.5))
        #expect(snapshot.key == key)
        #expect(snapshot.page == URL(string: "https://example.org/a?b=c"))
        #expect(snapshot.mood == .sad)
        #expect(snapshot.extra == Extra(level: 7))
        #expect(snapshot.picture == Data([1, 2, 3]))
        #expect(snapshot.books == 2)
        #expect(snapshot.rate == 0.25)
        #expect(!snapshot.isLive)
        #expect(snapshot.shown == "A.")
        #expect(snapshot.home == Home(street: "Elm", spot: Spot(x: 0.5, y: 1.5)))
        #expect(snapshot.work == nil)
        #expect(snapshot.mentor == mentor.objectID)
        #expect(snapshot.favourites.count == 2)
        #expect(snapshot.tales.count == 2)
        #expect(snapshot.pupils.isEmpty)
        #expect(snapshot.id == ada.objectID)
        #expect(snapshot.sequence == SequenceNumber(2))
        #expect(!snapshot.isEdited)
        #expect(snapshot.snapshot(of: \.mentor)?.name == "Bea")
        #expect(snapshot.snapshots(of: \.favourites).map(\.title) == ["Two", "One"])
        #expect(snapshot.snapshots(of: \.tales).isEmpty)
        #expect(snapshot.storedValue(forKey: "books") == .int(2))
        #expect(snapshot.storedValue(forKey: "mentor") == nil)
        #expect(snapshot.storedValue(forKey: "nothing") == nil)
    }

    @MainActor @Test func `what is pending is in it, and two are equal when their values are`()
        throws
    {
        let context = container.viewContext
        let ada = try make(context)
        let before = try ada.snapshot()
        ada.name = "Eve"
        let edited = try ada.snapshot()
        ada.name = "Ada"
        let again = try ada.snapshot()
        let new = Writer(context: context)

        #expect(before == again)
        #expect(before != edited)
        #expect(Set([before, again, edited]).count == 2)
        #expect(edited.isEdited)
        #expect(!again.isEdited)
        let unsaved = try new.snapshot()
        #expect(unsaved.sequence == nil)
        #expect(unsaved.isEdited)
        #expect(try ada.snapshot(including: \.mentor) != again)
    }

    @Test func `snapshots leave the context`() async throws {
        let context = container.newBackgroundContext()
        let snapshot = try await context.perform { try make(context).snapshot() }

        #expect(snapshot.name == "Ada")
    }

    @MainActor @Test func `JSON has the properties by their names`() throws {
        let context = container.viewContext
        let ada = try make(context)
        let store = container.persistentStoreCoordinator.persistentStores[0].identifier
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        encoder.dateEncodingStrategy = .iso8601

        let snapshot = try ada.snapshot(including: \.mentor, \.favourites)
        let json = String(decoding: try encoder.encode(snapshot), as: UTF8.self)
            .replacing(store.uuidString, with: "STORE")

        let favourites = ada.favourites.map(\.objectID.object.number)
        let tales = ada.objectIDs(forRelationshipNamed: "tales").map(\.object.number)
        let (own, mentor) = (
            ada.objectID.object.number, try #require(ada.mentor).objectID.object.number
        )
        func address(_ entity: String, _ number: UInt64) -> String {
            "\"x-daybook://STORE/\(entity)/p\(number)\""
        }
        #expect(
            json == """
                {
                  "books" : 2,
                  "born" : "1970-01-02T00:00:00Z",
                  "extra" : {
                    "level" : 7
                  },
                  "favourites" : [
                    {
                      "admirers" : [
                        \(address("Writer", own))
                      ],
                      "objectID" : \(address("Tale", favourites[0])),
                      "title" : "Two",
                      "writer" : \(address("Writer", own))
                    },
                    {
                      "admirers" : [
                        \(address("Writer", own))
                      ],
                      "objectID" : \(address("Tale", favourites[1])),
                      "title" : "One",
                      "writer" : \(address("Writer", own))
                    }
                  ],
                  "fee" : 12345678901234567890.125,
                  "home" : {
                    "spot" : {
                      "x" : 0.5,
                      "y" : 1.5
                    },
                    "street" : "Elm"
                  },
                  "isLive" : false,
                  "key" : "\(key.uuidString)",
                  "mentor" : {
                    "books" : 0,
                    "born" : null,
                    "extra" : {
                      "level" : 1
                    },
                    "favourites" : [

                    ],
                    "fee" : null,
                    "home" : {
                      "spot" : {
                        "x" : 0.5,
                        "y" : null
                      },
                      "street" : ""
                    },
                    "isLive" : true,
                    "key" : null,
                    "mentor" : null,
                    "mood" : "glad",
                    "name" : "Bea",
                    "objectID" : \(address("Writer", mentor)),
                    "page" : null,
                    "picture" : null,
                    "pupils" : [
                      \(address("Writer", own))
                    ],
                    "rate" : 0,
                    "shown" : null,
                    "tales" : [

                    ],
                    "work" : null
                  },
                  "mood" : "sad",
                  "name" : "Ada",
                  "objectID" : \(address("Writer", own)),
                  "page" : "https://example.org/a?b=c",
                  "picture" : "AQID",
                  "pupils" : [

                  ],
                  "rate" : 0.25,
                  "shown" : "A.",
                  "tales" : [
                    \(address("Tale", tales[0])),
                    \(address("Tale", tales[1]))
                  ],
                  "work" : null
                }
                """)
    }

    @Test func `a fault whose record was deleted is an error that says who deleted it`() throws {
        let reader = container.newBackgroundContext()
        let writer = container.newBackgroundContext()
        let id = try writer.performAndWait { try make(writer).objectID }
        try reader.performAndWait {
            let fault = try #require(reader.object(with: id) as? Writer)
            try writer.performAndWait {
                writer.delete(try writer.existingObject(with: id))
                try writer.save(author: "carol")
            }
            for _ in 0..<2 {
                let error = #expect(throws: StoreError.self) { try fault.snapshot() }
                #expect(error?.code == .objectDeleted)
                #expect(error?.message.contains("in entry 3 by 'carol'") == true)
            }
        }
    }

    @MainActor @Test func `a value that its type does not have is an error`() throws {
        let odd = Writer(context: container.viewContext)
        odd.setStoredValue(.string("bored"), forKey: "mood")

        let error = #expect(throws: StoreError.self) { try odd.snapshot() }

        #expect(error?.code == .unreadableValue)
    }

    @MainActor @Test func `without a value it reads what the object reads`() throws {
        let writer = Writer(context: container.viewContext)
        for key in ["mood", "books", "isLive", "extra"] {
            writer.setStoredValue(.null, forKey: key)
        }

        let snapshot = try writer.snapshot()

        #expect(snapshot.mood == writer.mood && snapshot.mood == .glad)
        #expect(snapshot.books == writer.books)
        #expect(snapshot.isLive == writer.isLive)
        #expect(snapshot.extra == writer.extra)
    }

    @MainActor @Test func `only relationships can be included`() throws {
        let ada = try make(container.viewContext)

        #expect(throws: QueryError.self) { try ada.snapshot(including: \.name) }
        #expect(throws: QueryError.self) { try ada.snapshot(including: \.initial) }
        #expect(throws: QueryError.self) { try ada.snapshot(including: \.mentor?.name) }
        #expect(
            try ada.snapshot(including: \.mentor?.pupils).snapshot(of: \.mentor)?
                .snapshots(of: \.pupils).map(\.name) == ["Ada"])
    }

    @Test func `a key path to anything else stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let world = try ObjectSnapshotTests()
            let context = world.container.newBackgroundContext()
            try context.performAndWait {
                let snapshot = try Writer(context: context).snapshot()
                print(snapshot.initial)
            }
        }
    }
}
