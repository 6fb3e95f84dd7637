import DaybookModelFiles
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// Models of Xcode as XML. Five fixtures are written as the models of public programs are, with the
/// elements and attributes that these use; what is expected was written down from the XML by hand.
@Suite struct XMLModelTests {
    @Test func `a model with versions, as Simplenote has, is read in its current version`() throws {
        let reading = try ReadModel.fixture("Notes.xcdatamodeld")

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "Memo", superentityName: "SyncedObject",
                    attributes: [
                        AttributeDescription(
                            name: "archived", type: .bool, isOptional: false,
                            defaultValue: .bool(false)),
                        AttributeDescription(
                            name: "body", type: .string, isOptional: false,
                            renamingIdentifier: "text"),
                        AttributeDescription(
                            name: "position", type: .int32, isOptional: false,
                            defaultValue: .int(0), userInfo: ["noSync": "yes", "since": ""]),
                        AttributeDescription(name: "written", type: .date, isOptional: false),
                    ], renamingIdentifier: "Note", versionHashModifier: "second"),
                EntityDescription(
                    name: "SyncedObject", isAbstract: true,
                    attributes: [AttributeDescription(name: "remoteKey", type: .string)],
                    userInfo: ["owner": "sync"]),
                EntityDescription(
                    name: "Topic", superentityName: "SyncedObject",
                    attributes: [
                        AttributeDescription(name: "recent", type: .data),
                        AttributeDescription(name: "title", type: .string),
                    ]),
            ])
        #expect(reading.remarks.count == 1)
        #expect(reading.remarks[0].hasPrefix("'Topic.recent' is transformable; here it is data"))
    }

    @Test(arguments: ["Notes", "Notes.xcdatamodel"])
    func `another version is read by its name`(name: String) throws {
        let reading = try ReadModel.fixture("Notes.xcdatamodeld", version: name)

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "Memo",
                    attributes: [
                        AttributeDescription(name: "text", type: .string, isOptional: false)
                    ])
            ])
    }

    @Test func `the versions are listed, and one that is not there is refused with them`() throws {
        let path = Fixture.folder.appending(path: "models-from-xcode/Notes.xcdatamodeld").path
        let file = try ModelFile(at: path)

        #expect(file.versions.map(\.name) == ["Notes", "Notes 2"])
        #expect(file.versions.map(\.isCurrent) == [false, true])
        #expect(
            ReadModel.problems { try file.read(version: "Notes 3") }
                == ["'\(path)' has no version 'Notes 3'. It has 'Notes', 'Notes 2'."])
    }

    @Test func `a model with indexes and modules, as that of Wikipedia for iOS, is read`() throws {
        let reading = try ReadModel.fixture("Reading.xcdatamodel")

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "Page",
                    attributes: [
                        AttributeDescription(
                            name: "key", type: .string, isOptional: false, isIndexed: true),
                        AttributeDescription(
                            name: "latitude", type: .double, defaultValue: .double(0)),
                        AttributeDescription(name: "views", type: .data),
                        AttributeDescription(name: "visited", type: .date),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "previews", destinationName: "Shelf",
                            inverseName: "previewPages", isToMany: true),
                        RelationshipDescription(
                            name: "shelves", destinationName: "Shelf", inverseName: "pages",
                            isToMany: true),
                    ], indexes: [["visited", .descending("key")]]),
                EntityDescription(
                    name: "Shelf",
                    attributes: [
                        AttributeDescription(
                            name: "count", type: .int64, isOptional: false, defaultValue: .int(0)),
                        AttributeDescription(name: "name", type: .string, isIndexed: true),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "pages", destinationName: "Page", inverseName: "shelves",
                            isToMany: true),
                        RelationshipDescription(
                            name: "previewPages", destinationName: "Page", inverseName: "previews",
                            isToMany: true, isOrdered: true),
                    ]),
            ])
        #expect(reading.classNames == ["Page": "Page", "Shelf": "Shelf"])
        #expect(
            reading.remarks.map(\.firstPart) == [
                "'Page.views' is transformable (transformer 'SecureDictionary', class 'NSDictionary')"
            ])
    }

    @Test func `a model with inheritance and limits, as that of OpenEmu, is read`() throws {
        let reading = try ReadModel.fixture("Games.xcdatamodel")

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "AnyCollection", isAbstract: true,
                    attributes: [AttributeDescription(name: "title", type: .string)],
                    relationships: [
                        RelationshipDescription(
                            name: "folder", destinationName: "Folder", inverseName: "parts")
                    ]),
                EntityDescription(
                    name: "Folder", superentityName: "AnyCollection",
                    relationships: [
                        RelationshipDescription(
                            name: "parts", destinationName: "AnyCollection", inverseName: "folder",
                            isToMany: true, deleteRule: .cascade)
                    ]),
                EntityDescription(
                    name: "Game",
                    attributes: [
                        AttributeDescription(name: "digest", type: .data),
                        AttributeDescription(
                            name: "height", type: .float, defaultValue: .double(0)),
                        AttributeDescription(
                            name: "index", type: .int16, rules: AttributeRules(minimum: .int(0))),
                        AttributeDescription(
                            name: "rating", type: .int16, defaultValue: .int(0),
                            rules: AttributeRules(minimum: .int(0), maximum: .int(5))),
                        AttributeDescription(
                            name: "title", type: .string, isOptional: false, isIndexed: true),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "cover", destinationName: "Picture", inverseName: "Box",
                            deleteRule: .cascade)
                    ]),
                EntityDescription(
                    name: "Picture",
                    relationships: [
                        RelationshipDescription(
                            name: "Box", destinationName: "Game", inverseName: "cover")
                    ]),
                EntityDescription(
                    name: "SmartCollection", superentityName: "AnyCollection",
                    attributes: [
                        AttributeDescription(
                            name: "ascending", type: .bool, isOptional: false,
                            defaultValue: .bool(true)),
                        AttributeDescription(name: "limit", type: .int64),
                    ]),
            ])
        #expect(
            reading.classNames == [
                "Folder": "GLFolder", "Game": "GLGame", "SmartCollection": "GLSmartCollection",
            ])
        #expect(reading.remarks.isEmpty)
    }

    @Test func `a model with counts and delete rules, as that of WooCommerce, is read`() throws {
        let reading = try ReadModel.fixture("Shop.xcdatamodel")

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "Coupon",
                    attributes: [
                        AttributeDescription(name: "code", type: .string),
                        AttributeDescription(
                            name: "number", type: .int64, isOptional: false, defaultValue: .int(0)),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "order", destinationName: "Order", inverseName: "coupons",
                            isOptional: false)
                    ]),
                EntityDescription(
                    name: "Order",
                    attributes: [
                        AttributeDescription(name: "paid", type: .bool),
                        AttributeDescription(
                            name: "total", type: .decimal,
                            defaultValue: .decimal(
                                Decimal(sign: .plus, exponent: -1, significand: 1))),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "coupons", destinationName: "Coupon", inverseName: "order",
                            isToMany: true, deleteRule: .cascade, maximumCount: 3),
                        RelationshipDescription(
                            name: "related", destinationName: "Order", inverseName: "related",
                            isToMany: true, deleteRule: .noAction),
                        RelationshipDescription(
                            name: "shop", destinationName: "Site", isOptional: false),
                    ]),
                EntityDescription(
                    name: "Site", attributes: [AttributeDescription(name: "url", type: .string)],
                    relationships: [
                        RelationshipDescription(
                            name: "lines", destinationName: "Order", isToMany: true,
                            isOrdered: true, isOptional: false, deleteRule: .deny, minimumCount: 1)
                    ]),
            ])
        #expect(reading.remarks.isEmpty)
    }

    @Test func `a model whose attribute has no type, as that of Kiwix, is read`() throws {
        let reading = try ReadModel.fixture("Offline.xcdatamodel")

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "Package",
                    attributes: [
                        AttributeDescription(
                            name: "fileID", type: .uuid, isOptional: false, isUnique: true),
                        AttributeDescription(
                            name: "language", type: .string, isOptional: false,
                            defaultValue: .string("")),
                        AttributeDescription(
                            name: "name", type: .string, isOptional: false,
                            defaultValue: .string("unnamed")),
                        AttributeDescription(name: "source", type: .url),
                    ], uniquenessConstraints: [["name", "language"]])
            ])
        #expect(
            reading.remarks == [
                "'Package.attribute' has no type that could be stored and is left out. Use a property of "
                    + "the class."
            ])
    }

    @Test func `every kind of attribute is read, and what cannot be said is told by its name`()
        throws
    {
        let reading = try ReadModel.fixture("Everything.xcdatamodel")

        #expect(
            reading.model.entities == [
                EntityDescription(
                    name: "Base", isAbstract: true,
                    attributes: [
                        AttributeDescription(
                            name: "stamp", type: .date, isIndexed: true,
                            defaultValue: .date(Date(timeIntervalSinceReferenceDate: 86400.5)),
                            rules: AttributeRules(
                                minimum: .date(Date(timeIntervalSinceReferenceDate: 0)),
                                maximum: .date(Date(timeIntervalSinceReferenceDate: 978_307_200))))
                    ]),
                EntityDescription(
                    name: "Thing", superentityName: "Base",
                    attributes: [
                        AttributeDescription(
                            name: "big", type: .int64, defaultValue: .int(.min),
                            rules: AttributeRules(minimum: .int(.min))),
                        AttributeDescription(name: "blob", type: .data),
                        AttributeDescription(
                            name: "code", type: .string, isOptional: false,
                            defaultValue: .string("x"),
                            rules: AttributeRules(
                                minimumLength: 2, maximumLength: 8, pattern: "[A-Z]+")),
                        AttributeDescription(name: "flag", type: .bool, defaultValue: .bool(true)),
                        AttributeDescription(
                            name: "half", type: .float, defaultValue: .double(Double(Float(0.1))),
                            rules: AttributeRules(maximum: .double(Double(Float(0.3))))),
                        AttributeDescription(
                            name: "identifier", type: .uuid, isOptional: false, isUnique: true),
                        AttributeDescription(
                            name: "link", type: .url,
                            defaultValue: .string("https://example.org/a?b=c&d")),
                        AttributeDescription(
                            name: "middle", type: .int32, defaultValue: .int(2_147_483_647)),
                        AttributeDescription(
                            name: "number", type: .double,
                            rules: AttributeRules(minimum: .double(-1.5))),
                        AttributeDescription(
                            name: "price", type: .decimal,
                            defaultValue: .decimal(
                                try #require(Decimal(string: "12345678901234567890.123"))),
                            rules: AttributeRules(
                                minimum: .decimal(
                                    Decimal(sign: .plus, exponent: -2, significand: 1)))),
                        AttributeDescription(name: "shown", type: .string, isTransient: true),
                        AttributeDescription(
                            name: "small", type: .int16, isOptional: false, defaultValue: .int(7)),
                    ],
                    relationships: [
                        RelationshipDescription(
                            name: "first", destinationName: "Thing", inverseName: "second",
                            isToMany: true, isOrdered: true),
                        RelationshipDescription(name: "fleeting", destinationName: "Thing"),
                        RelationshipDescription(
                            name: "second", destinationName: "Thing", inverseName: "first",
                            isToMany: true),
                    ], indexes: [["big", "small"]]),
            ])
        #expect(reading.model.configurations == ["Local": ["Base", "Thing"]])
        #expect(
            reading.remarks.map(\.firstPart) == [
                "'Thing.recent' is a fetched property and is left out",
                "The fetch request 'AllThings' is left out",
                "'Thing.address' is a composite attribute and is left out",
                "'Thing.anything' has no type that could be stored and is left out. Use a property of "
                    + "the class.",
                "'Thing.blob' may be kept in a file beside the store",
                "'Thing.fleeting' is a transient relationship",
                "'Thing.ratio' is derived from 'others', which is not a relationship of 'Thing'. It is left "
                    + "out",
                "The uniqueness constraint on 'first' of 'Thing' is left out",
                "The index 'byPlace' of 'Thing' is left out",
                "The index 'byLowerCode' of 'Thing' is left out",
                "The index 'byShown' of 'Thing' is left out",
                "'Thing.identifier' is unique and has a default value, which only one object could keep",
                "'Thing.first' and its inverse 'Thing.second' are both ordered",
            ])
    }

    @Test(arguments: [
        "Notes.xcdatamodeld", "Reading.xcdatamodel", "Games.xcdatamodel", "Shop.xcdatamodel",
        "Offline.xcdatamodel", "Everything.xcdatamodel",
    ])
    func `a model that is read compiles and comes back from its JSON`(name: String) throws {
        let model = try ReadModel.fixture(name).model

        #expect(try ManagedObjectModel(json: model.json(.pretty)) == model)
        _ = try Schema(model)
    }
}

extension String {
    /// The sentence before what it says of the remedy or of the difference.
    fileprivate var firstPart: String {
        let end = firstIndex { $0 == ":" || $0 == ";" } ?? endIndex
        return String(self[..<end])
    }
}
