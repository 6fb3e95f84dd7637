import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct ModelValidationTests {
    private static func attributes(_ attributes: AttributeDescription...) -> [EntityDescription] {
        [EntityDescription(name: "A", attributes: attributes)]
    }

    private static func relationships(
        _ a: RelationshipDescription, _ b: RelationshipDescription? = nil
    ) -> [EntityDescription] {
        [
            EntityDescription(name: "A", relationships: [a]),
            EntityDescription(name: "B", relationships: b.map { [$0] } ?? []),
        ]
    }

    private static let largeDefault =
        "The default value of 'A.x' has 65537 bytes, and a model keeps no more than 65536 of one. Leave "
        + "it out, and set the value of each new object."

    private static let mistakes: [([EntityDescription], String)] = [
        (
            [EntityDescription(name: "1A")],
            "An entity cannot be called '1A': a name is a letter, then letters, digits and "
                + "underscores."
        ),
        (
            [EntityDescription(name: "A", userInfo: ["displayProperty": "x"])],
            "The 'displayProperty' of 'A' is 'x', which is not a stored attribute of it."
        ),
        (
            [EntityDescription(name: "A"), EntityDescription(name: "A")],
            "There are two entities called 'A'."
        ),
        (
            [EntityDescription(name: "A", superentityName: "B")],
            "'A' inherits from 'B', which is not in the model."
        ),
        ([EntityDescription(name: "A", superentityName: "A")], "'A' inherits from itself."),
        (
            attributes(
                AttributeDescription(name: "x", type: .bool),
                AttributeDescription(name: "x", type: .bool)), "'A.x' is declared twice."
        ),
        (
            attributes(AttributeDescription(name: "x-y", type: .bool)),
            "'A.x-y' has no usable name: a name is a letter, then letters, digits and underscores."
        ),
        (
            attributes(
                AttributeDescription(name: "x", type: .int16, defaultValue: .int(70_000))),
            "The default value of 'A.x' does not fit: it holds 16-bit integers, from -32768 to 32767."
        ),
        (
            attributes(
                AttributeDescription(name: "x", type: .bool, defaultValue: .string("a"))),
            "The default value of 'A.x' does not fit: it holds true or false, not text."
        ),
        (
            attributes(
                AttributeDescription(
                    name: "x", type: .data, defaultValue: .data(Data(count: 65_537)))),
            largeDefault
        ),
        (
            attributes(
                AttributeDescription(
                    name: "x", type: .data,
                    defaultValue: .large(LargeData(Data(count: 65_537))))), largeDefault
        ),
        (
            attributes(
                AttributeDescription(
                    name: "x", type: .bool, isTransient: true, isIndexed: true)),
            "'A.x' is transient and so cannot be indexed or unique."
        ),
        (
            attributes(AttributeDescription(name: "x", type: .codable, isUnique: true)),
            "'A.x' holds coded values and so cannot be indexed or unique."
        ),
        (
            relationships(RelationshipDescription(name: "b", destinationName: "C")),
            "'A.b' leads to 'C', which is not in the model."
        ),
        (
            relationships(
                RelationshipDescription(name: "b", destinationName: "B", isOrdered: true)),
            "'A.b' is ordered, which only a to-many relationship can be."
        ),
        (
            relationships(
                RelationshipDescription(
                    name: "b", destinationName: "B", isToMany: true, minimumCount: 3,
                    maximumCount: 2)),
            "'A.b' has a minimum count above its maximum count."
        ),
        (
            relationships(
                RelationshipDescription(name: "b", destinationName: "B", inverseName: "a")),
            "The inverse of 'A.b' is 'B.a', which is not in the model."
        ),
        (
            relationships(
                RelationshipDescription(name: "b", destinationName: "B", inverseName: "a"),
                RelationshipDescription(name: "a", destinationName: "A")),
            "'A.b' names 'B.a' as its inverse, which names none."
        ),
        (
            relationships(
                RelationshipDescription(name: "b", destinationName: "B", inverseName: "a"),
                RelationshipDescription(name: "a", destinationName: "B", inverseName: "b")),
            "The inverse of 'A.b', 'B.a', leads to 'B' instead of 'A'. "
                + "The inverse of 'B.a' is 'B.b', which is not in the model."
        ),
        (
            relationships(
                RelationshipDescription(
                    name: "b", destinationName: "B", inverseName: "a", isToMany: true,
                    isOrdered: true),
                RelationshipDescription(
                    name: "a", destinationName: "A", inverseName: "b", isToMany: true,
                    isOrdered: true)),
            "'A.b' and its inverse cannot both be ordered. "
                + "'B.a' and its inverse cannot both be ordered."
        ),
    ]

    @Test(arguments: mistakes)
    func `every mistake in a model has its sentence`(
        entities: [EntityDescription], message: String
    ) {
        let model = ManagedObjectModel(entities: entities)

        let error = #expect(throws: ModelError.self) { try model.validate() }

        #expect(error?.description == message)
        #expect(throws: ModelError.self) { try Schema(model) }
    }

    @Test func `a property may not hide an inherited one`() {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "A", attributes: [AttributeDescription(name: "x", type: .bool)]),
            EntityDescription(
                name: "B", superentityName: "A",
                attributes: [AttributeDescription(name: "x", type: .bool)]),
        ])

        let error = #expect(throws: ModelError.self) { try model.validate() }

        #expect(error?.problems == ["'B.x' is declared twice: 'A' has it already."])
    }

    /// A chain of entities, the last of which inherits over this many levels.
    private static func chain(levels: Int) -> ManagedObjectModel {
        ManagedObjectModel(
            entities: (0...levels).map { level in
                EntityDescription(
                    name: "E\(level)", superentityName: level == 0 ? nil : "E\(level - 1)",
                    attributes: [AttributeDescription(name: "a\(level)", type: .string)])
            })
    }

    @Test func `inheritance 5,000 levels deep is refused at once, and 100 levels are not`() throws {
        let error = #expect(throws: ModelError.self) { try Self.chain(levels: 5_000).validate() }
        let justTooDeep = #expect(throws: ModelError.self) {
            try Self.chain(levels: 101).validate()
        }

        #expect(error?.problems.count == 1)
        #expect(justTooDeep?.problems == ["'E101' inherits over more than 100 levels."])
        let schema = try Schema(Self.chain(levels: 100))
        #expect(schema.entity(named: "E100")?.properties.count == 101)
    }

    @Test func `a circle of many entities is a mistake, however long`() {
        for count in [2, 50, 300] {
            let model = ManagedObjectModel(
                entities: (0..<count).map {
                    EntityDescription(name: "E\($0)", superentityName: "E\(($0 + 1) % count)")
                })
            #expect(throws: ModelError.self, "\(count)") { try model.validate() }
        }
    }

    @Test func `more than 65,535 attributes, inherited ones included, are refused`() throws {
        func attributes(_ range: Range<Int>) -> [AttributeDescription] {
            range.map { AttributeDescription(name: "a\($0)", type: .bool) }
        }
        func model(_ count: Int) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(name: "A", attributes: attributes(0..<40_000)),
                EntityDescription(
                    name: "B", superentityName: "A", attributes: attributes(40_000..<count)),
            ])
        }

        let error = #expect(throws: ModelError.self) { try model(65_536).validate() }

        #expect(
            error?.problems == [
                "'B' has 65536 properties, including those that it inherits; it can have 65535."
            ])
        try model(65_535).validate()
    }

    @Test func `a sound model has no problems`() throws {
        try Company.model.validate()
        try ManagedObjectModel().validate()
    }
}
