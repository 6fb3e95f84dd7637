import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

@Suite struct EncodedRowTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a row as read gives the values it was made from`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = RowEncoder()

        for _ in 0..<500 {
            let values = random.values()
            let since = SequenceNumber(rawValue: random.next())
            encoder.encode(since: since, values)

            let row = try EncodedRow(encoder.bytes)

            #expect(row.since == since, "seed \(seed)")
            #expect(row.values == values, "seed \(seed)")
            #expect(values.indices.map { row.value(inSlot: $0) } == values, "seed \(seed)")
            #expect(row.value(inSlot: values.count) == .null, "seed \(seed)")
            #expect(Row(row) == Row(since: since, values: values), "seed \(seed)")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `gathered rows are found by their objects, in their order`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = RowEncoder()
        var collector = RowCollector()
        var expected: [ObjectID: [Value]] = [:]
        var handedOut: [EncodedRows] = []
        var object = ObjectID(entity: EntityNumber(rawValue: 1), number: 0)

        for step in 1...2_000 {
            object = ObjectID(
                entity: EntityNumber(rawValue: step < 1_000 ? 1 : 2),
                number: object.number
                    + (step % 90 == 0 ? 1_000 : .random(in: 1...2, using: &random)))
            let isLong = Int.random(in: 0...40, using: &random) == 0
            let values =
                isLong ? [.string(String(repeating: "b", count: 70_000))] : random.values()
            encoder.encode(since: SequenceNumber(rawValue: UInt64(step)), values)
            expected[object] = values
            if !collector.isEmpty, !collector.hasRoom(for: object) {
                handedOut.append(collector.take())
            }
            collector.append(object, encoder.bytes.span.bytes)
        }
        handedOut.append(collector.take())

        #expect(collector.isEmpty)
        var found: [ObjectID] = []
        for rows in handedOut {
            var count = 0
            rows.forEach { object, row in
                count += 1
                found.append(object)
                #expect(row.values == expected[object], "seed \(seed)")
                #expect(rows.row(of: object)?.values == expected[object], "seed \(seed)")
                let stranger = ObjectID(
                    entity: EntityNumber(rawValue: 9), number: object.number)
                #expect(rows.row(of: stranger) == nil, "seed \(seed)")
            }
            #expect(rows.count == count, "seed \(seed)")
        }
        #expect(found == expected.keys.sorted(), "seed \(seed)")
        #expect(handedOut.contains { $0.count > 20 }, "seed \(seed)")
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `a row with an undecodable value is refused when it is read`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var encoder = RowEncoder()
        var refused = 0

        for _ in 0..<4_000 {
            encoder.encode(since: SequenceNumber(rawValue: 7), random.values())
            var bytes = encoder.bytes
            random.damage(&bytes)

            let isDecodable = (try? RowLayout(bytes.span.bytes).values(in: bytes.span.bytes)) != nil
            let packed = try? EncodedRow(bytes)

            #expect((packed != nil) == isDecodable, "seed \(seed): \(bytes)")
            if packed == nil { refused += 1 }
        }

        #expect(refused > 400, "seed \(seed)")
    }

    @Test func `text that is not UTF-8 is refused when the row is read`() throws {
        var encoder = RowEncoder()
        encoder.encode(since: SequenceNumber(rawValue: 1), [.string("Grüße an alle im Hause")])
        var bytes = encoder.bytes
        let umlaut = try #require(bytes.firstIndex(of: 0xc3))
        #expect(try EncodedRow(bytes).value(inSlot: 0) == .string("Grüße an alle im Hause"))

        bytes[umlaut] = 0xff

        #expect(throws: DecodingFailure.self) { try EncodedRow(bytes) }
    }
}

extension RowEncoder {
    /// Encodes the row of a new object with these values.
    fileprivate mutating func encode(since: SequenceNumber, _ values: [Value]) {
        var writer = ByteWriter()
        let fields = values.map { value in
            let start = writer.bytes.count
            if !value.isNull { writer.append(value) }
            return EncodedField(start: start, end: writer.bytes.count)
        }
        let entry = writer.bytes
        encode(since: since, new: fields, from: entry.span.bytes, parts: 1 + values.count)
    }
}

extension SeededGenerator {
    /// Values of every kind, some of them null.
    fileprivate mutating func values() -> [Value] {
        (0..<Int.random(in: 0...8, using: &self)).map { _ in value() }
    }

    private mutating func value() -> Value {
        switch Int.random(in: 0...10, using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .int(Int64(bitPattern: next()) >> Int64.random(in: 0...63, using: &self))
        case 3: return .double(Double.random(in: -1e9...1e9, using: &self))
        case 4:
            return .decimal(
                Decimal(
                    sign: Bool.random(using: &self) ? .plus : .minus,
                    exponent: Int.random(in: -20...20, using: &self),
                    significand: Decimal(Int.random(in: 1...1_000_000, using: &self))))
        case 5: return .string(String(repeating: "a", count: Int.random(in: 0...30, using: &self)))
        case 6: return .string(String(repeating: "é", count: Int.random(in: 0...30, using: &self)))
        case 7: return .data(Data((0..<Int.random(in: 0...9, using: &self)).map { UInt8($0) }))
        case 8: return .date(Date(timeIntervalSinceReferenceDate: Double(next() >> 32)))
        case 9: return .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
        default:
            return .object(ObjectID(entity: EntityNumber(rawValue: 3), number: next() >> 20))
        }
    }

    /// Changes, adds or removes a byte.
    fileprivate mutating func damage(_ bytes: inout [UInt8]) {
        let offset = Int.random(in: 8..<bytes.count, using: &self)
        switch Int.random(in: 0...3, using: &self) {
        case 0: bytes.remove(at: offset)
        case 1: bytes.insert(UInt8.random(in: 0...255, using: &self), at: offset)
        case 2: bytes.removeSubrange(offset...)
        default: bytes[offset] = UInt8.random(in: 0...255, using: &self)
        }
    }
}
