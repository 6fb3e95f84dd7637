import DaybookJournalLog
import DaybookObjectModel
import DaybookSQLite
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookAudit

/// Changes as JSON Patch and as SQL.
@Suite struct DifferenceFormTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Thing",
            attributes: [
                AttributeDescription(name: "ID", type: .string),
                AttributeDescription(name: "amount", type: .double),
                AttributeDescription(name: "bytes", type: .data),
                AttributeDescription(name: "settings", type: .codable),
                AttributeDescription(name: "price", type: .decimal),
            ],
            relationships: [
                RelationshipDescription(
                    name: "parts", destinationName: "Thing", isToMany: true, isOrdered: true),
                RelationshipDescription(name: "friends", destinationName: "Thing", isToMany: true),
                RelationshipDescription(name: "next", destinationName: "Thing"),
            ])
    ])

    private let schema: Schema
    private let entity: SchemaEntity
    private let thing: ObjectID

    init() throws {
        schema = try Schema(Self.model)
        entity = try #require(schema.entity(named: "Thing"))
        thing = ObjectID(entity: entity.number, number: 7)
    }

    private func other(_ number: UInt64) -> ObjectID {
        ObjectID(entity: entity.number, number: number)
    }

    private func property(_ name: String) throws -> PropertyNumber {
        try #require(entity.property(named: name)).number
    }

    private func insert(_ values: [String: Value]) throws -> Change {
        var all = [Value](repeating: .null, count: entity.storedSlotCount)
        for (name, value) in values {
            all[try #require(entity.property(named: name)?.slot)] = value
        }
        return Change(
            object: thing,
            kind: .insert(
                values: all,
                members: [
                    MembershipEdit(
                        property: try property("parts"),
                        added: [Member(object: other(3), order: 1.5)])
                ]))
    }

    private func patch(_ change: Change) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            JSONPatch.append(operations: AuditChange(change, in: schema), of: entity, to: &writer)
        }
        return writer.text
    }

    private func statements(_ change: Change) -> [String] {
        SQLText(schema).statements(for: AuditChange(change, in: schema), of: entity)
    }

    @Test func `an insert adds everything, what has no value included`() throws {
        let change = try insert(["ID": .string("x"), "next": .object(other(9))])

        #expect(
            patch(change) == #"[{"op":"add","path":"/Thing/7","value":"#
                + #"{"ID":"x","amount":null,"bytes":null,"friends":{},"next":"Thing/9","#
                + #""parts":{"Thing/3":1.5},"price":null,"settings":null}}]"#)
    }

    @Test func `a delete tests all of the object before it goes`() throws {
        let change = try insert(["ID": .string("x")]).inverse

        #expect(
            patch(change) == #"[{"op":"test","path":"/Thing/7","value":"#
                + #"{"ID":"x","amount":null,"bytes":null,"friends":{},"next":null,"#
                + #""parts":{"Thing/3":1.5},"price":null,"settings":null}},"#
                + #"{"op":"remove","path":"/Thing/7"}]"#)
    }

    @Test func `an update tests each old value, null as well`() throws {
        let change = Change(
            object: thing,
            kind: .update(
                edits: [Edit(property: try property("ID"), old: .null, new: .string("a/b~"))],
                members: [
                    MembershipEdit(
                        property: try property("parts"),
                        added: [
                            Member(object: other(3), order: 2), Member(object: other(4), order: 9),
                        ],
                        removed: [
                            Member(object: other(3), order: 1), Member(object: other(5), order: 3),
                        ]),
                    MembershipEdit(
                        property: try property("friends"), added: [Member(object: other(8))]),
                ]))

        #expect(
            patch(change) == #"[{"op":"test","path":"/Thing/7/ID","value":null},"#
                + #"{"op":"replace","path":"/Thing/7/ID","value":"a/b~"},"#
                + #"{"op":"test","path":"/Thing/7/parts/Thing~13","value":1.0},"#
                + #"{"op":"test","path":"/Thing/7/parts/Thing~15","value":3.0},"#
                + #"{"op":"remove","path":"/Thing/7/parts/Thing~15"},"#
                + #"{"op":"add","path":"/Thing/7/parts/Thing~13","value":2.0},"#
                + #"{"op":"add","path":"/Thing/7/parts/Thing~14","value":9.0},"#
                + #"{"op":"add","path":"/Thing/7/friends/Thing~18","value":true}]"#)
    }

    @Test(
        arguments: [
            ("plain", "plain"), ("a/b", "a~1b"), ("a~b", "a~0b"), ("~1", "~01"), ("/~", "~1~0"),
            ("", ""), ("~\u{301}/\u{200D}", "~0\u{301}~1\u{200D}"),
        ])
    func `a name is escaped for a pointer`(name: String, expected: String) {
        #expect(JSONPatch.escaped(name) == expected)
    }

    @Test func `what is left out is in no document`() throws {
        let redaction = try Confidentiality(.omit, properties: ["Thing.ID", "Thing.parts"])
            .resolved(in: ModelHistory(schema), schema)
        let change = try insert(["ID": .string("secret"), "amount": .double(1)])
        var writer = JSONWriter()

        JSONPatch.append(
            operations: AuditChange(change, in: schema, redaction), of: entity, redaction,
            to: &writer)

        #expect(
            writer.text == #"{"op":"add","path":"/Thing/7","value":"#
                + #"{"amount":1.0,"bytes":null,"friends":{},"next":null,"price":null,"#
                + #""settings":null}}"#)
    }

    // MARK: - SQL

    @Test func `the header names the tables, and a column called ID keeps its name`() {
        let numbers = #""ID" TEXT, "amount" REAL, "bytes" BLOB, "next" INTEGER, "price" TEXT"#
        let links = "(owner INTEGER, member INTEGER, position REAL, PRIMARY KEY (owner, member));"

        #expect(
            SQLText(schema).header() == [
                "-- For these tables:",
                "-- CREATE TABLE \"Thing\" (\"object\" INTEGER PRIMARY KEY, \(numbers), "
                    + "\"settings\" TEXT);",
                "-- CREATE TABLE \"Thing_friends\" \(links)",
                "-- CREATE TABLE \"Thing_parts\" \(links)",
            ])
    }

    @Test(
        arguments: [
            ("ID", Value.string("it's"), "'it''s'"), ("ID", .string(""), "''"),
            ("ID", .string("a\0é"), "CAST(X'6100C3A9' AS TEXT)"),
            ("ID", .string("a\n--"), "'a\n--'"), ("amount", .double(-0.5), "-0.5"),
            ("amount", .double(.infinity), "9e999"), ("amount", .double(-.infinity), "-9e999"),
            ("amount", .double(.nan), "'NaN'"), ("bytes", .data(Data([0, 10, 255])), "X'000AFF'"),
            ("bytes", .data(Data()), "X''"),
            ("settings", .data(Data(#"{"a":"b'c"}"#.utf8)), #"'{"a":"b''c"}'"#),
            ("price", .decimal(Decimal(string: "-12.50") ?? 0), "'-12.5'"),
            ("next", .object(ObjectID(entity: EntityNumber(rawValue: 1), number: 12)), "12"),
        ])
    func `a value is a literal that SQLite reads as the same`(
        name: String, value: Value, literal: String
    ) throws {
        let edit = Edit(property: try property(name), old: .null, new: value)
        let change = Change(object: thing, kind: .update(edits: [edit], members: []))

        #expect(
            statements(change) == [
                #"UPDATE "Thing" SET "\#(name)" = \#(literal) WHERE "object" = 7 "#
                    + #"AND "\#(name)" IS NULL;"#
            ])
        #expect(
            statements(change.inverse) == [
                #"UPDATE "Thing" SET "\#(name)" = NULL WHERE "object" = 7 "#
                    + #"AND "\#(name)" IS \#(literal);"#
            ])
    }

    @Test func `B15 hidden characters are named by number and make the same value`() throws {
        let hidden = [0x1B, 0x7, 0xD, 0x7F, 0x85, 0x9B, 0x200F, 0x202E, 0x2066, 0]
            .compactMap { Unicode.Scalar(UInt32($0)) }
        let texts =
            hidden.flatMap { ["\($0)", "a\($0)'b", "\($0)\($0)x\n\ty"] } + [
                String(repeating: "\u{1B}x'", count: 5000), "\u{1B}\u{0}", "\n\t",
            ]
        let database = try Connection(path: ":memory:")
        for line in SQLText(schema).header().dropFirst() {
            try database.run(String(line.dropFirst(3)))
        }

        for text in texts {
            let change = try insert(["ID": .string(text)])
            let added = statements(change)
            for statement in added { try database.run(statement) }
            let kept = try database.statement("SELECT \"ID\" FROM \"Thing\"").rows()
            for statement in statements(change.inverse) { try database.run(statement) }
            let left = try database.statement("SELECT \"ID\" FROM \"Thing\"").rows()

            #expect(kept == [[.text(text)]], "\(added)")
            #expect(left.isEmpty)
            #expect(
                !added.joined().unicodeScalars.contains {
                    $0.isHidden && $0 != "\n" && $0 != "\t"
                })
        }
    }

    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}"])
    func `a quotation mark before a sign that joins it does not end the text`(sign: String) throws {
        let database = try Connection(path: ":memory:")
        for line in SQLText(schema).header().dropFirst() {
            try database.run(String(line.dropFirst(3)))
        }
        let text = "x'\(sign)); DELETE FROM \"Thing\"; --"

        for statement in statements(try insert(["ID": .string(text)])) {
            try database.run(statement)
        }

        let kept = try database.statement("SELECT \"ID\" FROM \"Thing\"").rows()
        #expect(kept == [[.text(text)]])
    }

    @Test func `names that SQLite takes for one get numbers, and nothing is lost`() throws {
        let texts = ["name", "Name", "NAME_2"].map {
            AttributeDescription(name: $0, type: .string)
        }
        let lists = ["tags", "Tags"].map {
            RelationshipDescription(name: $0, destinationName: "item", isToMany: true)
        }
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(name: "Item", attributes: texts, relationships: lists),
                EntityDescription(name: "item", attributes: texts),
                EntityDescription(name: "Item_tags", attributes: texts),
            ]))
        let database = try Connection(path: ":memory:")
        let text = SQLText(schema)
        for line in text.header().dropFirst() { try database.run(String(line.dropFirst(3))) }

        for entity in schema.entities {
            let values = entity.slots.map { Value.string("\(entity.name).\($0.name)") }
            let members = entity.storedToMany.enumerated().map { place, property in
                MembershipEdit(
                    property: property.number,
                    added: [Member(object: other(UInt64(place)), order: 1)])
            }
            let change = Change(
                object: ObjectID(entity: entity.number, number: 7),
                kind: .insert(values: values, members: members))
            for statement in text.statements(for: AuditChange(change, in: schema), of: entity) {
                try database.run(statement)
            }
        }

        let tables = try database.statement("SELECT name FROM sqlite_schema WHERE sql IS NOT NULL")
            .rows().map { row in try #require(row[0].string) }
        var found: Set<String> = []
        var links: Set<[SQLiteValue]> = []
        for table in tables {
            for row in try database.statement("SELECT * FROM \"\(table)\"").rows() {
                if row.count == 3 {
                    links.insert(row)
                } else {
                    found.formUnion(row.compactMap(\.string))
                }
            }
        }
        #expect(tables.count == 5)
        #expect(tables.contains("Item") && tables.contains("Item_tags"), "\(tables)")
        #expect(Set(tables.map { $0.lowercased() }).count == 5)
        #expect(
            links == [[.integer(7), .integer(0), .real(1)], [.integer(7), .integer(1), .real(1)]])
        let expected = ["Item", "item", "Item_tags"].flatMap { entity in
            ["name", "Name", "NAME_2"].map { "\(entity).\($0)" }
        }
        #expect(found == Set(expected))
    }

    @Test func `a name that nobody else has stays, though another gets a number`() throws {
        let columns = ["Name", "name", "name_2"].map {
            AttributeDescription(name: $0, type: .string)
        }
        let schema = try Schema(
            ManagedObjectModel(
                entities: ["Item", "item", "item_2"].map {
                    EntityDescription(name: $0, attributes: columns)
                }))

        let tables = SQLText(schema).header().dropFirst()

        for name in ["Item", "item_2", "item_3"] {
            #expect(tables.contains { $0.hasPrefix("-- CREATE TABLE \"\(name)\" ") }, "\(tables)")
        }
        #expect(
            tables.allSatisfy {
                $0.hasSuffix("\"Name\" TEXT, \"name_3\" TEXT, \"name_2\" TEXT);")
            }, "\(tables)")
    }

    @Test func `inserts and deletes take their links along`() throws {
        let change = try insert(["ID": .string("x")])

        #expect(
            statements(change) == [
                #"INSERT INTO "Thing" ("object", "ID") VALUES (7, 'x');"#,
                #"INSERT INTO "Thing_parts" (owner, member, position) VALUES (7, 3, 1.5);"#,
            ])
        #expect(
            statements(change.inverse) == [
                #"DELETE FROM "Thing_parts" WHERE owner = 7 AND member = 3;"#,
                #"DELETE FROM "Thing" WHERE "object" = 7 AND "ID" IS 'x';"#,
            ])
    }
}

extension SQLiteValue {
    fileprivate var string: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
