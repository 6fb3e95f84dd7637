import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@Suite struct ValueForKeyTests {
    enum Kind: Int, AttributeValue { case small = 1, large }

    struct Size: CodableAttributeValue, Equatable {
        var width: Int
    }

    final class Crane: ManagedObject {
        @Attribute var count: Int = 0
        @Attribute var short: Int16 = 0
        @Attribute var medium: Int32 = 0
        @Attribute var long: Int64 = 0
        @Attribute var single: Float = 0
        @Attribute var page: URL?
        @Attribute var size: Size = Size(width: 0)
        @Attribute var kind: Kind = .small
        @Attribute var tags: [String] = []
        @Attribute var price: Decimal?
        @Transient var shown: Int16 = 0
    }

    private static let set: [String: any AttributeValue & Sendable] = [
        "count": 5 as Int, "short": 6 as Int16, "medium": 7 as Int32, "long": 8 as Int64,
        "single": 0.1 as Float, "page": URL(filePath: "/a"), "kind": Kind.large,
        "tags": ["a", "b"], "price": Decimal(12), "shown": 3 as Int16,
    ]

    private func expectTypes(
        _ values: [String: Any?], _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(values["count"] as? Int == 5, sourceLocation: location)
        #expect(values["short"] as? Int16 == 6, sourceLocation: location)
        #expect(values["medium"] as? Int32 == 7, sourceLocation: location)
        #expect(values["long"] as? Int64 == 8, sourceLocation: location)
        #expect(values["single"] as? Float == 0.1, sourceLocation: location)
        #expect(values["page"] as? URL == URL(filePath: "/a"), sourceLocation: location)
        #expect(values["size"] as? Size == Size(width: 9), sourceLocation: location)
        #expect(values["kind"] as? Kind == .large, sourceLocation: location)
        #expect(values["tags"] as? [String] == ["a", "b"], sourceLocation: location)
        #expect(values["price"] as? Decimal == 12, sourceLocation: location)
        #expect(values["shown"] as? Int16 == 3, sourceLocation: location)
    }

    @Test func `value(forKey:) gives back the type that was set, here and among changed values`()
        throws
    {
        try ClassStore([Crane.self]).inContext { context in
            let crane = Crane(context: context)
            for (name, value) in Self.set { crane.setValue(value, forKey: name) }
            crane.size = Size(width: 9)
            let names = crane.entity.attributes.map(\.name)
            func all() -> [String: Any?] {
                Dictionary(uniqueKeysWithValues: names.map { ($0, crane.value(forKey: $0)) })
            }
            expectTypes(all())
            expectTypes(crane.changedValues())
            try context.save()
            expectTypes(all())
            expectTypes(crane.committedValues())
            crane.count = 1
            #expect(crane.changedValuesForCurrentEvent()["count"] as? Int == 5)
            #expect(crane.changedValues()["count"] as? Int == 1)
            crane.page = nil
            #expect(crane.value(forKey: "page") == nil)
            #expect(crane.changedValues()["page"] as? URL == nil)
        }
    }

    @Test func `an entity without a class gives the types that its model names`() throws {
        let folder = try TemporaryDirectory()
        let types: [(String, AttributeType)] = [
            ("short", .int16), ("medium", .int32), ("long", .int64), ("single", .float),
            ("page", .url), ("coded", .codable),
        ]
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Thing",
                attributes: types.map { AttributeDescription(name: $0, type: $1) })
        ])
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("things.daybook"), managedObjectModel: model)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let thing = context.insertNewObject(forEntityName: "Thing")
            thing.setValue(6 as Int16, forKey: "short")
            thing.setValue(7 as Int32, forKey: "medium")
            thing.setValue(8, forKey: "long")
            thing.setValue(0.1 as Float, forKey: "single")
            thing.setValue(URL(filePath: "/a"), forKey: "page")
            thing.setValue(Size(width: 9), forKey: "coded")

            #expect(thing.value(forKey: "short") as? Int16 == 6)
            #expect(thing.value(forKey: "medium") as? Int32 == 7)
            #expect(thing.value(forKey: "long") as? Int64 == 8)
            #expect(thing.value(forKey: "single") as? Float == 0.1)
            #expect(thing.value(forKey: "page") as? URL == URL(filePath: "/a"))
            #expect(thing.value(forKey: "coded") as? Data == Data(#"{"width":9}"#.utf8))
        }
    }
}
