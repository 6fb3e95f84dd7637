import CDaybookChecks
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

@Suite struct RecordCheckTests {
    private func bytes(_ bytes: UInt8...) -> [UInt8] { bytes }

    /// RFC 3720, B.4, and the check value that is usually given for CRC-32C.
    @Test(
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            ((0..<32).map { UInt8($0) }, 0x46DD_794E),
            ((0..<32).map { 31 - UInt8($0) }, 0x113F_DB5C),
            (Array("123456789".utf8), 0xE306_9283),
        ] as [([UInt8], UInt32)])
    func `the check is CRC-32C`(bytes: [UInt8], expected: UInt32) {
        #expect(daybook_crc32c(0, bytes, bytes.count) == expected)
        #expect(daybook_crc32c_plain(0, bytes, bytes.count) == expected)
    }

    @Test func `it can be made in parts, with or without the processor's instruction`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<70, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let whole = daybook_crc32c(0, bytes, bytes.count)
            let first = daybook_crc32c(0, bytes, cut)

            #expect(daybook_crc32c(first, Array(bytes[cut...]), bytes.count - cut) == whole)
            #expect(daybook_crc32c_plain(0, bytes, bytes.count) == whole)
        }
    }

    @Test func `a record does not pass under another key, in another table, or with a changed bit`()
    {
        let check = RecordCheck(table: "rows")
        let key: [UInt8] = [0, 0, 0, 1, 9]
        let value: [UInt8] = [1, 2, 3]
        func number(_ check: RecordCheck, _ key: [UInt8], _ value: [UInt8]) -> UInt32 {
            key.withUnsafeBytes { key in value.withUnsafeBytes { check.number(of: key, $0) } }
        }
        let right = number(check, key, value)

        #expect(number(RecordCheck(table: "index"), key, value) != right)
        for bit in 0..<40 {
            var other = key
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(number(check, other, value) != right)
        }
        for bit in 0..<24 {
            var other = value
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(number(check, key, other) != right)
        }
    }

    @Test(arguments: [0, 1, 100, 5_000])
    func `a value is read as it was written, inside the write and after it`(length: Int) throws {
        let directory = try TemporaryDirectory()
        var options = EnvironmentOptions(tables: ["checked", "plain"])
        options.checkedTables = ["checked"]
        let environment = try Environment.open(at: directory.path("file"), options: options)
        let (checked, plain) = (try environment.table("checked"), try environment.table("plain"))
        let value = (0..<length).map { UInt8(truncatingIfNeeded: $0) }

        try environment.write { transaction in
            for table in [checked, plain] {
                for number in 0..<3 as Range<UInt8> {
                    let mode = number == 0 ? PutMode.insertOnly : .append
                    try transaction.put(table, bytes(1, number).span.bytes, value.span.bytes, mode)
                }
                let inside = try transaction.get(table, bytes(1, 1).span.bytes) { $0.array }
                #expect(inside == value)
            }
        }

        try environment.read { transaction in
            for table in [checked, plain] {
                #expect(try transaction.get(table, bytes(1, 2).span.bytes) { $0.array } == value)
                try transaction.scan(table, from: bytes(1).span.bytes, to: nil, order: .descending)
                {
                    #expect($1.array == value)
                    return .proceed
                }
            }
            try transaction.scan(
                checked.unchecked, from: bytes(1).span.bytes, to: nil, order: .ascending
            ) { key, stored in
                #expect(stored.byteCount == length + checked.checkSize)
                let (own, other) = (
                    checked.accepts(key, stored: stored),
                    checked.accepts(bytes(2).span.bytes, stored: stored)
                )
                #expect(own && !other)
                return .proceed
            }
        }
    }

    @Test func `a damaged record is refused by reads and by writes`() throws {
        let directory = try TemporaryDirectory()
        var options = EnvironmentOptions(tables: ["rows"])
        options.checkedTables = ["rows"]
        let environment = try Environment.open(at: directory.path("file"), options: options)
        let rows = try environment.table("rows")
        try environment.write { transaction in
            try transaction.put(
                rows.unchecked, bytes(1).span.bytes, bytes(7, 0, 0, 0, 0).span.bytes, .upsert)
        }

        let messages = [
            #expect(throws: LMDBError.self) {
                try environment.read { try $0.get(rows, bytes(1).span.bytes) { $0.array } }
            },
            #expect(throws: LMDBError.self) {
                try environment.write { try $0.get(rows, bytes(1).span.bytes) { $0.array } }
            },
            #expect(throws: LMDBError.self) {
                try environment.write { transaction in
                    try transaction.seek(rows, before: nil) { _, value in value.array }
                }
            },
        ].map { $0?.message ?? "" }

        for message in messages {
            #expect(message.hasPrefix("The file is damaged"))
            #expect(
                message.contains(
                    "of 'rows': the check of a record does not fit its key and value.")
                    || message.contains(
                        "in 'rows': the check of a record does not fit its key and value.")
            )
        }
    }
}
