import Testing

@testable import DaybookObjectModel

/// The steps from one version to the next: what they are called, whether an older program goes along,
/// and what they demand of the objects.
@Suite struct ModelStepTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: ModelStep.Kind
        let isCompatible: Bool
        let check: Check
        let title: String
        let before: [EntityDescription]
        let after: [EntityDescription]

        enum Check: Sendable {
            case none, values, unique, counts, exclusive, noObjects, noReferences, content
        }

        var testDescription: String { "\(kind.rawValue): \(title)" }

        init(
            _ kind: ModelStep.Kind, _ title: String, isCompatible: Bool,
            checking check: Check = .none,
            _ before: [EntityDescription], _ after: [EntityDescription]
        ) {
            (self.kind, self.title, self.isCompatible) = (kind, title, isCompatible)
            (self.check, self.before, self.after) = (check, before, after)
        }

        /// A step of the attribute 'A.x'.
        init(
            _ kind: ModelStep.Kind, _ title: String, isCompatible: Bool,
            checking check: Check = .none,
            _ before: AttributeDescription?, _ after: AttributeDescription?
        ) {
            func entities(_ attribute: AttributeDescription?) -> [EntityDescription] {
                [entity("A", attribute.map { [$0] } ?? [])]
            }
            self.init(
                kind, title, isCompatible: isCompatible, checking: check, entities(before),
                entities(after))
        }

        /// A step of the relationship 'A.r', which leads to 'B'.
        init(
            _ kind: ModelStep.Kind, _ title: String, isCompatible: Bool,
            checking check: Check = .none,
            _ before: RelationshipDescription?, _ after: RelationshipDescription?
        ) {
            func entities(_ relationship: RelationshipDescription?) -> [EntityDescription] {
                [entity("A", to: relationship.map { [$0] } ?? []), entity("B"), entity("C")]
            }
            self.init(
                kind, title, isCompatible: isCompatible, checking: check, entities(before),
                entities(after))
        }
    }

    private static func confidential(_ attribute: AttributeDescription) -> AttributeDescription {
        var copy = attribute
        copy.isConfidential = true
        return copy
    }

    private static func merging(_ attribute: AttributeDescription) -> AttributeDescription {
        var copy = attribute
        copy.merge = .sum
        return copy
    }

    private static func annotated(_ attribute: AttributeDescription) -> AttributeDescription {
        var copy = attribute
        copy.userInfo = ["a": "b"]
        return copy
    }

    private static let least = AttributeRules(minimum: .int(1))

    static let entityCases: [Case] = [
        Case(
            .addEntity, "a new one", isCompatible: true, [entity("A")], [entity("A"), entity("B")]),
        Case(
            .addEntity, "a kind of an old one", isCompatible: false, [entity("A")],
            [entity("A"), entity("B", under: "A")]),
        Case(
            .removeEntity, "one of two", isCompatible: false, [entity("A"), entity("B")],
            [entity("A")]),
        Case(
            .renameEntity, "by its identifier", isCompatible: true, [entity("A")],
            [entity("B", was: "A")]),
        Case(
            .changeSuperentity, "to one", isCompatible: false, checking: .noReferences,
            [entity("A"), entity("B")],
            [entity("A"), entity("B", under: "A")]),
        Case(
            .changeSuperentity, "to none", isCompatible: false, checking: .noReferences,
            [entity("A"), entity("B", under: "A")], [entity("A"), entity("B")]),
        Case(
            .changeAbstract, "to abstract", isCompatible: false, checking: .noObjects,
            [entity("A")],
            [entity("A", abstract: true)]),
        Case(
            .changeAbstract, "to concrete", isCompatible: false, [entity("A", abstract: true)],
            [entity("A")]),
        Case(
            .addConstraint, "of two", isCompatible: false, checking: .unique,
            [entity("A", [attribute("x"), attribute("y")])],
            [entity("A", [attribute("x"), attribute("y")], unique: [["x", "y"]])]),
        Case(
            .dropConstraint, "of two", isCompatible: true,
            [entity("A", [attribute("x"), attribute("y")], unique: [["x", "y"]])],
            [entity("A", [attribute("x"), attribute("y")])]),
    ]

    static let attributeCases: [Case] = [
        Case(.addProperty, "optional", isCompatible: true, nil, attribute("x")),
        Case(
            .addProperty, "with a default", isCompatible: true, nil,
            attribute("x", .int64, required: true, default: .int(1))),
        Case(
            .addProperty, "required", isCompatible: false, checking: .values, nil,
            attribute("x", required: true)),
        Case(.removeProperty, "an attribute", isCompatible: false, attribute("x"), nil),
        Case(
            .renameProperty, "an attribute", isCompatible: true, attribute("x"),
            attribute("y", was: "x")),
        Case(
            .convert, "a number to text", isCompatible: false, checking: .values,
            attribute("x", .int64),
            attribute("x", .string)),
        Case(
            .changeType, "wider", isCompatible: false, attribute("x", .int16),
            attribute("x", .int64)),
        Case(
            .changeType, "narrower", isCompatible: false, checking: .values,
            attribute("x", .double),
            attribute("x", .float)),
        Case(
            .makeOptional, "an attribute", isCompatible: true, attribute("x", required: true),
            attribute("x")),
        Case(
            .makeRequired, "an attribute", isCompatible: false, checking: .values, attribute("x"),
            attribute("x", required: true)),
        Case(
            .changeDefault, "to another", isCompatible: true, attribute("x", default: .string("a")),
            attribute("x", default: .string("b"))),
        Case(
            .changeRules, "wider", isCompatible: true, attribute("x", .int64, rules: least),
            attribute("x", .int64)),
        Case(
            .changeRules, "tighter", isCompatible: false, checking: .values, attribute("x", .int64),
            attribute("x", .int64, rules: least)),
        Case(
            .addIndex, "an index", isCompatible: true, attribute("x"), attribute("x", indexed: true)
        ),
        Case(
            .dropIndex, "an index", isCompatible: true, attribute("x", indexed: true),
            attribute("x")),
        Case(
            .addUnique, "unique", isCompatible: false, checking: .unique, attribute("x"),
            attribute("x", unique: true)),
        Case(
            .dropUnique, "unique no more", isCompatible: true, attribute("x", unique: true),
            attribute("x")),
        Case(
            .changeConfidential, "confidential", isCompatible: true, attribute("x"),
            confidential(attribute("x"))),
        Case(
            .changeConfidential, "confidential no more", isCompatible: false,
            confidential(attribute("x")), attribute("x")),
        Case(
            .changeMerge, "a sum", isCompatible: false, attribute("x", .int64),
            merging(attribute("x", .int64))),
        Case(
            .annotate, "with user info", isCompatible: true, attribute("x"),
            annotated(attribute("x"))),
    ]

    static let relationshipCases: [Case] = [
        Case(.addProperty, "to one", isCompatible: true, nil, relationship("r", "B")),
        Case(
            .addProperty, "to one at least", isCompatible: false, checking: .counts, nil,
            relationship("r", "B", required: true)),
        Case(
            .removeProperty, "to many", isCompatible: false, relationship("r", "B", many: true), nil
        ),
        Case(
            .renameProperty, "to many", isCompatible: true, relationship("r", "B", many: true),
            relationship("s", "B", was: "r", many: true)),
        Case(
            .changeDestination, "to another", isCompatible: false, checking: .counts,
            relationship("r", "B"),
            relationship("r", "C")),
        Case(
            .changeDeleteRule, "to cascade", isCompatible: false, relationship("r", "B"),
            relationship("r", "B", rule: .cascade)),
        Case(
            .makeRequired, "to one", isCompatible: false, checking: .counts, relationship("r", "B"),
            relationship("r", "B", required: true)),
        Case(
            .makeOptional, "to one", isCompatible: true, relationship("r", "B", required: true),
            relationship("r", "B")),
        Case(
            .changeCounts, "wider", isCompatible: true,
            relationship("r", "B", many: true, counts: 1...2),
            relationship("r", "B", many: true, counts: 0...3)),
        Case(
            .changeCounts, "tighter", isCompatible: false, checking: .counts,
            relationship("r", "B", many: true),
            relationship("r", "B", many: true, counts: 0...3)),
        Case(
            .changeCardinality, "to many", isCompatible: false, checking: .content,
            relationship("r", "B"), relationship("r", "B", many: true)),
        Case(
            .changeCardinality, "to one", isCompatible: false, checking: .content,
            relationship("r", "B", ordered: true), relationship("r", "B")),
        Case(
            .changeCardinality, "an order", isCompatible: false, checking: .content,
            relationship("r", "B", many: true), relationship("r", "B", ordered: true)),
    ]

    @Test(arguments: entityCases + attributeCases + relationshipCases)
    func `a single change is one step of its kind`(_ example: Case) throws {
        let before = try ModelVersion(first: ManagedObjectModel(entities: example.before))

        let after = try before.evolved(to: ManagedObjectModel(entities: example.after), in: 2)
        let steps = Schema(after).steps(from: Schema(before))

        #expect(steps.map(\.kind) == [example.kind])
        let step = try #require(steps.first)
        #expect(step.isCompatible == example.isCompatible)
        let check: Case.Check =
            switch step.check {
            case nil: .none
            case .values: .values
            case .unique: .unique
            case .counts: .counts
            case .noObjects: .noObjects
            case .noReferences: .noReferences
            case .exclusive: .exclusive
            case .content: .content
            }
        #expect(check == example.check)
        #expect(!step.description.isEmpty)
    }

    @Test func `every kind of step has been tried`() {
        let tried = Set(
            (Self.entityCases + Self.attributeCases + Self.relationshipCases).map(\.kind))

        // The inverse takes two relationships, a move two entities, a custom stage no other model, a
        // derivation values to derive from, and requirements are of the whole model, a law may be put in other
        // words: they have tests of their own.
        #expect(
            Set(ModelStep.Kind.allCases).subtracting(tried)
                == [
                    .changeInverse, .moveProperty, .customStage, .changeDerivation,
                    .changeRequirements, .changeLaws,
                ])
    }

    @Test func `a custom stage is a step of its own, and so is taking it back`() throws {
        let before = try ModelVersion(first: model(entity("A")))
        let after = before.staged("One to Two", in: 3)
        let back = after.reverted(to: before)

        let steps = Schema(after).steps(from: Schema(before))
        let backwards = Schema(back).steps(from: Schema(after))

        #expect(steps.map(\.kind) == [.customStage])
        #expect(steps.map(\.description) == ["run the custom stage 'One to Two'"])
        #expect(backwards.map(\.description) == ["take back the custom stage 'One to Two'"])
        #expect((steps + backwards).allSatisfy { !$0.isCompatible })
        #expect(Schema(back).steps(from: Schema(before)).isEmpty)
    }

    @Test func `requiring more is compatible, and requiring less must be asked for`() throws {
        var before = model(entity("A"))
        before.requires = [.author, .info("device")]
        var after = before
        after.requires = [.author, .note, .info("request")]
        let version = try ModelVersion(first: before)

        let steps = Schema(try version.evolved(to: after, in: 2)).steps(from: Schema(version))

        #expect(
            steps.map(\.description) == [
                "no longer require the information \"device\" of every entry",
                "require a note of every entry",
                "require the information \"request\" of every entry",
            ])
        #expect(steps.map(\.isCompatible) == [false, true, true])
        #expect(steps.allSatisfy { $0.kind == .changeRequirements })
    }

    @Test func `a new law is compatible, and what ends or changes one must be asked for`() throws {
        var before = model(entity("A", [attribute("n", .int64), attribute("m", .int64)]))
        before.entities[0].laws = [
            LawDescription("dropped", "NEVER DELETED"), LawDescription("other", "n NEVER CHANGED"),
            LawDescription("same", "m NEVER INCREASED"),
        ]
        var after = before
        after.entities[0].laws = [
            LawDescription("added", "NEVER DELETED UNLESS NOTE"),
            LawDescription("other", "n NEVER CHANGED UNLESS NOTE"),
            LawDescription("same", "m  never increased"),
        ]
        let version = try ModelVersion(first: before)

        let steps = Schema(try version.evolved(to: after, in: 2)).steps(from: Schema(version))

        #expect(
            steps.map(\.description) == [
                "drop the law \"dropped\" of 'A'",
                "hold 'A' to the law \"added\": NEVER DELETED UNLESS NOTE",
                "change the law \"other\" of 'A' to: n NEVER CHANGED UNLESS NOTE",
                "put the law \"same\" of 'A' as: m  never increased",
            ])
        #expect(steps.map(\.isCompatible) == [false, true, false, true])
        #expect(steps.allSatisfy { $0.kind == .changeLaws })
    }

    @Test func `a law goes with a renamed property, and not with another of its name`() throws {
        var before = model(entity("A", [attribute("n", .int64), attribute("m", .int64)]))
        before.entities[0].laws = [LawDescription("law", "n NEVER CHANGED")]
        var renamed = model(
            entity("A", [attribute("o", .int64, was: "n"), attribute("m", .int64)]))
        renamed.entities[0].laws = [LawDescription("law", "o NEVER CHANGED")]
        var named = model(
            entity("A", [attribute("o", .int64), attribute("n", .int64, was: "m")]))
        named.entities[0].laws = before.entities[0].laws
        let version = try ModelVersion(first: before)
        let second = try version.evolved(to: renamed, in: 2)
        let third = try second.evolved(to: named, in: 3)
        func lawSteps(to version: ModelVersion, from old: ModelVersion) -> [Bool] {
            Schema(version).steps(from: Schema(old)).filter { $0.kind == .changeLaws }
                .map(\.isCompatible)
        }

        #expect(lawSteps(to: second, from: version) == [true])
        #expect(lawSteps(to: third, from: version) == [false])
    }

    @Test func `another inverse is told at both ends`() throws {
        let apart = model(
            entity("A", to: [relationship("b", "B")]),
            entity("B", to: [relationship("as", "A", many: true)]))
        let joined = model(
            entity("A", to: [relationship("b", "B", inverse: "as")]),
            entity("B", to: [relationship("as", "A", inverse: "b", many: true)]))
        let together = try ModelVersion(first: joined)
        let separate = try ModelVersion(first: apart)

        // Both have objects, and those of one would be lost.
        #expect(throws: ModelError.self) { try separate.evolved(to: joined, in: 2) }
        let after = try together.evolved(to: apart, in: 2)
        #expect(
            Schema(after).steps(from: Schema(together)).map(\.description) == [
                "leave 'A.b' without an inverse", "leave 'B.as' without an inverse",
            ])
    }

    @Test func `an attribute that moves up is a step, as is one that moves down`() throws {
        let below = model(
            entity("A"), entity("B", under: "A", [attribute("x")]), entity("C", under: "A"))
        let above = model(
            entity("A", [attribute("x")]), entity("B", under: "A"), entity("C", under: "A"))
        let (low, high) = (try ModelVersion(first: below), try ModelVersion(first: above))

        let up = Schema(try low.evolved(to: above, in: 2)).steps(from: Schema(low))
        let down = Schema(try high.evolved(to: below, in: 2)).steps(from: Schema(high))

        #expect(!up.isEmpty)
        #expect(down.contains { !$0.isCompatible }, "'C' loses its values")
    }

    @Test func `an inverse that is new is a step of the other end`() throws {
        let before = try ModelVersion(
            first: model(entity("A", to: [relationship("b", "B")]), entity("B")))

        let after = try before.evolved(
            to: model(
                entity("A", to: [relationship("b", "B", inverse: "as")]),
                entity("B", to: [relationship("as", "A", inverse: "b", many: true)])), in: 2)

        let steps = Schema(after).steps(from: Schema(before))
        #expect(steps.map(\.kind) == [.changeInverse, .addProperty])
        #expect(steps.allSatisfy { $0.isCompatible })
    }

    @Test func `several changes are told in the order of entities and properties`() throws {
        let before = try ModelVersion(
            first: model(entity("A", [attribute("x"), attribute("y")]), entity("B")))

        let after = try before.evolved(
            to: model(
                entity(
                    "A2", was: "A", [attribute("z", was: "x", indexed: true, default: .string(""))]),
                entity("C", [attribute("k", unique: true)])), in: 2)

        let steps = Schema(after).steps(from: Schema(before))
        #expect(
            steps.map(\.description) == [
                "remove entity 'B'", "rename entity 'A' to 'A2'", "remove attribute 'A2.y'",
                "rename 'A2.x' to 'A2.z'", "let 'A2.z' start with \(Value.string(""))",
                "index 'A2.z'", "add entity 'C'",
            ])
    }

    @Test(arguments: [AttributeType.string, .int64])
    func
        `an attribute that moves up from several entities, or as another type, is a move to be checked`(
            type: AttributeType
        ) throws
    {
        let before = try ModelVersion(
            first: model(
                entity("A"), entity("B", under: "A", [attribute("x")]),
                entity("C", under: "A", type == .string ? [attribute("x")] : [])))
        let after = try before.evolved(
            to: model(
                entity("A", [attribute("x", type)]), entity("B", under: "A"),
                entity("C", under: "A")), in: 2)

        let steps = Schema(after).steps(from: Schema(before))

        #expect(steps.map(\.kind) == [.moveProperty])
        #expect(steps.map(\.isCompatible) == [false])
        #expect(
            steps.map(\.description) == [
                type == .string
                    ? "move 'B.x' and 'C.x' to 'A.x'" : "move 'B.x' of type string to 'A.x'"
            ])
        let number = try #require(after.entity(named: "A")?.properties["x"])
        let owner = try #require(after.entity(named: "A")?.number)
        #expect(steps.first?.check == .values(owner, number))
    }
}
