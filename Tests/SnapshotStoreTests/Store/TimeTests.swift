import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Entries found by their times, which are in a table except for the last ones.
struct TimeTests {
    /// A store whose entries happened at random times, and those times, in the order of the entries.
    private struct Timeline {
        let temporary: TemporaryStore
        let skill: ObjectID
        private(set) var times: [Int64]
        /// The numbers of the entries above 2,000 bytes.
        private(set) var long: [UInt64] = []
        /// The only entry that is never long.
        private let short: Int?
        var generator: SeededGenerator

        var store: Store { temporary.store }

        /// Few enough that many entries share one; the limits are included.
        private static let moments: [Int64] = [
            .min, .min + 1, -7, -1, 0, 1, 50, 51, 52, 1_700_000_000_030_000, .max - 1, .max,
        ]

        init(seed: UInt64, short: Int? = nil) throws {
            self.short = short
            temporary = try TemporaryStore(options: .counting(verification: .off))
            generator = SeededGenerator(seed: seed)
            skill = try temporary.store.newObject("Skill")
            times = [try temporary.store.entry(SequenceNumber(1)).time]
            let title: [String: Value] = ["title": .string("0")]
            try save(temporary.store.insert(skill, title))
        }

        mutating func grow(to count: Int) throws {
            while times.count < count {
                let (old, new) = ("\(times.count - 2)", "\(times.count - 1)")
                try save(store.update(skill, "title", from: .string(old), to: .string(new)))
            }
        }

        private mutating func save(_ change: Change) throws {
            let isTold = Int.random(in: 0..<4, using: &generator) > 0
            let time = isTold ? Self.moments.randomElement(using: &generator) : nil
            let isLong =
                Int.random(in: 0..<8, using: &generator) == 0 && times.count + 1 != short
            let note = isLong ? String(repeating: "A long note. ", count: 160) : nil
            let result = try store.commit(
                SaveRequest(header: EntryHeader(note: note, occurredAt: time), changes: [change]))
            let sequence = try #require(result.sequence)
            times.append(try time ?? store.entry(sequence).recordedAt)
            if isLong { long.append(sequence.rawValue) }
        }

        /// The records that the table has: the last entry that each tells of, and its level.
        func written() -> [String] {
            let together = stride(from: UInt64(64), through: UInt64(times.count), by: 64)
            return (long.map { ($0, 0) } + together.map { ($0, 1) })
                .sorted { $0 < $1 }.map { "\($0), \($1)" }
        }

        /// The result by definition, over the first entries except perhaps one.
        func sequence(
            atTime time: Int64, through last: Int? = nil, without left: Int? = nil
        ) -> SequenceNumber {
            let known = times.prefix(last ?? times.count).enumerated()
            let found = known.filter { $0.element <= time && $0.offset + 1 != left }.last
            return SequenceNumber(UInt64((found?.offset ?? -1) + 1))
        }

        func asked() -> [Int64] {
            let around = times.flatMap { [$0 == .min ? $0 : $0 - 1, $0, $0 == .max ? $0 : $0 + 1] }
            return Array(Set(around)).sorted()
        }
    }

    private static func writtenRecords(_ store: Store) throws -> [String] {
        try store.reading { transaction in
            var records: [String] = []
            let start: [UInt8] = []
            try transaction.scan(
                store.parts.tables.times, from: start.span.bytes, to: nil, order: .ascending
            ) { key, _ in
                var reader = KeyReader()
                records.append("\(try reader.uint64(key)), \(try reader.uint8(key))")
                return .proceed
            }
            return records
        }
    }

    @Test(arguments: UInt64(1)...3)
    func `a time leads to its entry, whether or not the table has it`(seed: UInt64) throws {
        var timeline = try Timeline(seed: seed)
        let store = timeline.store

        for count in [2, 62, 63, 64, 65, 66, 100, 127, 128, 129, 200] {
            try timeline.grow(to: count)

            for time in timeline.asked() {
                let found = try store.sequence(atTime: time)
                #expect(
                    found == timeline.sequence(atTime: time), "seed \(seed), \(count), \(time)")
                let last = Int.random(in: 1...count, using: &timeline.generator)
                let foundThen = try store.reading {
                    try store.parts.sequence(
                        atTime: time, through: SequenceNumber(UInt64(last)), in: $0)
                }
                #expect(
                    foundThen == timeline.sequence(atTime: time, through: last),
                    "seed \(seed), \(last) of \(count), \(time)")
            }
            #expect(try Self.writtenRecords(store) == timeline.written(), "seed \(seed)")
        }
    }

    @Test(arguments: [63, 64, 65, 128, 150])
    func `times are the same after the tables are rebuilt`(count: Int) throws {
        var timeline = try Timeline(seed: 4)
        try timeline.grow(to: count)
        let store = timeline.store
        let before = try store.projectionDigest()

        try store.rebuild()

        #expect(try store.projectionDigest() == before)
        #expect(try store.verify().isSound)
        for time in timeline.asked() {
            #expect(try store.sequence(atTime: time) == timeline.sequence(atTime: time))
        }
    }

    @Test func `an entry is found by a time that it states after a long note`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let note = String(repeating: "A long note. ", count: 10_000)

        try store.commit(
            SaveRequest(
                header: EntryHeader(note: note, occurredAt: 100),
                changes: [store.insert(skill, ["title": .string("Sailing")])]))

        #expect(try store.sequence(atTime: 100) == SequenceNumber(2))
        #expect(try store.sequence(atTime: 99) == .zero)
    }

    /// The damage to the records of an entry.
    enum Damage: CaseIterable, Sendable {
        case recordingTime, lastByte, noBytes, otherDigest, noDigest, shortHeader, longer

        func apply(to entry: UInt64, of store: Store) throws {
            let table = try store.openEnvironment().table("journal")
            var key = KeyWriter()
            key.append(entry)
            let isOfDigest = self == .otherDigest || self == .noDigest
            if !isOfDigest { key.append(UInt32(0)) }
            try store.writing { [key = key.bytes] transaction in
                var bytes =
                    try transaction.get(table, key.span.bytes) { value in
                        value.withUnsafeBytes { Array($0) }
                    } ?? []
                switch self {
                case .recordingTime: bytes[10] ^= 1
                case .lastByte, .otherDigest: bytes[bytes.count - 1] ^= 1
                case .shortHeader: bytes.removeLast(bytes.count - 12)
                case .longer: bytes += [UInt8](repeating: 1, count: 3_000)
                case .noBytes, .noDigest: bytes = []
                }
                if bytes.isEmpty {
                    _ = try transaction.delete(table, key.span.bytes)
                } else {
                    try transaction.put(table, key.span.bytes, bytes.span.bytes, .upsert)
                }
            }
        }
    }

    @Test(arguments: Damage.allCases)
    func `one of the last entries that cannot be trusted is reported, not skipped`(
        damage: Damage
    ) throws {
        var timeline = try Timeline(seed: 5, short: 66)
        try timeline.grow(to: 67)
        let store = timeline.store
        try damage.apply(to: 66, of: store)

        let error = #expect(throws: StoreError.self) { try store.sequence(atTime: 0) }

        #expect(error?.code == .corrupt)
        let sentences = ["Entry 66 is missing from the journal", "Entry 66 cannot be read: "]
        #expect(
            sentences.contains { error?.message.hasPrefix($0) == true },
            "\(String(describing: error))")
    }

    @Test(arguments: Damage.allCases)
    func `a long entry among the last ones has written its time, whatever damages it later`(
        damage: Damage
    ) throws {
        let temporary = try TemporaryStore(options: .counting(verification: .off))
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let title = String(repeating: "A long title. ", count: 10_000)
        try store.commit(
            SaveRequest(
                header: EntryHeader(occurredAt: 100),
                changes: [store.insert(skill, ["title": .string(title)])]))
        #expect(try Self.writtenRecords(store) == ["2, 0"])

        try damage.apply(to: 2, of: store)

        guard damage == .noBytes || damage == .shortHeader else {
            #expect(try store.sequence(atTime: 100) == SequenceNumber(2))
            #expect(try store.sequence(atTime: 99) == .zero)
            #expect(try store.verify().findings.contains { $0.place == "entry 2" })
            return
        }
        // The rest does not look like a long entry.
        let error = #expect(throws: StoreError.self) { try store.sequence(atTime: 100) }
        #expect(error?.code == .corrupt)
    }

    @Test(arguments: Damage.allCases)
    func `a damaged entry does not prevent saving, and its time is not written`(
        damage: Damage
    ) throws {
        var timeline = try Timeline(seed: 6, short: 100)
        try timeline.grow(to: 110)
        let store = timeline.store
        try damage.apply(to: 100, of: store)

        try timeline.grow(to: 200)

        #expect(try Self.writtenRecords(store) == timeline.written())
        for time in timeline.asked() {
            let found = try store.sequence(atTime: time)
            #expect(found == timeline.sequence(atTime: time, without: 100), "\(time)")
        }
        let report = try store.verify()
        #expect(report.findings.contains { $0.place == "entry 100" }, "\(report.findings)")
        let error = #expect(throws: StoreError.self) { try store.rebuild() }
        #expect(error?.code == .corrupt)
    }
}
