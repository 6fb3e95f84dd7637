import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The export format of systemd's journal, read by its rules.
@Suite struct JournaldFormatTests {
    @Test(.ownStores("The server's clock is read more often."))
    func `an export is the same as ever`() throws {
        let story = try AtlasStory.write()

        let bytes = try Exporting.bytes(of: story.store, as: "journald")

        try Fixture.expect(Data(bytes), equals: "exports/atlas.journald")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `every value of every type can be had back`(seed: UInt64) throws {
        let temporary = try RandomValues.write(seed: seed, entries: 40)

        let entries = try Self.entries(of: temporary.store)

        var expected: [[String: [String]]] = []
        try AuditReader(temporary.store).records { record in
            expected += record.changes.map { Self.fields(of: $0) }
            return .proceed
        }
        let names = ["DAYBOOK_OBJECT", "DAYBOOK_PROPERTY", "DAYBOOK_OLD", "DAYBOOK_NEW"]
        let found = entries.filter { $0["DAYBOOK_OPERATION"] != ["model"] }
            .map { entry in entry.filter { names.contains($0.key) } }
        #expect(found == expected, "seed \(seed)")
        #expect(found.count > 30, "seed \(seed)")
    }

    @Test(.ownStores("The server's clock is read more often."))
    func `every entry has what systemd wants of it`() throws {
        let story = try AtlasStory.write()

        let entries = try Self.entries(of: story.store)

        #expect(entries.count == 15)
        for entry in entries {
            let operation = try #require(entry["DAYBOOK_OPERATION"]?.first)
            #expect(
                entry["MESSAGE_ID"] == JournaldFormat.messageIdentifiers[operation].map { [$0] })
            #expect(entry["__MONOTONIC_TIMESTAMP"] == entry["DAYBOOK_SEQUENCE"])
            #expect(entry["_BOOT_ID"]?.first?.count == 32)
            #expect(entry["PRIORITY"] == ["5"])
            #expect(entry["SYSLOG_IDENTIFIER"] == ["daybook"])
            #expect(entry["_HOSTNAME"] == nil)
        }
        let removal = try #require(entries.first { $0["DAYBOOK_OBJECT"] == ["Subdivision/6"] })
        #expect(removal["__REALTIME_TIMESTAMP"] == ["1704196920000000"])
        let identifiers = Set(JournaldFormat.messageIdentifiers.values)
        #expect(identifiers.count == 4)
    }

    @Test(.ownStores("The server's clock is read more often."))
    func `a time that somebody told stands beside the time of recording`() throws {
        let story = try AtlasStory.write()

        let entries = try Self.entries(of: story.store)

        let first = try #require(entries.first { $0["DAYBOOK_SEQUENCE"] == ["2"] })
        #expect(first["_SOURCE_REALTIME_TIMESTAMP"] == ["156297600000000"])
        #expect(first["__REALTIME_TIMESTAMP"] == ["1704196860000000"])
        let second = try #require(entries.first { $0["DAYBOOK_SEQUENCE"] == ["3"] })
        #expect(second["_SOURCE_REALTIME_TIMESTAMP"] == nil)
    }

    @Test func `objects that leave and join stand in one field`() throws {
        let story = try AtlasStory.write()

        let entries = try Self.entries(of: story.store)

        let union = try #require(entries.first { $0["DAYBOOK_SEQUENCE"] == ["7"] })
        #expect(union["DAYBOOK_ADDED"] == ["members=Country/1 Country/2"])
        let move = try #require(entries.first { $0["DAYBOOK_SEQUENCE"] == ["8"] })
        #expect(move["DAYBOOK_REMOVED"] == ["members=Country/1"])
        #expect(move["DAYBOOK_ADDED"] == ["members=Country/1"])
    }

    // MARK: - Reading

    private static func fields(of change: AuditChange) -> [String: [String]] {
        var fields = ["DAYBOOK_OBJECT": [change.object]]
        for field in change.fields {
            fields["DAYBOOK_PROPERTY", default: []].append(field.name)
            if !field.old.isNull {
                fields["DAYBOOK_OLD", default: []].append("\(field.name)=\(field.old.text)")
            }
            if !field.new.isNull {
                fields["DAYBOOK_NEW", default: []].append("\(field.name)=\(field.new.text)")
            }
        }
        for membership in change.memberships {
            fields["DAYBOOK_PROPERTY", default: []].append(membership.name)
        }
        return fields
    }

    private static func entries(of store: Store) throws -> [[String: [String]]] {
        var rest = try Exporting.bytes(of: store, as: "journald")[...]
        var entries: [[String: [String]]] = []
        var entry: [String: [String]] = [:]
        while !rest.isEmpty {
            let end = try #require(rest.firstIndex(of: 0x0a))
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty {
                entries.append(entry)
                entry = [:]
                continue
            }
            let name: String
            let value: ArraySlice<UInt8>
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                name = String(decoding: line[..<equals], as: UTF8.self)
                value = line[(equals + 1)...]
            } else {
                name = String(decoding: line, as: UTF8.self)
                let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                value = rest.dropFirst(8).prefix(count)
                rest = rest.dropFirst(8 + count + 1)
            }
            #expect(name.allSatisfy { $0.isUppercase || $0 == "_" }, "\(name)")
            entry[name, default: []].append(String(decoding: value, as: UTF8.self))
        }
        #expect(entry.isEmpty)
        return entries
    }
}
