import DaybookJournalLog
import DaybookLMDB
import Testing

@Suite struct VerificationTests {
    private func findings(
        _ lengths: [Int] = [10, 70_000, 10, 10],
        _ damage: (TemporaryJournal) throws -> Void
    ) throws -> [String] {
        let store = try TemporaryJournal(payloads: lengths)
        try damage(store)
        return try store.findings().map(\.message)
    }

    private func flip(
        _ store: TemporaryJournal, _ table: String, _ key: [UInt8], at offset: Int
    ) throws {
        var bytes = try #require(try store.record(table, key))
        bytes[offset] ^= 0x10
        try store.damage(table, key, bytes)
    }

    @Test func `a sound journal has no findings and reports progress to its end`() throws {
        let store = try TemporaryJournal(payloads: [10, 70_000, 10])
        var reached: SequenceNumber?

        try store.environment.read {
            try store.journal.verify(
                in: $0, { _ in Issue.record("a finding in a sound journal") },
                progress: { done, _ in reached = done })
        }

        #expect(reached == SequenceNumber(3))
    }

    @Test func `a changed payload is named`() throws {
        let found = try findings {
            try flip($0, "journal", TemporaryJournal.key(3, chunk: 0), at: 60)
        }

        #expect(found == ["Entry 3 is damaged: its digest does not match its bytes."])
    }

    @Test func `a changed byte in a later chunk is named`() throws {
        let found = try findings {
            try flip($0, "journal", TemporaryJournal.key(2, chunk: 1), at: 9)
        }

        #expect(found == ["Entry 2 is damaged: its digest does not match its bytes."])
    }

    @Test func `every single changed byte of an entry is found`() throws {
        let store = try TemporaryJournal(payloads: [10, 10, 10])
        let key = TemporaryJournal.key(2, chunk: 0)
        let whole = try #require(try store.record("journal", key))

        for offset in whole.indices {
            var bytes = whole
            bytes[offset] ^= 1
            try store.damage("journal", key, bytes)

            let found = try store.findings()

            #expect(found.contains { $0.sequence == SequenceNumber(2) }, "offset \(offset)")
        }
    }

    @Test func `a changed digest is named with the entry after it`() throws {
        let found = try findings { try flip($0, "journal", TemporaryJournal.key(2), at: 5) }

        #expect(
            found == [
                "Entry 2 is damaged: its digest does not match its bytes.",
                "Entry 3 breaks the chain: it does not carry the digest of entry 2.",
            ])
    }

    @Test func `an entry rewritten with its digest breaks the chain after it`() throws {
        let found = try findings { store in
            let key = TemporaryJournal.key(1, chunk: 0)
            var bytes = try #require(try store.record("journal", key))
            bytes[58] ^= 1
            try store.damage("journal", key, bytes)
            try store.damage("journal", TemporaryJournal.key(1), Digest.of([0] + bytes).bytes)
        }

        #expect(found == ["Entry 2 breaks the chain: it does not carry the digest of entry 1."])
    }

    @Test func `a missing entry is a gap and its digest one too many`() throws {
        let found = try findings {
            try $0.damage("journal", TemporaryJournal.key(3, chunk: 0), nil)
        }

        #expect(
            found == [
                "Entry 3 is missing.", "There is a digest for entry 3, but no such entry.",
            ])
    }

    @Test func `entries missing at the beginning are a gap`() throws {
        let found = try findings([1, 1, 1]) { store in
            for number: UInt64 in [1, 2] {
                try store.damage("journal", TemporaryJournal.key(number, chunk: 0), nil)
                try store.damage("journal", TemporaryJournal.key(number), nil)
            }
        }

        #expect(found == ["Entries 1 to 2 are missing."])
    }

    @Test func `a missing chunk is named`() throws {
        let found = try findings {
            try $0.damage("journal", TemporaryJournal.key(2, chunk: 0), nil)
        }

        #expect(found == ["Entry 2 is damaged: its chunk 0 is missing."])
    }

    @Test func `a missing last chunk is named`() throws {
        let found = try findings {
            try $0.damage("journal", TemporaryJournal.key(2, chunk: 1), nil)
        }

        #expect(found == ["Entry 2 is damaged: its end is missing after 65520 bytes."])
    }

    @Test func `a chunk too many is named`() throws {
        let found = try findings {
            try $0.damage("journal", TemporaryJournal.key(4, chunk: 1), [7])
        }

        #expect(found == ["Entry 4 is damaged: 1 bytes too many are at its end."])
    }

    @Test func `a missing digest is named`() throws {
        let found = try findings { try $0.damage("journal", TemporaryJournal.key(1), nil) }

        #expect(found == ["The digest of entry 1 is missing."])
    }

    @Test func `a digest of the wrong length is named`() throws {
        let found = try findings { try $0.damage("journal", TemporaryJournal.key(1), [1, 2]) }

        #expect(
            found == [
                "The digest of entry 1 is missing.",
                "The digest of entry 1 has 2 bytes instead of 32.",
            ])
    }

    @Test func `a digest without an entry is named`() throws {
        let found = try findings {
            try $0.damage("journal", TemporaryJournal.key(9), [UInt8](repeating: 1, count: 32))
        }

        #expect(found == ["There is a digest for entry 9, but no such entry."])
    }

    @Test func `an unknown format version is named`() throws {
        let found = try findings { store in
            let key = TemporaryJournal.key(2, chunk: 0)
            var bytes = try #require(try store.record("journal", key))
            bytes[0] = 9
            try store.damage("journal", key, bytes)
        }

        #expect(
            found == [
                "Entry 2 is damaged: its format version is 9, and this program reads version 1."
            ])
    }

    @Test func `an entry under another's number is named`() throws {
        let found = try findings([1, 1]) { store in
            let bytes = try #require(
                try store.record("journal", TemporaryJournal.key(1, chunk: 0)))
            try store.damage("journal", TemporaryJournal.key(2, chunk: 0), bytes)
        }

        #expect(found == ["Entry 2 is damaged: its bytes are those of entry 1."])
    }

    @Test func `a key of the wrong length is named`() throws {
        let found = try findings([1, 1]) { try $0.damage("journal", [0, 0, 1], [1]) }

        #expect(found == ["A key of the journal after entry 2 has 3 bytes, not 8, 9 or 12."])
    }

    @Test func `all damage is reported and not only the first`() throws {
        let found = try findings([1, 1, 1, 1]) { store in
            try flip(store, "journal", TemporaryJournal.key(1, chunk: 0), at: 57)
            try store.damage("journal", TemporaryJournal.key(3, chunk: 0), nil)
            try store.damage("journal", TemporaryJournal.key(4), nil)
        }

        #expect(
            found == [
                "Entry 1 is damaged: its digest does not match its bytes.",
                "Entry 3 is missing.",
                "The digest of entry 4 is missing.",
                "There is a digest for entry 3, but no such entry.",
            ])
    }
}
