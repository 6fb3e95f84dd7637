import DaybookObjectModel
import DaybookSnapshotStore
import Testing

extension SharedJournalRule {
    /// What is shared beside entries.
    static let keeping: [SharedJournalRule] = [
        SharedJournalRule("numbers taken during a turn stay taken when it is left", numbers: 7) {
            place in
            let journal = try place.journal()
            let first = try journal.takeNumbers(3)
            _ = try journal.enter(after: .start, bytes: 1)
            let second = try journal.takeNumbers(5)
            journal.leave()
            let third = try place.journal().takeNumbers(1)

            #expect([first, second, third] == [7..<10, 10..<15, 15..<16])
        },
        SharedJournalRule("numbers of many nodes never meet") { place in
            let ranges: [[Range<UInt64>]] = try waitingForThreads(8) { _ in
                let journal = try place.journal()
                return try (1...10).map { try journal.takeNumbers(UInt64($0)) }
            }
            let numbers = ranges.flatMap(\.self).flatMap { Array($0) }

            #expect(numbers.sorted() == Array(1...UInt64(8 * 55)))
        },
        SharedJournalRule("numbers that have run out are refused", numbers: (1 << 48) - 1) {
            place in
            let journal = try place.journal()
            func refuse(_ count: UInt64) {
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.takeNumbers(count)
                }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("DB011") == true)
            }
            refuse(2)
            #expect(try journal.takeNumbers(1) == (1 << 48) - 1..<1 << 48)
            refuse(1)
        },
        SharedJournalRule("no numbers, and too many at once, are refused") { place in
            let journal = try place.journal()
            for count: UInt64 in [0, (1 << 30) + 1, .max] {
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.takeNumbers(count)
                }
                #expect(error?.code == .refused)
            }
            #expect(try journal.takeNumbers(1 << 30) == 1..<(1 << 30) + 1)
        },
        SharedJournalRule(
            "a mark is set by who has read its version, and removed ones come back newer"
        ) {
            place in
            let journal = try place.journal()
            #expect(try journal.set(SharedMark(.tag, "v2", [2], version: 0)) == 1)
            #expect(try journal.set(SharedMark(.tag, "v1", [1], version: 0)) == 1)
            #expect(try journal.set(SharedMark(.cursor, "v1", [9], version: 0)) == 1)
            #expect(try journal.set(SharedMark(.tag, "v1", [3], version: 0)) == nil)
            #expect(try journal.set(SharedMark(.tag, "v1", [3], version: 1)) == 2)
            #expect(try journal.set(SharedMark(.tag, "v1", [3], version: 1)) == 2)
            #expect(
                try journal.marks(.tag) == [
                    SharedMark(.tag, "v1", [3], version: 2),
                    SharedMark(.tag, "v2", [2], version: 1),
                ])
            #expect(try journal.set(SharedMark(.tag, "v1", nil, version: 2)) == 3)
            #expect(try journal.marks(.tag).map(\.name) == ["v2"])
            // Another node has never seen it: for that one it is not there.
            let other = try place.journal()
            #expect(try other.set(SharedMark(.tag, "v1", [4], version: 0)) == 4)
            #expect(try other.set(SharedMark(.tag, "v1", [4], version: 0)) == 4)
            #expect(try other.set(SharedMark(.tag, "v1", [5], version: 0)) == nil)
            #expect(try journal.set(SharedMark(.tag, "v1", [4], version: 3)) == 4)
            #expect(try journal.set(SharedMark(.tag, "v1", nil, version: 4)) == 5)
            #expect(try journal.set(SharedMark(.tag, "v1", [6], version: 5)) == 6)
            #expect(
                try place.journal().marks(.cursor) == [SharedMark(.cursor, "v1", [9], version: 1)])
            #expect(try journal.marks(.value) == [])
        },
        SharedJournalRule("a mark that was never there can be removed, and comes back newer") {
            place in
            let journal = try place.journal()
            #expect(try journal.set(SharedMark(.value, "a", nil, version: 3)) == nil)
            #expect(try journal.set(SharedMark(.value, "a", nil, version: 0)) == 1)
            #expect(try journal.set(SharedMark(.value, "a", nil, version: 0)) == 1)
            #expect(try journal.marks(.value) == [])
            #expect(try journal.set(SharedMark(.value, "a", [], version: 0)) == 2)
            #expect(try journal.marks(.value) == [SharedMark(.value, "a", [], version: 2)])
        },
        SharedJournalRule("marks are sorted by the bytes of their names, and have lengths") {
            place in
            let journal = try place.journal()
            for name in ["é", "z", "Z", "e\u{301}"] {
                #expect(try journal.set(SharedMark(.tag, name, [], version: 0)) == 1)
            }
            let names = try journal.marks(.tag).map(\.name)
            #expect(
                names.map { Array($0.utf8) } == ["Z", "e\u{301}", "z", "é"].map { Array($0.utf8) })

            let long = [UInt8](repeating: 7, count: 1 << 20)
            let name = String(repeating: "n", count: 1_024)
            #expect(try journal.set(SharedMark(.tag, name, long, version: 0)) == 1)
            for mark in [
                SharedMark(.tag, name + "n", [], version: 0),
                SharedMark(.tag, "long", long + [7], version: 0),
                SharedMark(.tag, "n\u{0}", [], version: 0),
            ] {
                let error = #expect(throws: SharedJournalError.self) { try journal.set(mark) }
                #expect(error?.code == .refused)
            }
        },
        SharedJournalRule("records of large data are there for everybody once they were kept") {
            place in
            let journal = try place.journal()
            let records = (1...5).map { SharedRecord(level: $0 % 2, [UInt8($0), 7]) }
            let keys = records.map(\.key)
            #expect(Set(try journal.lacking(keys)) == Set(keys))
            #expect(try journal.records(keys) == [])

            try journal.keep(Array(records[..<3]))
            let other = try place.journal()
            #expect(Set(try other.lacking(keys)) == Set(keys[3...]))
            #expect(Set(try other.records(keys)) == Set(records[..<3]))
            try other.keep(records + records)
            #expect(try journal.lacking(keys) == [])
            #expect(Set(try journal.records(Array(keys[2...]))) == Set(records[2...]))
            // The same digest on another level is another record.
            let elsewhere = ChunkKey(level: 2, digest: keys[0].digest)
            #expect(try journal.lacking([elsewhere, keys[0]]) == [elsewhere])
        },
        SharedJournalRule("records are kept during a turn, and stay when it is left") { place in
            let journal = try place.journal()
            let record = SharedRecord(level: 0, [1])
            _ = try journal.enter(after: .start, bytes: 1)
            try journal.keep([record])
            #expect(try journal.records([record.key]) == [record])
            journal.leave()
            #expect(try place.journal().records([record.key]) == [record])
        },
        SharedJournalRule(
            "a record has its digest and no more bytes than fit, or none of a list is kept"
        ) {
            place in
            let journal = try place.journal()
            let good = SharedRecord(level: 0, [UInt8](repeating: 1, count: 65_520))
            let bad: [(SharedRecord, String)] = [
                (SharedRecord(good.key, [1]), "DB004"),
                (SharedRecord(ChunkKey(level: 1, digest: good.key.digest), good.bytes), "DB004"),
                (SharedRecord(level: 0, good.bytes + [1]), "DB008"),
                (SharedRecord(level: 0, []), "DB008"), (SharedRecord(level: 4, [1]), "DB008"),
                (SharedRecord(level: -1, [1]), "DB008"),
            ]
            for (record, name) in bad {
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.keep([good, record])
                }
                #expect(error?.code == .refused)
                #expect(error?.message.contains(name) == true)
            }
            let error = #expect(throws: SharedJournalError.self) { try journal.keep([]) }
            #expect(error?.message.contains("DB008") == true)
            #expect(try journal.lacking([good.key]) == [good.key])
            try journal.keep([good])
            #expect(try journal.records([good.key]) == [good])
        },
    ]
}

extension SharedRecord {
    /// The record of a level that has these bytes.
    fileprivate init(level: Int, _ bytes: [UInt8]) {
        self.init(ChunkKey(level: level, of: bytes.span.bytes), bytes)
    }
}
