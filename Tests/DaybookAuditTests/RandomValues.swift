import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation

/// Stores with an attribute of every type and values at the edges of each.
enum RandomValues {
    static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Thing",
            attributes: AttributeType.allCases.map {
                AttributeDescription(name: "a_\($0.rawValue)", type: $0)
            },
            relationships: [
                RelationshipDescription(
                    name: "others", destinationName: "Thing", isToMany: true, isOrdered: true),
                RelationshipDescription(name: "tags", destinationName: "Thing", isToMany: true),
            ])
    ])

    static func write(seed: UInt64, entries: Int) throws -> TemporaryStore {
        let temporary = try TemporaryStore(model)
        var generator = SeededGenerator(seed: seed)
        let store = temporary.store
        var state: [ObjectID: [String: Value]] = [:]
        for _ in 0..<entries {
            var changes: [Change] = []
            if Bool.random(using: &generator) || state.isEmpty {
                let object = try store.newObject("Thing")
                let values = self.values(&generator)
                let members = state.keys.sorted().prefix(3).map {
                    Member(object: $0, order: Double.random(in: -9...9, using: &generator))
                }
                changes.append(
                    store.insert(
                        object, values,
                        members: members.isEmpty
                            ? [:]
                            : [
                                "others": members,
                                "tags": members.map { Member(object: $0.object) },
                            ]))
                state[object] = values
            } else if let object = state.keys.sorted().randomElement(using: &generator) {
                let values = self.values(&generator)
                let name = values.keys.sorted().randomElement(using: &generator) ?? "a_string"
                let old = state[object]?[name] ?? .null
                changes.append(
                    store.update(object, name, from: old, to: values[name] ?? .null))
                state[object]?[name] = values[name]
            }
            _ = try store.commit(
                SaveRequest(header: try header(store, &generator), changes: changes))
        }
        return temporary
    }

    private static func header(
        _ store: Store, _ generator: inout SeededGenerator
    ) throws -> EntryHeader {
        let texts = ["", "Ada", "two\nlines", "\u{0}\u{1F}\u{7F}\u{2028}\"\\", "日本 🇯🇵"]
        func text() -> String? {
            Bool.random(using: &generator) ? texts.randomElement(using: &generator) : nil
        }
        let times: [Int64] = [
            .min, -1, 0, 1, 999_999, 1_700_000_000_000_000, 253_402_300_800_000_000, .max,
        ]
        let keys = ["request", "e\u{301}", "Z", "z", "日本", "two words", "__proto__", "10", "9"]
        var info: [String: String] = [:]
        for key in keys where Int.random(in: 0..<4, using: &generator) == 0 {
            info[key] = texts.randomElement(using: &generator)
        }
        return EntryHeader(
            kind: Bool.random(using: &generator) ? .save : .batch, author: text(), note: text(),
            info: info, context: text(),
            occurredAt: Bool.random(using: &generator)
                ? times.randomElement(using: &generator) : nil,
            base: Bool.random(using: &generator) ? try store.head() : .zero)
    }

    private static func values(_ generator: inout SeededGenerator) -> [String: Value] {
        var values: [String: Value] = [:]
        for type in AttributeType.allCases where Bool.random(using: &generator) {
            guard let value = choices(type).randomElement(using: &generator) else { continue }
            values["a_\(type.rawValue)"] = value.normalized
        }
        return values
    }

    private static func choices(_ type: AttributeType) -> [Value] {
        switch type {
        case .bool: [.bool(true), .bool(false)]
        case .int16: [.int(-32768), .int(32767), .int(0)]
        case .int32: [.int(-2_147_483_648), .int(2_147_483_647)]
        case .int64: [.int(.min), .int(.max), .int(9_007_199_254_740_993)]
        case .float: [.double(Double(Float(0.1))), .double(.nan), .double(.infinity)]
        case .double:
            [
                .double(0.1), .double(-0.0), .double(.leastNonzeroMagnitude), .double(1.797e308),
                .double(.nan),
                .double(-.infinity), .double(1e22), .double(123_456_789_012_345_680),
            ]
        case .decimal:
            [
                .decimal(Decimal(exactly: "0.10") ?? 0), .decimal(Decimal(exactly: "-1e60") ?? 0),
                .decimal(Decimal(exactly: "99999999999999999999999999999999999999") ?? 0),
                .decimal(Decimal(exactly: "1e-90") ?? 0), .decimal(.nan),
            ]
        case .string:
            [
                .string(""), .string("e\u{301}"), .string("é"), .string("null"),
                .string("\u{0}\r\n\t\"\\/\u{2028}\u{FEFF}"), .string("👩‍👩‍👧‍👦"),
            ]
        case .data: [.data(Data()), .data(Data([0, 255, 10, 34]))]
        case .date:
            [
                .date(Date(timeIntervalSinceReferenceDate: 0)),
                .date(Date(timeIntervalSinceReferenceDate: 0.1)),
                .date(Date(timeIntervalSinceReferenceDate: -1.0 / 3)),
                .date(Date(timeIntervalSinceReferenceDate: 4e11)),
                .date(Date(timeIntervalSinceReferenceDate: -8e13)),
                .date(Date(timeIntervalSinceReferenceDate: 1e300)),
            ]
        case .uuid:
            [
                .uuid(
                    UUID(
                        uuid: (
                            0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24,
                            0x7A, 0x3E, 0x6E, 0x5F
                        )))
            ]
        case .url: [.string("https://example.org/a?b=c#d"), .string("mailto:a@example.org")]
        case .codable:
            [
                .data(Data(#"{"a":[1,2.50,null]}"#.utf8)), .data(Data("{ \"spaced\" : 1 }".utf8)),
                .data(Data("null".utf8)), .data(Data([0xff, 0x00])), .data(Data()),
                .data(Data(#"{"base64":"AAAA"}"#.utf8)), .data(Data(#"{"a":1,"a":2}"#.utf8)),
            ]
        }
    }
}
