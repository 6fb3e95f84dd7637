import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The records that pass a filter.
@Suite struct FilterTests {
    private func sequences(
        _ filter: AuditFilter, _ direction: AuditReader.Direction = .oldestFirst
    ) throws -> [UInt64] {
        let story = try AtlasStory.write()
        var found: [UInt64] = []
        try AuditReader(story.store).records(matching: filter, direction) { record in
            found.append(record.sequence.rawValue)
            return .proceed
        }
        return found
    }

    @Test func `nothing asked for is everything`() throws {
        #expect(try sequences(AuditFilter()) == Array(1...10))
        #expect(try sequences(AuditFilter(), .newestFirst) == Array((1...10).reversed()))
    }

    @Test func `information is found by key, and by key and text`() throws {
        var filter = AuditFilter()
        filter.info = ["request": []]
        #expect(try sequences(filter) == [10])

        filter.info = ["request": ["76", "77"]]
        #expect(try sequences(filter) == [10])

        filter.info = ["request": ["7"]]
        #expect(try sequences(filter).isEmpty)

        filter.info = ["request": [], "device": []]
        #expect(try sequences(filter).isEmpty)
    }

    @Test func `authors are compared exactly`() throws {
        var filter = AuditFilter()
        filter.authors = ["Ada", "regis"]

        #expect(try sequences(filter) == [4, 10])
    }

    @Test func `entities objects and properties narrow the changes`() throws {
        var filter = AuditFilter()
        filter.entities = ["Country"]
        #expect(try sequences(filter) == [2, 5, 6, 9, 10])

        filter.properties = ["motto"]
        #expect(try sequences(filter) == [2, 6])

        filter.objects = ["Country/1"]
        #expect(try sequences(filter) == [2])

        let story = try AtlasStory.write()
        try AuditReader(story.store).records(matching: filter) { record in
            #expect(record.changes.map(\.object) == ["Country/1"])
            return .proceed
        }
    }

    @Test(
        arguments: [
            ("secret", [2, 3]), ("caf\u{E9}", [4, 5]), ("cafe\u{301}", [4, 5]), ("a\r", [6]),
            ("Secret", []),
        ] as [(String, [UInt64])])
    func `a text is found in any spelling, and whatever is put on its last letter`(
        text: String, expected: [UInt64]
    ) throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        for title in [
            "secret", "a secret\u{FE0F}", "caf\u{E9}", "cafe\u{301}\u{FE0F}", "a\r\nb",
        ] {
            let skill = try store.newObject("Skill")
            try store.commit(
                SaveRequest(
                    header: EntryHeader(note: title, base: try store.head()),
                    changes: [store.insert(skill, ["title": .string(title)])]))
        }
        var values = AuditFilter()
        values.texts = [text]
        var notes = AuditFilter()
        notes.notes = [text]

        for filter in [values, notes] {
            var found: [UInt64] = []
            try AuditReader(store).records(matching: filter) { record in
                found.append(record.sequence.rawValue)
                return .proceed
            }
            #expect(found == expected)
        }
    }

    @Test func `times are those at which entries happened`() throws {
        var filter = AuditFilter()
        filter.until = Date(timeIntervalSince1970: 1_323_907_200)
        #expect(try sequences(filter) == [2, 5])

        filter.since = Date(timeIntervalSince1970: 1_323_907_200)
        #expect(try sequences(filter) == [5])

        filter.since = filter.until?.addingTimeInterval(0.000_001)
        #expect(try sequences(filter).isEmpty)
        filter.until = nil
        #expect(try sequences(filter) == [1, 3, 4, 6, 7, 8, 9, 10])
    }

    @Test func `the time of a record finds just that record`() throws {
        let story = try AtlasStory.write()
        let reader = AuditReader(story.store)
        for number in 1...10 as ClosedRange<UInt64> {
            let record = try reader.record(at: SequenceNumber(number))
            var filter = AuditFilter()
            (filter.since, filter.until) = (record.time, record.time)

            #expect(try sequences(filter) == [number])
            #expect(filter.since == record.time && filter.until == record.time)
        }
    }

    @Test func `a range beyond the journal ends at its head`() throws {
        var filter = AuditFilter()
        filter.range = SequenceNumber(9)...SequenceNumber(99)
        #expect(try sequences(filter) == [9, 10])

        filter.range = SequenceNumber(50)...SequenceNumber(99)
        #expect(try sequences(filter).isEmpty)
    }

    @Test func `an entity that is not there is named with what was meant`() throws {
        var filter = AuditFilter()
        filter.entities = ["Contry"]

        let error = #expect(throws: StoreError.self) { _ = try sequences(filter) }
        #expect(
            error?.message == "The model has no entity 'Contry'; did you mean 'Country'?")
    }
}
