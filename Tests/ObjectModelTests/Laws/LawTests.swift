import Foundation
import Testing

@testable import DaybookObjectModel

/// Laws in a model: how they are read, kept, and judged on one change.
@Suite struct LawTests {
    private static let entities = [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "salary", type: .decimal),
                AttributeDescription(name: "level", type: .int16),
                AttributeDescription(name: "born", type: .date),
                AttributeDescription(name: "state", type: .string),
                AttributeDescription(name: "once", type: .bool),
                AttributeDescription(name: "nick", type: .string, isTransient: true),
            ],
            relationships: [
                RelationshipDescription(
                    name: "boss", destinationName: "Person", inverseName: "staff"),
                RelationshipDescription(
                    name: "staff", destinationName: "Person", inverseName: "boss", isToMany: true),
            ]),
        EntityDescription(name: "Clerk", superentityName: "Person"),
    ]

    private static func model(_ rules: String...) -> ManagedObjectModel {
        var model = ManagedObjectModel(entities: entities)
        model.entities[0].laws = rules.enumerated().map { LawDescription("law \($0)", $1) }
        return model
    }

    @Test(arguments: [
        "salary NEVER DECREASED", "salary NEVER DECREASED BY MORE THAN 500.5 UNLESS NOTE",
        "level never changed where state == 'sent' becoming level > 3 unless author",
        "born NEVER INCREASED", "boss NEVER CHANGED WHERE boss != NULL", "#once NEVER CHANGED",
        "ONCE once == TRUE ALWAYS", "NEVER DELETED",
        "NEVER DELETED WHERE state IN {'sent', 'paid'}",
        "name NEVER CHANGED UNLESS AUTHOR IN {'ada', 'bob'} AND NOTE OR INFO 'ticket'",
        "salary NEVER CHANGED WHERE level + 1 > 4 OR NOT name BEGINSWITH[c] 'a'",
    ])
    func `a rule that can be read is part of a valid model, of its file and its bytes`(rule: String)
        throws
    {
        let model = Self.model(rule)

        try model.validate()

        #expect(try ManagedObjectModel(json: model.json(.oneLine)) == model)
        let persistent = model.persistent.canonical
        #expect(try ManagedObjectModel(canonicalBytes: persistent.canonicalBytes) == persistent)
        #expect(model.json(.oneLine).contains(#""laws":[{"name":"law 0","rule":"#))
    }

    @Test(arguments: [
        ("", "Column 1: The rule is empty."),
        ("salary DECREASED", "Column 8: NEVER must follow the property"),
        ("salary NEVER FELL", "Column 14: CHANGED, INCREASED or DECREASED must follow NEVER"),
        ("NEVER CHANGED", "Column 7: DELETED must follow NEVER"),
        ("wage NEVER CHANGED", "wage"),
        ("name NEVER DECREASED", "compares numbers and dates"),
        ("nick NEVER CHANGED", "transient"),
        ("staff NEVER CHANGED", "kept by the objects at its other end"),
        ("boss.name NEVER CHANGED", "a property of the object itself"),
        ("salary NEVER CHANGED BY 5", "MORE THAN and a number must follow BY"),
        ("born NEVER INCREASED BY MORE THAN 5", "cannot change by an amount"),
        ("level NEVER INCREASED BY MORE THAN -5", "not less than 0"),
        ("salary NEVER CHANGED WHERE boss.name == 'x'", "what the object itself keeps"),
        ("salary NEVER CHANGED WHERE EVER level > 3", "neither other objects nor the past"),
        ("salary NEVER CHANGED WHERE ANY staff.level > 3", "what the object itself keeps"),
        ("salary NEVER CHANGED WHERE nick == 'x'", "attributes that are saved"),
        ("salary NEVER CHANGED WHERE born < now()", "the time at which it is judged"),
        ("salary NEVER CHANGED WHERE born < now:()", "the time at which it is judged"),
        ("ONCE level > 3", "ALWAYS must follow the condition of ONCE"),
        ("salary NEVER CHANGED UNLESS", "must follow UNLESS, AND and OR, not the end"),
        ("salary NEVER CHANGED UNLESS AUTHOR IN {}", "Names in braces"),
        ("salary NEVER CHANGED UNLESS AUTHOR IN {7}", "The name of an author"),
        ("salary NEVER CHANGED UNLESS INFO 'a=b'", "has '=' in it"),
        ("salary NEVER CHANGED BECOMING level > 3 WHERE level > 3", "UNLESS or the end"),
    ])
    func `a rule that cannot be read is a mistake of the model`(rule: String, said: String) {
        let error = #expect(throws: ModelError.self) { try Self.model(rule).validate() }

        #expect(error?.problems.count == 1)
        #expect(error?.description.contains("The law \"law 0\" of 'Person' cannot be read") == true)
        #expect(error?.description.contains(said) == true, "\(error?.description ?? "")")
    }

    @Test func `a law has a name of its own`() throws {
        var twice = Self.model("NEVER DELETED", "name NEVER CHANGED")
        twice.entities[0].laws[1].name = "law 0"
        var nameless = Self.model("NEVER DELETED")
        nameless.entities[0].laws[0].name = " "
        var strange = Self.model("NEVER DELETED")
        strange.entities[0].laws[0].name = "a\u{7}"
        var long = Self.model("NEVER DELETED")
        long.entities[0].laws[0].name = String(repeating: "x", count: 4097)
        long.entities[0].laws[0].rule = String(repeating: "x", count: 4097)

        var inherited = Self.model("NEVER DELETED")
        inherited.entities[1].laws = inherited.entities[0].laws
        var apart = Self.model("NEVER DELETED")
        apart.entities.append(
            EntityDescription(name: "Place", laws: [LawDescription("law 0", "NEVER DELETED")]))

        func twoLaws(_ name: String) -> ModelError {
            ModelError(["'\(name)' has two laws \"law 0\", of its own or from above it."])
        }
        #expect(throws: twoLaws("Person")) { try twice.validate() }
        #expect(throws: twoLaws("Clerk")) { try inherited.validate() }
        #expect(throws: Never.self) { try apart.validate() }
        #expect(throws: ModelError(["A law of 'Person' has no name."])) { try nameless.validate() }
        #expect(throws: ModelError.self) { try strange.validate() }
        let error = #expect(throws: ModelError.self) { try long.validate() }
        #expect(error?.problems.count == 2)
    }

    @Test func `a model without laws has the bytes that it had`() throws {
        let model = try ManagedObjectModel(json: #"{"entities":[{"name":"A","laws":[]}]}"#)

        #expect(model.canonicalBytes.first == 1)
        #expect(!model.json(.oneLine).contains("laws"))
    }

    @Test(arguments: [
        (#"{"name":"A","rule":"NEVER DELETED"}"#, "laws: a list was expected"),
        (#"[{"name":"A"}]"#, "laws[0].rule: is missing"),
        (#"[{"name":"A","law":"NEVER DELETED"}]"#, "'law' is not known here"),
    ])
    func `mistakes in a model file are told with their location`(laws: String, said: String) {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(json: #"{"entities":[{"name":"A","laws":\#(laws)}]}"#)
        }

        #expect(error?.description.contains(said) == true, "\(error?.description ?? "")")
    }

    // No law at all, not in the order of names, and the same name twice.
    @Test(
        arguments: [
            [2, 32, 1, 1, 65, 0, 0, 0, 0, 0],
            [2, 32, 1, 1, 65, 0, 0, 0, 0, 2, 1, 66, 1, 120, 1, 65, 1, 120],
            [2, 32, 1, 1, 65, 0, 0, 0, 0, 2, 1, 65, 1, 120, 1, 65, 1, 121],
        ] as [[UInt8]])
    func `only the canonical bytes are read`(bytes: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try ManagedObjectModel(canonicalBytes: bytes) }
    }

    // MARK: - Judging

    private struct Judged {
        let schema: Schema
        let law: SchemaLaw

        init(_ rule: String) throws {
            schema = try Schema(LawTests.model(rule))
            law = try #require(SchemaLaws(schema).all.first)
        }

        func values(_ given: [String: Value]) throws -> [Value] {
            let entity = try #require(schema.entity(named: "Clerk"))
            return entity.slots.map { given[$0.name] ?? .null }
        }

        /// Whether an update, or a deletion for no new values, breaks the law.
        func isBroken(_ old: [String: Value], _ new: [String: Value]?) throws -> Bool {
            let entity = try #require(schema.entity(named: "Clerk"))
            let before = try values(old)
            let object = ObjectID(entity: entity.number, number: 1)
            let change: Change
            if let new {
                let edits = entity.slots.enumerated().compactMap { slot, property -> Edit? in
                    guard let value = new[property.name] else { return nil }
                    return Edit(property: property.number, old: before[slot], new: value)
                }
                change = Change(object: object, kind: .update(edits: edits, members: []))
            } else {
                change = Change(object: object, kind: .delete(values: before, members: []))
            }
            return try law.breach(of: change, in: entity) { before } != nil
        }
    }

    private static let updates: [(String, [String: Value], [String: Value], Bool)] = [
        ("level NEVER CHANGED", ["level": .int(1)], ["level": .int(2)], true),
        ("level NEVER CHANGED", ["level": .int(1)], ["level": .null], true),
        ("level NEVER CHANGED", ["level": .int(1)], ["level": .int(1)], false),
        ("level NEVER CHANGED", ["level": .int(1)], ["name": .string("x")], false),
        ("level NEVER INCREASED", ["level": .int(1)], ["level": .int(2)], true),
        ("level NEVER INCREASED", ["level": .int(1)], ["level": .int(0)], false),
        ("level NEVER INCREASED", ["level": .null], ["level": .int(2)], false),
        ("level NEVER DECREASED", ["level": .int(1)], ["level": .int(-1)], true),
        ("level NEVER DECREASED", ["level": .int(1)], ["level": .null], false),
        ("level NEVER DECREASED BY MORE THAN 2", ["level": .int(5)], ["level": .int(3)], false),
        ("level NEVER DECREASED BY MORE THAN 2", ["level": .int(5)], ["level": .int(2)], true),
        ("level NEVER CHANGED BY MORE THAN 2", ["level": .int(2)], ["level": .int(5)], true),
        ("level NEVER CHANGED BY MORE THAN 2", ["level": .null], ["level": .int(5)], false),
        ("level NEVER INCREASED BY MORE THAN 0.5", ["level": .int(2)], ["level": .int(3)], true),
        (
            "level NEVER CHANGED WHERE state == 's'", ["level": .int(1), "state": .string("s")],
            ["level": .int(2), "state": .string("t")], true
        ),
        (
            "level NEVER CHANGED WHERE state == 's'", ["level": .int(1), "state": .string("t")],
            ["level": .int(2), "state": .string("s")], false
        ),
        (
            "state NEVER CHANGED WHERE state == 's' BECOMING state == 'd'",
            ["state": .string("s")], ["state": .string("d")], true
        ),
        (
            "state NEVER CHANGED WHERE state == 's' BECOMING state == 'd'",
            ["state": .string("s")], ["state": .string("e")], false
        ),
        ("ONCE state == 's' ALWAYS", ["state": .string("s")], ["state": .string("d")], true),
        ("ONCE state == 's' ALWAYS", ["state": .string("d")], ["state": .string("s")], false),
        (
            "ONCE level > 1 OR state == 's' ALWAYS", ["level": .int(2), "state": .string("s")],
            ["level": .int(1)], false
        ),
        (
            "ONCE level > 1 OR state == 's' ALWAYS", ["level": .int(2), "state": .string("s")],
            ["level": .int(1), "state": .null], true
        ),
    ]

    @Test(arguments: updates)
    func `an update is judged by old and new values`(
        rule: String, old: [String: Value], new: [String: Value], isBroken: Bool
    ) throws {
        #expect(try Judged(rule).isBroken(old, new) == isBroken)
        #expect(try !Judged("NEVER DELETED").isBroken(old, new))
        #expect(try !Judged(rule).isBroken(old, nil), "Only NEVER DELETED is about deletions.")
    }

    @Test func `a deletion is judged by the values that there were`() throws {
        #expect(try Judged("NEVER DELETED").isBroken([:], nil))
        let law = try Judged("NEVER DELETED WHERE state == 's'")
        #expect(try law.isBroken(["state": .string("s")], nil))
        #expect(try !law.isBroken(["state": .string("t")], nil))
    }

    @Test func `what is more than a kind of number can tell apart is more than any amount`() throws
    {
        let law = try Judged("level NEVER CHANGED BY MORE THAN 9000000000000000000")

        #expect(try law.isBroken(["level": .int(.max)], ["level": .int(.min)]))
    }

    @Test func `excuses are joined by AND and OR, and a blank text is none`() throws {
        let law = try Judged(
            "level NEVER CHANGED UNLESS AUTHOR IN {'ada', 'bob'} AND NOTE OR INFO 'ticket'"
        ).law

        #expect(law.isExcused(author: "bob", note: "why", info: [:]))
        #expect(law.isExcused(author: nil, note: nil, info: ["ticket": "7"]))
        #expect(!law.isExcused(author: "bob", note: " ", info: ["ticket": ""]))
        #expect(!law.isExcused(author: "cleo", note: "why", info: [:]))
        #expect(
            !(try Judged("level NEVER CHANGED").law.isExcused(author: "a", note: "b", info: [:])))
    }

    @Test func `a difference of models tells laws`() {
        let differences = Self.model("NEVER DELETED").differences(from: Self.model())

        #expect(
            differences == [
                "'Person' is under the law \"law 0\": NEVER DELETED, but without a law in the store."
            ])
    }

    @Test func `a name that is a word of the language is written with a sign`() {
        #expect(LawDescription.word("once") == "#once")
        #expect(LawDescription.word("all.x") == "#all.x")
        #expect(LawDescription.word("salary") == "salary")
    }
}
