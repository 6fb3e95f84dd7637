import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

/// Reads only those entries of a range that are single records.
struct ShortEntriesTests {
    private struct Found: Equatable {
        let sequence: UInt64
        let recordedAt: Int64
        let payload: [UInt8]
    }

    private static func found(
        from first: UInt64, through last: UInt64, of store: TemporaryJournal,
        in reading: borrowing some Reading & ~Copyable
    ) throws -> [Found] {
        var found: [Found] = []
        try store.journal.shortEntries(
            from: SequenceNumber(first), through: SequenceNumber(last), in: reading
        ) { sequence, recordedAt, payload in
            let payload = payload.withUnsafeBytes { Array($0) }
            found.append(
                Found(sequence: sequence.rawValue, recordedAt: recordedAt, payload: payload))
        }
        return found
    }

    private static func expected(_ lengths: [Int], _ places: [Int]) -> [Found] {
        places.map { place in
            Found(
                sequence: UInt64(place + 1), recordedAt: Int64(place),
                payload: TemporaryJournal.payload(lengths[place], seed: place))
        }
    }

    // With the 57 bytes before the payload, 1,943 is the maximum for a leaf page.
    private static let lengths = [3, 70_000, 0, 1_943, 1_944, 300_000, 65_000, 200_000, 1, 70_000]
    private static let shortPlaces = [0, 2, 3, 8]

    @Test func `short entries are handed over in order, and longer ones are passed over`() throws {
        let store = try TemporaryJournal(payloads: Self.lengths)

        for first in 1...10 {
            for last in first...10 {
                let found = try store.environment.read {
                    try Self.found(from: UInt64(first), through: UInt64(last), of: store, in: $0)
                }
                let places = Self.shortPlaces.filter { first - 1 <= $0 && $0 < last }
                #expect(found == Self.expected(Self.lengths, places), "\(first) to \(last)")
            }
        }
    }

    @Test func `which entries are long is told without looking at all of them`() throws {
        let store = try TemporaryJournal(payloads: Self.lengths)
        let long = Set(Self.lengths.indices).subtracting(Self.shortPlaces)

        try store.environment.read { transaction in
            for place in Self.lengths.indices {
                let sequence = SequenceNumber(UInt64(place + 1))
                let isLong = try store.journal.isLong(sequence, in: transaction)
                let entry = try store.journal.entry(at: sequence, in: transaction)
                #expect(isLong == long.contains(place), "\(sequence)")
                #expect(entry?.isLong == isLong, "\(sequence)")
            }
            #expect(try !store.journal.isLong(SequenceNumber(11), in: transaction))
        }
    }

    @Test func `the root of a tile between entries is passed over`() throws {
        let lengths = Array(repeating: 1, count: 258)
        let store = try TemporaryJournal(payloads: lengths)

        let found = try store.environment.read {
            try Self.found(from: 254, through: 258, of: store, in: $0)
        }

        #expect(found == Self.expected(lengths, Array(253..<258)))
    }

    @Test func `the chunks of longer entries are not walked`() throws {
        let store = try TemporaryJournal(payloads: [1, 2_000_000, 1, 2_000_000, 1])
        let reading = CountingReading(environment: store.environment)

        let found = try Self.found(from: 1, through: 5, of: store, in: reading)

        #expect(found.map(\.sequence) == [1, 3, 5])
        // A digest and a first chunk of each.
        #expect(reading.counter.records == 10)
    }

    /// The change to the second of three entries.
    enum Change: CaseIterable, Sendable {
        case version, number, recordingTime, previous, length, payload, missingPayload, header
        case chunk, digest, missingDigest, shortDigest

        func apply(to store: TemporaryJournal) throws {
            let digestKey = TemporaryJournal.key(2)
            let chunkKey = TemporaryJournal.key(2, chunk: 0)
            var chunk = try store.record("journal", chunkKey) ?? []
            var digest = try store.record("journal", digestKey) ?? []
            switch self {
            case .version: chunk[0] ^= 1
            case .number: chunk[8] ^= 1
            case .recordingTime: chunk[16] ^= 1
            case .previous: chunk[20] ^= 1
            case .length: chunk[56] ^= 1
            case .payload: chunk[60] ^= 1
            case .missingPayload: chunk.removeLast()
            case .header: chunk.removeLast(chunk.count - 20)
            case .chunk: chunk = []
            case .digest: digest[5] ^= 1
            case .missingDigest: digest = []
            case .shortDigest: digest.removeLast()
            }
            try store.damage("journal", chunkKey, chunk.isEmpty ? nil : chunk)
            try store.damage("journal", digestKey, digest.isEmpty ? nil : digest)
        }
    }

    @Test(arguments: Change.allCases)
    func `an entry that was changed is passed over, and those around it are not`(
        change: Change
    ) throws {
        let store = try TemporaryJournal(payloads: [10, 10, 10])
        try change.apply(to: store)

        let found = try store.environment.read {
            try Self.found(from: 1, through: 3, of: store, in: $0)
        }

        #expect(found == Self.expected([10, 10, 10], [0, 2]))
    }
}

/// Reads, and counts the records that are walked.
private struct CountingReading: Reading {
    final class Counter {
        var records = 0
    }

    let environment: Environment
    let counter = Counter()

    func get<R>(
        _ table: Table, _ key: RawSpan, _ body: (_ value: RawSpan) throws -> R
    ) throws -> R? {
        try environment.read { try $0.get(table, key, body) }
    }

    func contains(_ table: Table, _ key: RawSpan) throws -> Bool {
        try environment.read { try $0.contains(table, key) }
    }

    func count(_ table: Table) throws -> Int {
        try environment.read { try $0.count(table) }
    }

    func seek<R>(
        _ table: Table, atOrAfter key: RawSpan,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        try environment.read { try $0.seek(table, atOrAfter: key, body) }
    }

    func seek<R>(
        _ table: Table, before key: RawSpan?,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
    ) throws -> R? {
        try environment.read { try $0.seek(table, before: key, body) }
    }

    func scan(
        _ table: Table, from lower: RawSpan, to upper: RawSpan?, order: ScanOrder,
        _ body: (_ key: RawSpan, _ value: RawSpan) throws -> ScanStep
    ) throws {
        try environment.read { transaction in
            try transaction.scan(table, from: lower, to: upper, order: order) { key, value in
                counter.records += 1
                return try body(key, value)
            }
        }
    }
}
