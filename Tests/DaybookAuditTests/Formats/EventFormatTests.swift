import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// The common and the specific parts of the formats that write an event for each change.
@Suite struct EventFormatTests {
    /// The events of an export.
    private static func events(
        of store: Store, as name: String, matching filter: AuditFilter = AuditFilter(),
        confidentiality: Confidentiality = .standard
    ) throws -> [JSONValue] {
        let bytes = try Exporting.bytes(
            of: store, as: name, matching: filter, confidentiality: confidentiality)
        return try bytes.split(separator: 0x0a).map { try JSONValue(parsing: Array($0)) }
    }

    private static func save(_ author: String?, at time: Int64?, in store: Store) throws {
        let object = try store.newObject("Skill")
        let header = EntryHeader(author: author, occurredAt: time, base: try store.head())
        try store.commit(
            SaveRequest(
                header: header, changes: [store.insert(object, ["title": .string("Fencing")])]))
    }

    // MARK: - In common

    @Test(arguments: ["cloudevents", "debezium", "ocsf"], [1, 2, 3] as [UInt64])
    func `every change is an event on a line of its own`(format: String, seed: UInt64) throws {
        let source = try RandomValues.write(seed: seed, entries: 20)
        var changes = 0
        try AuditReader(source.store).records { record in
            changes += record.changes.count
            return .proceed
        }

        let events = try Self.events(of: source.store, as: format)

        // The setting of the model changes no row.
        #expect(events.count == (format == "debezium" ? changes : changes + 1), "seed \(seed)")
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `an event has the same name under every filter`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed, entries: 20)
        var filter = AuditFilter()
        filter.operations = [.update]

        let all = try Self.events(of: history.store, as: "cloudevents")
        let some = try Self.events(of: history.store, as: "cloudevents", matching: filter)

        #expect(some.count > 0 && some.count < all.count, "seed \(seed)")
        #expect(some == all.filter { $0["type"] == .string("daybook.update") }, "seed \(seed)")
    }

    // MARK: - CloudEvents

    @Test func `sequences sort as text in the order of the events`() throws {
        let history = try RandomHistory(seed: 5, entries: 12)

        let events = try Self.events(of: history.store, as: "cloudevents")

        let sequences = events.compactMap { event in
            if case .string(let text)? = event["sequence"] { text } else { nil }
        }
        #expect(sequences.count == events.count)
        #expect(sequences == sequences.sorted())
        #expect(Set(sequences).count == sequences.count)
    }

    @Test func `an author that no attribute can hold stands only in the data`() throws {
        let temporary = try TemporaryStore()
        try Self.save("two\nlines", at: nil, in: temporary.store)
        try Self.save("one line", at: nil, in: temporary.store)

        let events = try Self.events(of: temporary.store, as: "cloudevents")

        #expect(events[1]["authid"] == nil)
        #expect(events[1]["authtype"] == nil)
        #expect(events[1]["data"]?["author"] == .string("two\nlines"))
        #expect(events[2]["authid"] == .string("one line"))
    }

    @Test func `a time that RFC 3339 cannot say stands only in the data`() throws {
        let temporary = try TemporaryStore()
        try Self.save(nil, at: 253_402_300_800_000_000, in: temporary.store)
        try Self.save(nil, at: 253_402_300_799_999_999, in: temporary.store)

        let events = try Self.events(of: temporary.store, as: "cloudevents")

        #expect(events[1]["time"] == nil)
        #expect(events[1]["data"]?["time"] == .string("+010000-01-01T00:00:00Z"))
        #expect(events[2]["time"] == .string("9999-12-31T23:59:59.999999Z"))
    }

    @Test(arguments: ["", "a b", "a\"b", "a\nb"])
    func `a source that is no URI reference is refused`(source: String) throws {
        let temporary = try TemporaryStore()
        var export = AuditExport(of: AuditReader(temporary.store))
        export.options.source = source

        let error = #expect(throws: AuditFormatError.self) {
            try export.write(CloudEventsFormat()) { _ in }
        }

        #expect(error?.description.contains("is not a URI reference") == true)
    }

    // MARK: - Debezium

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `the row before a change is the row after the one before`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed, entries: 30)

        let events = try Self.events(of: history.store, as: "debezium")

        var rows: [JSONValue: JSONValue] = [:]
        for event in events {
            let before = try #require(event["before"])
            let after = try #require(event["after"])
            let name = try #require(before["_id"] ?? after["_id"])
            #expect(before == rows[name] ?? .null, "seed \(seed), \(name)")
            rows[name] = after
        }
        let world = try history.store.world()
        #expect(rows.values.filter { $0 != .null }.count == world.count, "seed \(seed)")
    }

    @Test func `a row tells null, but not what is confidential`() throws {
        let history = try SecretHistory(seed: 1, entries: 5)

        let shown = try Self.events(
            of: history.temporary.store, as: "debezium", confidentiality: .none)
        let kept = try Self.events(of: history.temporary.store, as: "debezium")

        let row = try #require(shown[0]["after"])
        #expect(row["doctor"] == .null)
        #expect(row["visitors"] == .array([]))
        #expect(row["name"] != nil)
        #expect(kept[0]["after"]?["doctor"] == .null)
        #expect(kept[0]["after"]?["name"] == nil)
        #expect(kept[0]["after"]?["ward"] == row["ward"])
    }

    @Test func `a time that has no room in nanoseconds is told without them`() throws {
        let temporary = try TemporaryStore()
        try Self.save(nil, at: .max, in: temporary.store)

        let events = try Self.events(of: temporary.store, as: "debezium")

        #expect(events[0]["source"]?["ts_ns"] == nil)
        #expect(events[0]["source"]?["ts_us"] == .number("9223372036854775807"))
        #expect(events[0]["source"]?["ts_ms"] == .number("9223372036854775"))
    }

    // MARK: - OCSF

    @Test func `each operation is the activity that OCSF has for it`() throws {
        let story = try AtlasStory.write()

        let events = try Self.events(of: story.store, as: "ocsf")

        #expect(events[0]["activity_id"] == .number("99"))
        let pairs = Set(
            events.dropFirst().map { event in
                [event["unmapped"]?["op"], event["activity_id"], event["type_uid"]]
            })
        #expect(
            pairs == [
                [.string("insert"), .number("1"), .number("300401")],
                [.string("update"), .number("3"), .number("300403")],
                [.string("delete"), .number("4"), .number("300404")],
            ])
    }

    @Test func `a moment before 1970 is rounded down to a millisecond`() throws {
        let temporary = try TemporaryStore()
        try Self.save(nil, at: -1, in: temporary.store)

        let events = try Self.events(of: temporary.store, as: "ocsf")

        #expect(events[1]["time"] == .number("-1"))
    }
}
