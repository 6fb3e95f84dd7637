import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

@Suite struct JournalTests {
    @Test func `an empty journal has head zero and a digest of zeros`() throws {
        let store = try TemporaryJournal()

        let (head, digest) = try store.environment.read {
            (try store.journal.head(in: $0), try store.journal.headDigest(in: $0))
        }

        #expect(head == .zero)
        #expect(digest == .zero)
        #expect(try store.findings() == [])
    }

    @Test func `entries are numbered from one and chained`() throws {
        let store = try TemporaryJournal()

        let first = try store.append([1], recordedAt: -5)
        let second = try store.append([], recordedAt: 6)

        #expect(first.sequence == SequenceNumber(1))
        #expect(first.previous == .zero)
        #expect(second.sequence == SequenceNumber(2))
        #expect(second.previous == first.digest)
        let read = try store.environment.read { transaction in
            [
                try store.journal.entry(at: first.sequence, in: transaction),
                try store.journal.entry(at: second.sequence, in: transaction),
            ]
        }
        #expect(read == [first, second])
    }

    @Test func `several entries of one write are chained`() throws {
        let store = try TemporaryJournal()
        let journal = store.journal

        try store.environment.write { transaction in
            for number in 0..<5 {
                _ = try journal.append(
                    payload: [UInt8(number)], recordedAt: 0, in: transaction)
            }
        }

        #expect(try store.environment.read { try journal.head(in: $0) } == SequenceNumber(5))
        #expect(try store.findings() == [])
    }

    @Test func `the bytes of an entry are pinned`() throws {
        let store = try TemporaryJournal()

        let entry = try store.append([0xAA, 0xBB], recordedAt: 0x0102)

        let zeros = [UInt8](repeating: 0, count: 32)
        let expected: [UInt8] =
            [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2] + zeros
            + [0, 0, 0, 0, 0, 0, 0, 2, 0xAA, 0xBB]
        #expect(try store.record("journal", TemporaryJournal.key(1, chunk: 0)) == expected)
        #expect(entry.digest == Digest.of([0] + expected))
        #expect(try store.record("journal", TemporaryJournal.key(1)) == entry.digest.bytes)
    }

    // 57 bytes of header precede the payload; an entry above 2,000 bytes is split every 65,520
    // bytes.
    @Test(arguments: [
        (0, 1), (1, 1), (1_943, 1), (1_944, 1), (65_463, 1), (65_464, 2), (65_465, 2),
        (130_983, 2), (130_984, 3), (300_000, 5),
    ])
    func `a payload of any length is read back`(length: Int, chunks: Int) throws {
        let store = try TemporaryJournal(payloads: [length, 3])
        let table = try store.environment.table("journal")

        let (entry, count) = try store.environment.read {
            (try store.journal.entry(at: SequenceNumber(1), in: $0), try $0.count(table))
        }

        #expect(entry?.payload == TemporaryJournal.payload(length, seed: 0))
        // And the one chunk of the second entry, and a digest of each.
        #expect(count == chunks + 3)
        #expect(try store.findings() == [])
    }

    @Test func `a digest stands before its entry and the root of a tile behind it`() throws {
        let store = try TemporaryJournal(payloads: Array(repeating: 1, count: 255) + [70_000, 1])
        let table = try store.environment.table("journal")
        var keys: [[UInt8]] = []
        let start = TemporaryJournal.key(256)

        try store.environment.read { transaction in
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, _ in
                keys.append(key.withUnsafeBytes { Array($0) })
                return .proceed
            }
        }

        #expect(
            keys == [
                start, TemporaryJournal.key(256, chunk: 0), TemporaryJournal.key(256, chunk: 1),
                start + [1], TemporaryJournal.key(257), TemporaryJournal.key(257, chunk: 0),
            ])
    }

    @Test(arguments: [255, 256, 257])
    func `the head is the last entry, before and behind the end of a tile`(count: Int) throws {
        let store = try TemporaryJournal(payloads: Array(repeating: 1, count: count))

        let head = try store.environment.read { try store.journal.head(in: $0) }

        #expect(head == SequenceNumber(UInt64(count)))
    }

    @Test func `a digest or a root without an entry is not the head`() throws {
        let store = try TemporaryJournal(payloads: [1, 1])
        try store.damage("journal", TemporaryJournal.key(3), Digest.of([1]).bytes)
        try store.damage("journal", TemporaryJournal.key(256) + [1], Digest.of([1]).bytes)

        let head = try store.environment.read { try store.journal.head(in: $0) }

        #expect(head == SequenceNumber(2))
    }

    @Test func `an entry that does not exist is nil`() throws {
        let store = try TemporaryJournal(payloads: [1])

        let entries = try store.environment.read { transaction in
            try [0, 2, UInt64.max].map {
                try store.journal.entry(at: SequenceNumber($0), in: transaction)
            }
        }

        #expect(entries == [nil, nil, nil])
    }

    @Test(
        arguments: [
            (0, nil, [1, 2, 3, 4]), (2, 3, [2, 3]), (3, 99, [3, 4]), (5, nil, []), (3, 2, []),
        ] as [(UInt64, UInt64?, [UInt64])])
    func `a range of entries is walked in either order`(
        first: UInt64, last: UInt64?, expected: [UInt64]
    ) throws {
        let store = try TemporaryJournal(payloads: [1, 70_000, 0, 5])
        func numbers(_ order: ScanOrder) throws -> [UInt64] {
            var found: [UInt64] = []
            try store.environment.read { transaction in
                try store.journal.entries(
                    from: SequenceNumber(first), through: last.map { SequenceNumber($0) },
                    order: order, in: transaction
                ) { entry in
                    found.append(entry.sequence.rawValue)
                    return .proceed
                }
            }
            return found
        }

        #expect(try numbers(.ascending) == expected)
        #expect(try numbers(.descending) == expected.reversed())
    }

    @Test func `a broken entry is refused by name`() throws {
        let store = try TemporaryJournal(payloads: [4, 4])
        let key = TemporaryJournal.key(2, chunk: 0)
        var bytes = try #require(try store.record("journal", key))
        bytes[58] ^= 1
        try store.damage("journal", key, bytes)

        let error = #expect(throws: JournalError.self) {
            try store.environment.read { try store.journal.entry(at: SequenceNumber(2), in: $0) }
        }

        #expect(error?.code == .entryBroken)
        #expect(error?.sequence == SequenceNumber(2))
        #expect(
            error?.message
                == "Entry 2 cannot be read: its digest does not match its bytes. "
                + "Run 'daybook verify' to see how far the damage goes.")
    }

    @Test func `a missing table is told by the journal with its cause`() throws {
        let other = try TemporaryJournal()
        let environment = try Environment.open(
            at: other.directory.path("other"), options: EnvironmentOptions(tables: ["entries"]))

        let error = #expect(throws: JournalError.self) { try Journal(in: environment) }

        #expect(error?.cause?.code == .noSuchTable)
    }
}
