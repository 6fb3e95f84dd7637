import DaybookJournalLog
import DaybookObjectModel
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Damages that are done to files, and pages that are put into them.
enum DamagedFile {
    /// Writes a copy of a store without the bytes of some entries, wherever they are.
    static func lose(_ sequences: [UInt64], of sound: String, into damaged: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        for entry in try entries(of: sound) where sequences.contains(entry.sequence.rawValue) {
            let wanted = Data(entry.bytes)
            var count = 0
            while let place = bytes.range(of: wanted) {
                bytes[place.lowerBound + 60] ^= 0xFF
                count += 1
            }
            #expect(count > 0)
        }
        try bytes.write(to: URL(fileURLWithPath: damaged))
    }

    /// All entries of a sound store.
    static func entries(of path: String) throws -> [JournalEntry] {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        var entries: [JournalEntry] = []
        try store.journalEntries(from: SequenceNumber(1), through: store.head()) { entry in
            entries.append(entry)
            return .proceed
        }
        try store.close()
        return entries
    }

    /// Sets tags, a cursor and a kept value.
    static func mark(_ path: String) throws {
        let store = try Store.open(at: path)
        let head = try store.head()
        try store.setTag("early", at: SequenceNumber(2), author: "ada", note: "first")
        if head > SequenceNumber(9) { try store.setTag("late", at: SequenceNumber(9)) }
        try store.setTag("last")
        try store.setCursor("mail", to: min(head, SequenceNumber(9)))
        try store.setUserValues(["a": .int(7)])
        try store.close()
    }

    /// All of these.
    static func marks(_ path: String) throws -> [String] {
        try reading(path) { store in
            try store.tags().map { "\($0)" } + store.cursors().map { "\($0)" }
                + ["\(try store.userValues())"]
        }
    }

    /// Opens a store for reading, and closes it.
    static func reading<R>(_ path: String, _ body: (Store) throws -> R) throws -> R {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        let result = try body(store)
        try store.close()
        return result
    }

    /// Overwrites every page that has some bytes.
    static func overwritePages(with wanted: Data, of bytes: inout Data, size: Int = 4_096) {
        while let place = bytes.range(of: wanted) {
            let page = place.lowerBound / size * size
            bytes.replaceSubrange(page..<page + size, with: Data(repeating: 0xA5, count: size))
        }
    }

    /// A leaf page with an entry and its digest.
    static func leaf(_ number: UInt64, _ entry: JournalEntry, size: Int = 4_096) -> Data {
        let key = big(entry.sequence.rawValue, 8)
        let records = [
            Record(key: key, value: entry.digest.bytes),
            Record(key: key + [0, 0, 0, 0], value: entry.bytes),
        ]
        return leaf(number, records, size: size)
    }

    /// A record of a leaf page.
    struct Record {
        let key: [UInt8]
        let value: [UInt8]
        /// How many bytes its value has on pages of its own, whose number stands here; nil for none.
        var countElsewhere: Int?
    }

    /// A leaf page with some records.
    static func leaf(_ number: UInt64, _ records: [Record], size: Int = 4_096) -> Data {
        var page = Data(count: size)
        var upper = size
        func put(_ bytes: [UInt8], at place: Int) {
            page.replaceSubrange(place..<place + bytes.count, with: bytes)
        }
        for (index, record) in records.enumerated() {
            let length = 8 + record.key.count + record.value.count
            upper -= length + length % 2
            let count = record.countElsewhere ?? record.value.count
            let flags: [UInt8] = [record.countElsewhere == nil ? 0 : 1, 0]
            put(little(count, 4) + flags + little(record.key.count, 2), at: upper)
            put(record.key + record.value, at: upper + 8)
            put(little(upper, 2), at: 16 + 2 * index)
        }
        let lower = 16 + 2 * records.count
        put(little(Int(number), 8) + [0, 0, 2, 0] + little(lower, 2) + little(upper, 2), at: 0)
        return page
    }

    static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func big(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
    }
}
