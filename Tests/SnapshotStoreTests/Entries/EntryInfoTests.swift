import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Information of entries: its bytes, its limits, and that every reader has it.
@Suite struct EntryInfoTests {
    // MARK: - Bytes

    /// The bytes of a header with that information, as text: `3, 1, 0, 0, 0, 0, 0, 0`, then the pairs.
    private static let start: [UInt8] = [3, 1, 0, 0, 0, 0, 0, 0]

    @Test func `information stands at the end of the header, in the order of the keys' bytes`()
        throws
    {
        // In the order of Swift's texts, 'é' of two scalars comes before 'z'.
        let header = EntryHeader(info: ["z": "1", "e\u{301}": "", "Z": "22"])

        let bytes = EntryPayload.bytes(header, [])

        #expect(
            bytes == Self.start + [3]
                + [1, 0x5A, 2, 0x32, 0x32]
                + [3, 0x65, 0xCC, 0x81, 0]
                + [1, 0x7A, 1, 0x31]
                + [0])
        #expect(try EntryPayload(bytes).header == header)
    }

    @Test func `an entry without information has the bytes that it had, and one form`() throws {
        let range = SequenceNumber(7)...SequenceNumber(9)
        let forms = [
            EntryPayload.bytes(EntryHeader(), []),
            EntryPayload.bytes(EntryHeader(undoes: range), []),
            EntryPayload.bytes(EntryHeader(info: ["a": "b"]), []),
            EntryPayload.bytes(EntryHeader(info: ["a": "b"], undoes: range), []),
        ]

        #expect(forms.map { $0[0] } == [1, 2, 3, 4])
        #expect(forms[0] == [1, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(try EntryPayload(forms[3]).header.undoes == range)
    }

    @Test(
        arguments: [
            // No pairs, more than there are, and too many.
            [0], [2, 1, 0x61, 0], [65],
            // The same key twice, the keys turned round, and two spellings of one text.
            [2, 1, 0x61, 0, 1, 0x61, 0], [2, 1, 0x62, 0, 1, 0x61, 0],
            [2, 3, 0x65, 0xCC, 0x81, 0, 2, 0xC3, 0xA9, 0],
            // Keys that are empty, have a control character or '=', or are no text.
            [1, 0, 0], [1, 1, 0x0A, 0], [1, 1, 0x3D, 0], [1, 1, 0xFF, 0],
            // A value that is no text.
            [1, 1, 0x61, 1, 0xC3],
        ] as [[UInt8]])
    func `only the canonical form is read`(pairs: [UInt8]) {
        #expect(throws: DecodingFailure.self) { try EntryPayload(Self.start + pairs + [0]) }
    }

    @Test func `lengths are checked when an entry is read, too`() {
        let key = [UInt8](repeating: 0x61, count: EntryInfo.keyBytesMaximum + 1)
        let value = [UInt8](repeating: 0x61, count: EntryInfo.valueBytesMaximum + 1)
        var long = ByteWriter()
        long.append(variable: UInt64(key.count))
        let keyed = Self.start + [1] + long.bytes + key + [0, 0]
        var longer = ByteWriter()
        longer.append(variable: UInt64(value.count))
        let valued = Self.start + [1, 1, 0x61] + longer.bytes + value + [0]

        #expect(throws: DecodingFailure.self) { try EntryPayload(keyed) }
        #expect(throws: DecodingFailure.self) { try EntryPayload(valued) }
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `information comes back from its bytes, and nothing cut short does`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let header = EntryHeader(
            author: "Ada", info: Self.random(&generator), occurredAt: Int64(seed))

        let bytes = EntryPayload.bytes(header, [])
        let read = try EntryPayload(bytes)

        #expect(read.header.info == header.info, "seed \(seed)")
        #expect(EntryPayload.bytes(read.header, []) == bytes, "seed \(seed)")
        #expect(
            try EntryPayload.occurredAt(in: bytes.span.bytes) == header.occurredAt, "seed \(seed)")
        for end in bytes.indices {
            #expect(throws: DecodingFailure.self, "seed \(seed), \(end)") {
                try EntryPayload(Array(bytes[..<end]))
            }
        }
        // A byte changed is refused, or means something else: no other bytes mean the same.
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            guard let decoded = decoded(other) else { continue }
            #expect(
                EntryPayload.bytes(decoded.header, decoded.changes) == other,
                "seed \(seed), \(index)")
        }
    }

    /// The entry of some bytes; nil when they are refused.
    private func decoded(_ bytes: [UInt8]) -> EntryPayload? {
        do {
            return try EntryPayload(bytes)
        } catch {
            return nil
        }
    }

    private static func random(_ generator: inout SeededGenerator) -> [String: String] {
        let letters = ["a", "Z", "é", "e\u{301}", " ", "-", "日", "🇯🇵", "\"", "\\"]
        func text(_ lengths: ClosedRange<Int>) -> String {
            (0..<Int.random(in: lengths, using: &generator)).map { _ in
                letters.randomElement(using: &generator) ?? ""
            }.joined()
        }
        var info: [String: String] = [:]
        for _ in 0..<Int.random(in: 1...5, using: &generator) { info[text(1...3)] = text(0...6) }
        return info
    }

    // MARK: - Limits

    @Test(arguments: [
        (["": "x"], "is empty"), (["a\nb": "x"], "has the character"), (["a=b": "x"], "has '='"),
        ([String(repeating: "é", count: 65): "x"], "is longer than 128 bytes"),
        (["long": String(repeating: "é", count: 2_049)], "has 4098 bytes"),
        (
            Dictionary(uniqueKeysWithValues: (1...65).map { ("key \($0)", "") }),
            "65 keys of information"
        ),
    ])
    func `what an entry cannot keep is refused, and nothing is saved`(
        info: [String: String], reason: String
    ) throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let request = SaveRequest(
            header: EntryHeader(info: info),
            changes: [store.insert(skill, ["title": .string("Sailing")])])

        let error = #expect(throws: StoreError.self) { try store.commit(request) }

        #expect(error?.code == .information)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(try store.head() == SequenceNumber(1))
    }

    @Test func `the most that is allowed is kept`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let info = Dictionary(
            uniqueKeysWithValues: (1...64).map { number in
                let key = "\(number)".padded(to: 128)
                return (key, String(repeating: "x", count: 4_096))
            })

        let result = try store.commit(
            SaveRequest(
                header: EntryHeader(info: info),
                changes: [store.insert(skill, ["title": .string("Sailing")])]))

        #expect(try store.entry(try #require(result.sequence)).header.info == info)
        #expect(try store.sequence(atTime: .max) == result.sequence)
    }

    @Test func `a store and a model with what cannot be kept are not made`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("new.daybook")

        let error = #expect(throws: StoreError.self) {
            try TestStore.create(at: path, model: .sample, info: ["": "x"])
        }

        #expect(error?.code == .information)
        #expect(throws: StoreError.self) { try TestStore.open(at: path) }
    }

    // MARK: - Readers

    @Test func `headings, blame, undo, redo and restore have the information of their entry`()
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        func info(_ number: Int) -> [String: String] { ["request": "\(number)"] }
        let insert = [store.insert(skill, ["title": .string("Sailing")])]
        try store.commit(SaveRequest(header: EntryHeader(info: info(2)), changes: insert))

        let blame = try store.blame(of: store.property("title", of: skill), in: skill)
        try store.commit(try store.undoRequest(of: SequenceNumber(2), info: info(3)))
        let redo = try store.redoPlan(
            of: SequenceNumber(2)...SequenceNumber(2), info: info(4))
        try store.commit(try redo.permitted())
        try store.commit(SaveRequest(changes: [try store.delete(skill)]))
        try store.commit(try store.restorePlan(of: skill, info: info(6)).permitted())
        let returned = try store.blame(of: store.property("title", of: skill), in: skill)

        #expect(blame?.info == info(2))
        #expect(returned?.returning?.heading.info == info(6))
        for number in [2, 3, 4, 6] as [UInt64] {
            #expect(try store.heading(of: SequenceNumber(number)).info == info(Int(number)))
        }
        #expect(try store.heading(of: SequenceNumber(5)).info.isEmpty)
        let report = try store.verify()
        #expect(report.isSound)
    }
}

extension String {
    /// The text with points after it.
    fileprivate func padded(to count: Int) -> String {
        self + String(repeating: ".", count: count - self.count)
    }
}
