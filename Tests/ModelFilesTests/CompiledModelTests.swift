import DaybookModelFiles
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// Compiled models: archives of descriptions, written here with the members that Core Data gives them.
@Suite struct CompiledModelTests {
    /// An archive with every kind of property, whose descriptions refer to each other as they do in a
    /// compiled model.
    private static func shop() -> Data {
        var writer = ArchiveWriter()
        let model = writer.room()
        let order = writer.room()
        let line = writer.room()
        let record = writer.room()
        let lines = writer.room()
        let ofOrder = writer.room()

        func property(_ name: String, _ entity: Int) -> [(String, ArchiveWriter.Member)] {
            [("NSPropertyName", .object(writer.text(name))), ("NSEntity", .object(entity))]
        }
        func attribute(
            _ name: String, _ type: Int64, _ entity: Int,
            _ more: [(String, ArchiveWriter.Member)] = []
        ) -> (String, Int) {
            (
                name,
                writer.object(
                    "NSAttributeDescription",
                    property(name, entity) + [("NSAttributeType", .integer(type))] + more)
            )
        }
        func limit(_ kind: Int64, _ left: Int, _ value: Int) -> Int {
            let constant = writer.object(
                "NSConstantValueExpression", [("NSConstantValue", .object(value))])
            let comparison = writer.object(
                "NSComparisonPredicateOperator", [("NSOperatorType", .integer(kind))])
            return writer.object(
                "NSComparisonPredicate",
                [
                    ("NSPredicateOperator", .object(comparison)),
                    ("NSLeftExpression", .object(left)),
                    ("NSRightExpression", .object(constant)),
                ])
        }

        let itself = writer.object("NSSelfExpression", [])
        let lengthPath = writer.object(
            "NSKeyPathSpecifierExpression", [("NSKeyPath", .object(writer.text("length")))])
        let length = writer.object(
            "NSKeyPathExpression", [("NSArguments", .object(writer.array([lengthPath])))])
        let optional: [(String, ArchiveWriter.Member)] = [("NSIsOptional", .truth(true))]
        let price = Data([0x39, 0x30] + Array(repeating: 0, count: 14))

        let codeLimits = writer.array([
            limit(3, length, writer.value(.integer(2))),
            limit(1, length, writer.value(.integer(8))),
            limit(6, itself, writer.text("[A-Z]+")),
        ])
        let countLimits = writer.array([
            limit(3, itself, writer.value(.integer(1))),
            limit(1, itself, writer.value(.integer(99))),
            limit(4, itself, writer.value(.integer(7))),
        ])
        let stamp = writer.object("NSDate", [("NS.time", .number(86400.5))])
        let amount = writer.object(
            "NSDecimalNumber",
            [
                ("NS.exponent", .integer(-2)), ("NS.length", .integer(1)),
                ("NS.negative", .truth(true)),
                ("NS.mantissa", .data(price)), ("NS.mantissa.bo", .integer(1)),
            ])
        let userInfo = writer.dictionary([("owner", writer.text("sales"))])

        var attributes = [
            attribute("code", 700, order, [("NSValidationPredicates", .object(codeLimits))]),
            attribute(
                "count", 100, order,
                optional + [
                    ("NSDefaultValue", .object(writer.value(.integer(1)))),
                    ("NSValidationPredicates", .object(countLimits)),
                ]),
            attribute("i32", 200, order, optional + [("NSUserInfo", .object(userInfo))]),
            attribute(
                "i64", 300, order,
                optional + [("NSRenamingIdentifier", .object(writer.text("long")))]),
            attribute("amount", 400, order, optional + [("NSDefaultValue", .object(amount))]),
            attribute(
                "d", 500, order,
                optional + [("NSDefaultValue", .object(writer.value(.number(1.5))))]),
            attribute("f", 600, order, optional),
            attribute(
                "paid", 800, order,
                [("NSDefaultValue", .object(writer.value(.truth(true))))]),
            attribute("stamp", 900, order, [("NSDefaultValue", .object(stamp))]),
            attribute("blob", 1000, order, optional),
            attribute("uuid", 1100, order, optional),
            attribute("link", 1200, order, optional),
            attribute(
                "box", 1800, order,
                optional + [("NSValueTransformerName", .object(writer.text("Zipper")))]),
            attribute("shown", 700, order, [("NSIsTransient", .truth(true))] + optional),
            attribute("nothing", 0, order, [("NSIsTransient", .truth(true))]),
        ]
        attributes.append(
            (
                "total",
                writer.object(
                    "NSDerivedAttributeDescription",
                    property("total", order) + [("NSAttributeType", .integer(300))])
            ))
        attributes.append(
            (
                "recent",
                writer.object("NSFetchedPropertyDescription", property("recent", order))
            ))
        writer.object(
            "NSRelationshipDescription",
            property("lines", order) + optional + [
                ("NSMaxCount", .integer(0)), ("NSMinCount", .integer(0)),
                ("NSDeleteRule", .integer(2)),
                ("NSIsOrdered", .truth(true)), ("NSDestinationEntity", .object(line)),
                ("_NSDestinationEntityName", .object(writer.text("Line"))),
                ("NSInverseRelationship", .object(ofOrder)),
                ("_NSInverseRelationshipName", .object(writer.text("order"))),
            ], at: lines)
        writer.object(
            "NSRelationshipDescription",
            property("order", line) + [
                ("NSMaxCount", .integer(1)), ("NSMinCount", .integer(1)),
                ("NSDeleteRule", .integer(1)),
                ("NSDestinationEntity", .object(order)), ("NSInverseRelationship", .object(lines)),
            ], at: ofOrder)
        let element = writer.object(
            "NSFetchIndexElementDescription",
            [
                ("NSPropertyName", .object(writer.text("code"))),
                ("NSFetchIndexElementType", .integer(0)),
            ])
        let index = writer.object(
            "NSFetchIndexDescription",
            [
                ("NSIndexName", .object(writer.text("byCode"))), ("NSEntity", .object(order)),
                ("NSIndexElements", .object(writer.array([element]))),
            ])
        let both = writer.array([writer.text("i32"), writer.text("i64")])
        writer.object(
            "NSEntityDescription",
            [
                ("NSEntityName", .object(writer.text("Order"))),
                ("NSClassNameForEntity", .object(writer.text("Shop.OrderObject"))),
                ("NSManagedObjectModel", .object(model)), ("NSSuperentity", .object(record)),
                ("NSProperties", .object(writer.dictionary(attributes + [("lines", lines)]))),
                ("NSFetchIndexDescriptions", .object(writer.array([index]))),
                ("NSUniqueTuples", .object(writer.array([both]))),
                ("NSVersionHashModifier", .object(writer.text("3"))),
            ], at: order)
        writer.object(
            "NSEntityDescription",
            [
                ("NSEntityName", .object(writer.text("Line"))),
                ("NSClassNameForEntity", .object(writer.text("NSManagedObject"))),
                ("NSProperties", .object(writer.dictionary([("order", ofOrder)]))),
            ], at: line)
        let subentities = writer.dictionary([("Order", order)])
        writer.object(
            "NSEntityDescription",
            [
                ("NSEntityName", .object(writer.text("Record"))), ("NSIsAbstract", .truth(true)),
                ("NSSubentities", .object(subentities)),
                ("NSProperties", .object(writer.dictionary([]))),
            ], at: record)
        let chosen = writer.object("NSSet", [("NS.objects", .objects([order, record]))])
        let request = writer.object("NSFetchRequest", [])
        let entities = [("Order", order), ("Line", line), ("Record", record)]
        writer.object(
            "NSManagedObjectModel",
            [
                ("NSEntities", .object(writer.dictionary(entities))),
                ("NSConfigurations", .object(writer.dictionary([("Local", chosen)]))),
                ("NSFetchRequestTemplates", .object(writer.dictionary([("All", request)]))),
            ], at: model)
        return writer.archive(root: model)
    }

    @Test func `a compiled model is read`() throws {
        let reading = try ReadModel.file(Self.shop())

        let line = EntityDescription(
            name: "Line",
            relationships: [
                RelationshipDescription(
                    name: "order", destinationName: "Order", inverseName: "lines",
                    isOptional: false)
            ])
        let order = EntityDescription(
            name: "Order", superentityName: "Record",
            attributes: [
                AttributeDescription(
                    name: "amount", type: .decimal,
                    defaultValue: .decimal(Decimal(sign: .minus, exponent: -2, significand: 12345))),
                AttributeDescription(name: "blob", type: .data),
                AttributeDescription(name: "box", type: .data),
                AttributeDescription(
                    name: "code", type: .string, isOptional: false, isIndexed: true,
                    rules: AttributeRules(minimumLength: 2, maximumLength: 8, pattern: "[A-Z]+")),
                AttributeDescription(
                    name: "count", type: .int16, defaultValue: .int(1),
                    rules: AttributeRules(minimum: .int(1), maximum: .int(99))),
                AttributeDescription(name: "d", type: .double, defaultValue: .double(1.5)),
                AttributeDescription(name: "f", type: .float),
                AttributeDescription(name: "i32", type: .int32, userInfo: ["owner": "sales"]),
                AttributeDescription(name: "i64", type: .int64, renamingIdentifier: "long"),
                AttributeDescription(name: "link", type: .url),
                AttributeDescription(
                    name: "paid", type: .bool, isOptional: false, defaultValue: .bool(true)),
                AttributeDescription(name: "shown", type: .string, isTransient: true),
                AttributeDescription(
                    name: "stamp", type: .date, isOptional: false,
                    defaultValue: .date(Date(timeIntervalSinceReferenceDate: 86400.5))),
                AttributeDescription(name: "uuid", type: .uuid),
            ],
            relationships: [
                RelationshipDescription(
                    name: "lines", destinationName: "Line", inverseName: "order", isToMany: true,
                    isOrdered: true, deleteRule: .cascade)
            ], uniquenessConstraints: [["i32", "i64"]], versionHashModifier: "3")
        #expect(
            reading.model
                == ManagedObjectModel(
                    entities: [line, order, EntityDescription(name: "Record", isAbstract: true)],
                    configurations: ["Local": ["Order", "Record"]]))
        #expect(reading.classNames == ["Order": "OrderObject"])
        #expect(
            reading.remarks.map { String($0.prefix { $0 != ":" && $0 != ";" && $0 != "." }) } == [
                "A validation predicate of 'Order", "'Order", "The fetch request 'All' is left out",
                "'Order", "'Order", "'Order",
            ])
        let told = reading.remarks.joined(separator: "\n")
        for name in [
            "'Order.count' is left out", "'Order.recent' is a fetched property",
            "'Order.box' is transformable (transformer 'Zipper')", "'Order.nothing' has no type",
            "'Order.total' is derived and is left out",
        ] {
            #expect(told.contains(name), "\(told)")
        }
    }

    @Test func `a folder of compiled versions is read in its current one`() throws {
        let folder = try TemporaryDirectory()
        defer { withExtendedLifetime(folder) {} }
        var empty = ArchiveWriter()
        let entities = empty.dictionary([])
        let root = empty.object("NSManagedObjectModel", [("NSEntities", .object(entities))])
        try empty.archive(root: root).write(to: folder.url.appending(path: "Shop.mom"))
        try Self.shop().write(to: folder.url.appending(path: "Shop 2.mom"))
        let list = ["NSManagedObjectModel_CurrentVersionName": "Shop 2"]
        try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            .write(to: folder.url.appending(path: "VersionInfo.plist"))

        let file = try ModelFile(at: folder.url.path)

        #expect(file.versions.map(\.name) == ["Shop", "Shop 2"])
        #expect(file.versions.map(\.isCurrent) == [false, true])
        #expect(try file.read().model.entities.count == 3)
        #expect(try file.read(version: "Shop").model.entities.isEmpty)
    }

    // MARK: - Hostile files

    @Test func `what leads in circles is read, and what is of the wrong kind is named`() throws {
        var writer = ArchiveWriter()
        let entity = writer.room()
        let properties = writer.room()
        writer.object(
            "NSDictionary",
            [("NS.keys", .objects([writer.text("p")])), ("NS.objects", .objects([properties]))],
            at: properties)
        writer.object(
            "NSEntityDescription",
            [
                ("NSEntityName", .object(writer.text("Loop"))), ("NSSuperentity", .object(entity)),
                ("NSProperties", .object(properties)),
            ], at: entity)
        let entities = writer.dictionary([("Loop", entity)])
        let root = writer.object("NSManagedObjectModel", [("NSEntities", .object(entities))])
        let file = writer.archive(root: root)

        let problems = ReadModel.problems { try ReadModel.file(file) }

        #expect(problems.count == 1)
        #expect(
            problems[0].hasPrefix("In the entity 'Loop': The property 'p': Object ")
                && problems[0].contains("is of the class 'NSDictionary' and not"), "\(problems)")
    }

    @Test func `an archive of something else is named`() throws {
        var writer = ArchiveWriter()
        let root = writer.object("NSArray", [("NS.objects", .objects([]))])
        let file = writer.archive(root: root)
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["a": 1], format: .binary, options: 0)

        #expect(
            ReadModel.problems { try ReadModel.file(file) }
                == ["It is an archive of 'NSArray' and not of 'NSManagedObjectModel'."])
        #expect(
            ReadModel.problems { try ReadModel.file(list) }
                == ["It is a property list, but not a keyed archive with a root."])
    }

    @Test func `an object that is named over and over is refused`() throws {
        var writer = ArchiveWriter()
        let attribute = writer.object(
            "NSAttributeDescription", [("NSAttributeType", .integer(700))])
        let keys = (0..<3000).map { writer.text("p\($0)") }
        let properties = writer.object(
            "NSDictionary",
            [
                ("NS.keys", .objects(keys)),
                ("NS.objects", .objects(Array(repeating: attribute, count: 3000))),
            ])
        let entity = writer.object("NSEntityDescription", [("NSProperties", .object(properties))])
        let names = (0..<3000).map { writer.text("E\($0)") }
        let entities = writer.object(
            "NSDictionary",
            [
                ("NS.keys", .objects(names)),
                ("NS.objects", .objects(Array(repeating: entity, count: 3000))),
            ])
        let root = writer.object("NSManagedObjectModel", [("NSEntities", .object(entities))])
        let file = writer.archive(root: root)

        let problems = ReadModel.problems { try ReadModel.file(file) }

        #expect(
            problems.first?.hasSuffix(
                "It names the same objects over and over, as no model does.") == true,
            "\(problems.first ?? "")")
    }

    @Test func `every byte changed, and every end cut off, leaves a model or a sentence`() throws {
        let file = Self.shop()
        var read = 0
        for place in stride(from: 0, to: file.count, by: 41) {
            var changed = file
            changed[place] ^= UInt8(truncatingIfNeeded: 1 + place % 255)
            let problems = ReadModel.problems { try ReadModel.file(changed) }
            if problems.isEmpty { read += 1 }
            #expect(problems.allSatisfy { $0.hasSuffix(".") || $0.contains("'") }, "\(problems)")
        }
        for length in stride(from: 0, to: file.count, by: 97) {
            #expect(!ReadModel.problems { try ReadModel.file(file.prefix(length)) }.isEmpty)
        }
        #expect(read > 0)
    }
}
