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
        SharedJournalRule("numbers that have run out are refused", numbers: 1 << 62) { place in
            let error = #expect(throws: SharedJournalError.self) {
                try place.journal().takeNumbers(1)
            }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("DB011") == true)
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
            ] {
                let error = #expect(throws: SharedJournalError.self) { try journal.set(mark) }
                #expect(error?.code == .refused)
            }
        },
    ]
}
