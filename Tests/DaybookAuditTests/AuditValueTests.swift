import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The values of records as Swift types, and the descriptions of records.
@Suite struct AuditValueTests {
    private enum Grade: String {
        case junior, senior
    }

    private struct Point: Codable, Equatable {
        var x: Int
    }

    private static let day = Date(timeIntervalSince1970: 1_000_000_000.25)
    private static let identifier = UUID(uuidString: "00000000-0000-0000-0000-00000000002A")

    private static let attributes: [(name: String, type: AttributeType, value: Value)] = [
        ("bool", .bool, .bool(true)), ("code", .codable, .data(Data(#"{"x":1}"#.utf8))),
        ("data", .data, .data(Data([1, 2]))), ("date", .date, .date(day)),
        ("decimal", .decimal, .decimal(Decimal(sign: .plus, exponent: -2, significand: 950))),
        ("double", .double, .double(0.5)), ("empty", .string, .string("")),
        ("float", .float, .double(0.25)), ("grade", .string, .string("senior")),
        ("int16", .int16, .int(-3)), ("int64", .int64, .int(Int64.max)),
        ("none", .string, .null), ("text", .string, .string("Türkiye")),
        ("url", .url, .string("https://example.org/a")),
        ("uuid", .uuid, .uuid(identifier ?? UUID())),
    ]

    /// The fields of an update that gives an object a value of every type.
    private func change() throws -> AuditChange {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Thing",
                attributes: Self.attributes.map {
                    AttributeDescription(name: $0.name, type: $0.type)
                },
                relationships: [
                    RelationshipDescription(name: "other", destinationName: "Thing")
                ])
        ])
        let temporary = try TemporaryStore(model)
        let store = temporary.store
        let thing = try store.newObject("Thing")
        try store.commit(SaveRequest(changes: [store.insert(thing, ["none": .string("gone")])]))
        let edits = Self.attributes.map { attribute in
            Edit(
                property: store.property(attribute.name, of: thing).number,
                old: attribute.name == "none" ? .string("gone") : .null, new: attribute.value)
        }
        let other = Edit(
            property: store.property("other", of: thing).number, old: .null, new: .object(thing))
        try store.commit(
            SaveRequest(changes: [
                Change(
                    object: thing,
                    kind: .update(
                        edits: (edits + [other]).sorted { $0.property < $1.property },
                        members: []))
            ]))
        let record = try AuditReader(store).record(at: try store.head())
        return try #require(record.changes.first)
    }

    private func expect<Wanted: Equatable>(
        _ wanted: Wanted?, _ change: AuditChange, _ name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let field = try #require(change[name], sourceLocation: sourceLocation)
        #expect(
            field.new.value(as: Wanted.self) == wanted, "\(name)", sourceLocation: sourceLocation)
    }

    @Test func `old and new values come as the types of the model`() throws {
        let change = try change()

        try expect(true, change, "bool")
        try expect(Data([1, 2]), change, "data")
        try expect(Self.day, change, "date")
        try expect(Decimal(string: "9.5"), change, "decimal")
        try expect(0.5, change, "double")
        try expect(Float(0.25), change, "float")
        try expect(Grade.senior, change, "grade")
        try expect(Int16(-3), change, "int16")
        try expect(-3, change, "int16")
        try expect(Int.max, change, "int64")
        try expect("Türkiye", change, "text")
        try expect(URL(string: "https://example.org/a"), change, "url")
        try expect("https://example.org/a", change, "url")
        try expect(Self.identifier, change, "uuid")
        try expect("Thing/1", change, "other")
        #expect(try #require(change["code"]).new.decoded() == Point(x: 1))
        #expect(change["nothing"] == nil)
    }

    @Test func `a value of another type, or too large for it, is nil`() throws {
        let change = try change()

        try expect(Int16?.none, change, "int64")
        try expect(UInt8?.none, change, "int16")
        try expect(Int?.none, change, "text")
        try expect(String?.none, change, "date")
        try expect(Bool?.none, change, "int16")
        try expect(Grade?.none, change, "text")
        let text = try #require(change["text"])
        #expect(throws: DecodingError.self) { _ = try text.new.decoded(as: Point.self) }
    }

    @Test func `nil is told from text without letters`() throws {
        let change = try change()
        let (empty, none) = (try #require(change["empty"]), try #require(change["none"]))

        #expect(empty.new.content == .text("") && empty.old.content == .none)
        #expect(empty.new.value(as: String.self) == "" && empty.old.value(as: String.self) == nil)
        #expect(none.old.value(as: String.self) == "gone")
        #expect(none.new.content == .none && none.new.isNull)
        #expect(try none.new.decoded(as: Point.self) == nil)
        #expect("\(empty)" == #"empty: none → """# && "\(none)" == #"none: "gone" → none"#)
    }

    @Test func `a record can be shown as it is, with causes, members and lines in values`() throws {
        let story = try AtlasStory.write()
        let reader = AuditReader(story.store)

        let texts = try (1...10 as ClosedRange<UInt64>).map {
            "\(try reader.record(at: SequenceNumber($0)))"
        }

        #expect(
            texts[4] == """
                entry 5 by 'registry' at 2011-12-15T00:00:00Z: "Newsletter VI-8"
                  deleted Country/3
                    alpha2: "AN"
                    founded: 1954-12-15T00:00:00Z
                    name: "Netherlands Antilles"
                  deleted Subdivision/6 because Country/3 was deleted
                    code: "AN-C"
                    country: Country/3
                    name: "Curaçao"
                """)
        #expect(
            texts[5] == """
                entry 6 by 'registry' at 2022-07-11T00:00:00Z: "Its own spelling"
                  updated Country/2
                    motto: "" → none
                    name: "Turkey" → "Türkiye"
                """)
        #expect(texts[6].hasSuffix("    members: Country/1, Country/2"))
        #expect(texts[7].hasSuffix("    members: in another order: Country/1"))
        #expect(texts[1].contains(#"motto: "Liberté, \"égalité\",\nfraternité""#))
    }
}
