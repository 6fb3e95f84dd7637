import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookJournalLog
@testable import DaybookSnapshotStore

/// Which of the entries that a damaged file has are those of its journal.
struct SalvagedChainTests {
    private let directory: TemporaryDirectory
    private let sound: String
    private let damaged: String
    private let new: String

    init() throws {
        directory = try TemporaryDirectory()
        sound = directory.path("sound.daybook")
        damaged = directory.path("damaged.daybook")
        new = directory.path("new.daybook")
    }

    /// A crash, or a copy that was taken back, leaves such entries in pages that are free.
    @Test func `what stood once in the place of a lost entry does not take that place`() throws {
        try makeSkills(["France", "Italy", "Poland", "Spain"])
        try DamagedFile.lose([4], of: sound, into: damaged)
        let entries = try DamagedFile.entries(of: sound)
        try add([try forged(4, after: entries[2])])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.missing == [SequenceNumber(4)...SequenceNumber(4)])
        #expect(recovery.unchanged == SequenceNumber(3) && recovery.repeated == 1)
        #expect(try titles() == ["France", "Italy", "Spain"])
    }

    @Test func `what leads up to the head is taken, and not what begins like it`() throws {
        try makeSkills(["France", "Italy", "Poland", "Spain", "Norway", "Sweden"])
        let entries = try DamagedFile.entries(of: sound)
        try FileManager.default.copyItem(atPath: sound, toPath: damaged)
        // In front of the others, so that they would be found first.
        let third = try forged(3, after: entries[1])
        let fourth = try forged(4, after: third)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        let page = bytes.count / 4_096
        for (index, entry) in [third, fourth].enumerated() {
            bytes += DamagedFile.leaf(UInt64(page + index), entry)
        }
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.isComplete)
        #expect(try DamagedFile.entries(of: new) == entries)
    }

    @Test func `what was taken off behind the head does not come back`() throws {
        try makeSkills(["France", "Italy"])
        let entries = try DamagedFile.entries(of: sound)
        try FileManager.default.copyItem(atPath: sound, toPath: damaged)
        try add([try forged(4, after: entries[2])])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.isComplete)
        #expect(try DamagedFile.entries(of: new) == entries)
    }

    /// Nothing above the gap says which entries are below it, but the trees do.
    @Test(arguments: [[5], [5, 6], [3, 5, 6]] as [[UInt64]])
    func `entries of another journal do not take the place of those below a gap`(lost: [UInt64])
        throws
    {
        try makeSkills(["France", "Italy", "Poland", "Spain", "Norway", "Sweden"])
        try DamagedFile.lose(lost, of: sound, into: damaged)
        let entries = try DamagedFile.entries(of: sound)
        // A whole journal up to the gap, as it is behind a store that was copied over a longer one.
        var others: [JournalEntry] = []
        for number in 1...6 as ClosedRange<UInt64> {
            others.append(try forged(number, after: others.last))
        }
        try add(others)

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.unchanged.rawValue == lost[0] - 1)
        #expect(
            recovery.missing.flatMap { $0.lowerBound.rawValue...$0.upperBound.rawValue } == lost)
        #expect(recovery.repeated == 7 - lost.count - Int(lost[0] - 1))
        let unchanged = Int(recovery.unchanged.rawValue)
        let found = try DamagedFile.entries(of: new)
        #expect(found.prefix(unchanged) == entries.prefix(unchanged))
        #expect(try titles().isDisjoint(with: (1...6).map { "Forged \($0)" }))
    }

    /// An entry may be lost where it was last, and be in a page that was freed.
    @Test func `an entry that is only in a page that nothing leads to is found`() throws {
        try makeSkills(["France", "Italy", "Poland", "Spain", "Norway", "Sweden"])
        try DamagedFile.lose([4, 5, 6], of: sound, into: damaged)
        let entries = try DamagedFile.entries(of: sound)
        try add([entries[4], try forged(3, after: entries[1])])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.missing.map(\.entryName) == ["entry 4", "entry 6"])
        #expect(recovery.unchanged == SequenceNumber(3) && recovery.repeated == 2)
        #expect(try titles() == ["France", "Italy", "Spain", "Sweden"])
    }

    @Test func `another last entry than the one that is recorded is not taken for it`() throws {
        try makeSkills(["France", "Italy", "Poland", "Spain"])
        try DamagedFile.lose([5], of: sound, into: damaged)
        let entries = try DamagedFile.entries(of: sound)
        // Only the digest beside the entry is damaged, not the one that is recorded with the head.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        let record = Data(DamagedFile.big(5, 8) + entries[4].digest.bytes)
        var place = bytes.startIndex
        while let found = bytes.range(of: record, in: place..<bytes.endIndex) {
            place = found.upperBound
            if bytes[..<found.lowerBound].suffix(4) == Data("head".utf8) { continue }
            bytes[found.lowerBound + 8] ^= 0xFF
        }
        try bytes.write(to: URL(fileURLWithPath: damaged))
        try add([try forged(5, after: entries[3])])

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.said == SequenceNumber(5))
        #expect(recovery.missing.map(\.entryName) == ["entry 5"])
        #expect(recovery.unchanged == SequenceNumber(4) && recovery.repeated == 0)
        #expect(try titles() == ["France", "Italy", "Poland"])
    }

    @Test func `a model of an entry that was cut off is not set again`() throws {
        try makeSkills(["France", "Italy", "Poland", "Spain"])
        try DamagedFile.lose([4], of: sound, into: damaged)
        let other = directory.path("other.daybook")
        try FileManager.default.copyItem(atPath: sound, toPath: other)
        var model = ManagedObjectModel.sample
        model.entities[3].attributes.append(AttributeDescription(name: "level", type: .int32))
        let changed = try Store.open(at: other, model: model, options: .counting())
        let version = try #require(try changed.entry(SequenceNumber(6)).version)
        try changed.close()
        let record = DamagedFile.Record(
            key: DamagedFile.big(4, 8),
            value: ModelRecord.bytes(version, at: SequenceNumber(4)) + [0, 0, 0, 0])
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        bytes += DamagedFile.leaf(UInt64(bytes.count / 4_096), [record])
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.models.isEmpty && recovery.losses.isEmpty)
        #expect(recovery.repeated == 1)
    }

    @Test func `a part of a long entry that was another one's does not hide the right one`() throws
    {
        try makeSkills(["France", String(repeating: "Italy", count: 40_000), "Spain"])
        let entries = try DamagedFile.entries(of: sound)
        #expect(entries[2].bytes.count > 2 * Journal.chunkBytes)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let page = bytes.count / 4_096
        let record = DamagedFile.Record(
            key: DamagedFile.big(3, 8) + DamagedFile.big(1, 4),
            value: DamagedFile.little(page + 1, 8), countElsewhere: Journal.chunkBytes)
        bytes += DamagedFile.leaf(UInt64(page), [record])
        bytes += DamagedFile.little(page + 1, 8) + [0, 0, 4, 0] + DamagedFile.little(16, 4)
        bytes += Data(repeating: 7, count: Journal.chunkBytes)
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.isComplete)
        #expect(try DamagedFile.entries(of: new) == entries)
    }

    @Test(arguments: [4_096, 8_192, 16_384, 65_536])
    func `the size of the pages is found out where no page says it`(size: Int) throws {
        try makeSkills(["France", "Italy", "Poland"])
        let entries = try DamagedFile.entries(of: sound)
        var bytes = Data(count: 2 * size)
        for (index, entry) in entries.enumerated() {
            bytes += DamagedFile.leaf(UInt64(index + 2), entry, size: size)
        }
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.unchanged == SequenceNumber(4) && recovery.losses.isEmpty)
        #expect(try DamagedFile.entries(of: new) == entries)
    }

    @Test func `entries behind a hole of a file that damage has made long are found`() throws {
        try makeSkills(["France", "Italy", "Poland"])
        let entries = try DamagedFile.entries(of: sound)
        try DamagedFile.lose([4], of: sound, into: damaged)
        let place: UInt64 = 1 << 42
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: damaged))
        try handle.seek(toOffset: place)
        try handle.write(contentsOf: DamagedFile.leaf(place / 4_096, entries[3]))
        try handle.close()

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.isComplete)
        #expect(try DamagedFile.entries(of: new) == entries)
    }

    @Test func `a store that may have lost its last entries gets another identifier`() throws {
        try DamageSample.make(at: sound, entries: 120)
        let original = try Store.open(at: sound)
        let uuid = original.uuid
        try original.setTag("recovered", at: SequenceNumber(2))
        try original.close()
        let entries = try DamagedFile.entries(of: sound)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        DamagedFile.overwritePages(with: Data(try #require(entries.last).bytes), of: &bytes)
        try bytes.write(to: URL(fileURLWithPath: damaged))

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.hasMarks)
        #expect(recovery.said == SequenceNumber(120))
        #expect(recovery.missing.last?.upperBound == SequenceNumber(120))
        #expect(recovery.last < SequenceNumber(120) && !recovery.isComplete)
        #expect(recovery.tag == "recovered-2")
        let store = try Store.open(at: new)
        #expect(store.uuid != uuid)
        #expect(
            try store.tags().first { $0.name == "recovered-2" }?.sequence == recovery.unchanged)
        try store.close()
    }

    // MARK: - Stores

    /// Each title is an entry, from the second one on.
    private func makeSkills(_ titles: [String]) throws {
        let store = try Store.create(at: sound, model: .sample, options: .counting())
        for title in titles {
            let skill = try store.newObject("Skill")
            try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string(title)])]))
        }
        try store.close()
    }

    private func titles() throws -> Set<String> {
        let entries = try DamagedFile.entries(of: new)
        var titles: Set<String> = []
        for entry in entries {
            for case .insert(let values, _) in try Entry(entry).changes.map(\.kind) {
                for case .string(let title) in values { titles.insert(title) }
            }
        }
        return titles
    }

    /// An entry that fits behind another one, and is none of the journal.
    private func forged(_ number: UInt64, after entry: JournalEntry?) throws -> JournalEntry {
        let store = try Store.open(at: sound, options: StoreOptions(isReadOnly: true))
        let entity = try #require(try store.entry(SequenceNumber(2)).changes.first).object.entity
        let insert = store.insert(
            ObjectID(entity: entity, number: 900_000 + number),
            ["title": .string("Forged \(number)")])
        try store.close()
        return JournalEntry(
            sequence: SequenceNumber(number), recordedAt: entry?.recordedAt ?? 0,
            previous: entry?.digest ?? .zero,
            payload: EntryPayload.bytes(EntryHeader(author: "eve"), [insert]))
    }

    /// Puts pages with entries behind the damaged file.
    private func add(_ entries: [JournalEntry]) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: damaged))
        for entry in entries { bytes += DamagedFile.leaf(UInt64(bytes.count / 4_096), entry) }
        try bytes.write(to: URL(fileURLWithPath: damaged))
    }
}
