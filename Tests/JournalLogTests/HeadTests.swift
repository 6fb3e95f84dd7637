import DaybookJournalLog
import DaybookLMDB
import DaybookTestSupport
import Testing

/// The end of the journal, which is recorded twice.
struct HeadTests {
    private func head(_ file: TemporaryJournal) throws -> SequenceNumber {
        try file.environment.read { try file.journal.head(in: $0) }
    }

    private func damageHead(_ file: TemporaryJournal, _ value: [UInt8]?) throws {
        let table = file.environment.mainTable
        let key = "head".utf8.map(\.self)
        try file.environment.write { transaction in
            if let value {
                try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
            } else {
                _ = try transaction.delete(table, key.span.bytes)
            }
        }
    }

    private func expectBroken(
        _ words: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        let refusal = #expect(throws: JournalError.self, sourceLocation: sourceLocation) {
            try body()
        }
        #expect(refusal?.code == .entryBroken, sourceLocation: sourceLocation)
        let message = refusal?.message ?? ""
        #expect(message.contains(words), "\(message)", sourceLocation: sourceLocation)
        #expect(message.contains("'daybook verify'"), sourceLocation: sourceLocation)
    }

    @Test(arguments: [1, 3, 5] as [UInt64])
    func `a journal without its last entries is not taken for a shorter one`(left: UInt64) throws {
        let file = try TemporaryJournal(payloads: [10, 20, 30, 40, 50, 60])

        for number in (left + 1)...6 {
            try file.damage("journal", TemporaryJournal.key(number), nil)
            try file.damage("journal", TemporaryJournal.key(number, chunk: 0), nil)
        }

        let words = "it says that it ends with entry 6, and \(left) is the last one found"
        expectBroken(words) { _ = try head(file) }
        expectBroken(words) {
            try file.environment.read {
                try file.journal.entries(from: .zero, through: nil, in: $0) { _ in .proceed }
            }
        }
        expectBroken(words) { try file.append([1], recordedAt: 0) }
        #expect(try file.findings().map(\.kind) == [.headBroken])
    }

    @Test(arguments: [1, 7, 8, 39, 41])
    func `an end told in too few or too many bytes is a finding, and the only one`(
        length: Int
    ) throws {
        let file = try TemporaryJournal(payloads: [10, 20, 30])

        try damageHead(file, [UInt8](repeating: 0, count: length))

        expectBroken("has \(length) bytes") { _ = try head(file) }
        #expect(try file.findings().map(\.kind) == [.headBroken])
    }

    @Test func `an empty journal that had entries is not taken for a new one`() throws {
        let file = try TemporaryJournal(payloads: [10])

        let table = try file.environment.table("journal")
        try file.environment.write { try $0.clear(table) }

        expectBroken("ends with entry 1, and 0 is the last one found") { _ = try head(file) }
        #expect(try file.findings().map(\.kind) == [.headBroken])
    }

    @Test func `a journal that does not say how it ends is damaged`() throws {
        let file = try TemporaryJournal(payloads: [10, 20])

        try damageHead(file, nil)

        expectBroken("does not say which is the last") { _ = try head(file) }
        #expect(try file.findings().map(\.kind) == [.headBroken])
    }

    @Test func `another last entry than the one that was written is told by its digest`() throws {
        let file = try TemporaryJournal(payloads: [10, 20])
        let other = try TemporaryJournal(payloads: [10, 21])
        for key in [TemporaryJournal.key(2), TemporaryJournal.key(2, chunk: 0)] {
            try file.damage("journal", key, try other.record("journal", key))
        }

        let words = "it says that it ends with another entry 2"
        expectBroken(words) {
            _ = try file.environment.read { try file.journal.headDigest(in: $0) }
        }
        expectBroken(words) {
            try file.environment.read {
                try file.journal.entries(from: .zero, through: nil, in: $0) { _ in .proceed }
            }
        }
        #expect(try file.findings().map(\.kind) == [.headBroken])
    }

    @Test func `every bit of what says how it ends counts`() throws {
        let file = try TemporaryJournal(payloads: [10, 20, 30])
        let table = file.environment.mainTable
        let key = "head".utf8.map(\.self)
        let value = try #require(
            try file.environment.read {
                try $0.get(table, key.span.bytes) { bytes in bytes.withUnsafeBytes { Array($0) } }
            })

        for bit in 0..<(value.count * 8) {
            var flipped = value
            flipped[bit / 8] ^= 1 << (bit % 8)
            try damageHead(file, flipped)
            #expect(throws: JournalError.self, "bit \(bit)") {
                try file.environment.read { try file.journal.headDigest(in: $0) }
            }
            #expect(try file.findings().map(\.kind) == [.headBroken], "bit \(bit)")
        }
    }

    @Test(arguments: [.max, .max - 1, 1 << 63, 1 << 62 + 1] as [UInt64])
    func `an entry of an impossible number stops nothing`(number: UInt64) throws {
        let file = try TemporaryJournal(payloads: [10, 20])
        let chunk = try #require(try file.record("journal", TemporaryJournal.key(2, chunk: 0)))
        try file.damage("journal", TemporaryJournal.key(number, chunk: 0), chunk)

        expectBroken("no journal has that many") { _ = try head(file) }
        expectBroken("no journal has that many") { try file.append([1], recordedAt: 0) }
        let findings = try file.findings()
        #expect(
            findings.map(\.message).contains(
                "Entry \(number) is damaged: no journal has that many."),
            "\(findings)")
        #expect(SequenceNumber(.max).next == SequenceNumber(.max))
    }
}
