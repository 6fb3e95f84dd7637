import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Values in the form in which indexes have them, one behind the other.
struct OrderedKeyTests {
    private static let values: [Value] = [
        .null, .bool(false), .bool(true), .int(.min), .int(-1), .int(0), .int(7), .int(.max),
        .double(-.infinity), .double(-1.5), .double(0), .double(1e300), .double(.nan),
        .decimal(0), .decimal(-12.5), .decimal(Decimal(string: "1e-30") ?? 0), .decimal(100),
        .decimal(.nan), .decimal(Decimal(string: "-99999999999999999999999999999999999999") ?? 0),
        .string(""), .string("a"), .string("a\u{0}"), .string("a\u{0}b"), .string("ä\u{1F600}"),
        .date(Date(timeIntervalSinceReferenceDate: -0.5)),
        .date(Date(timeIntervalSinceReferenceDate: 6e8)),
        .uuid(
            UUID(uuid: (0, 255, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 254))),
        .object(ObjectID(entity: EntityNumber(rawValue: 3), number: 1 << 40)),
    ]

    private static func key(_ values: [(Value, isAscending: Bool)]) -> [UInt8] {
        var writer = ByteWriter()
        for (value, isAscending) in values {
            let start = writer.bytes.count
            value.appendOrderedKey(to: &writer)
            if !isAscending { writer.complement(from: start) }
        }
        return writer.bytes
    }

    private static func read(_ bytes: [UInt8], _ directions: [Bool]) -> [Value]? {
        let span = bytes.span.bytes
        var offset = 0
        var values: [Value] = []
        for isAscending in directions {
            let end = span.orderedKeyEnd(at: offset, isAscending: isAscending)
            guard let value = span.orderedValue(at: &offset, isAscending: isAscending),
                offset == end
            else { return nil }
            values.append(value)
        }
        return offset == bytes.count ? values : nil
    }

    @Test(arguments: [21, 22])
    func `values are read from keys as they were written, in either direction`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let parts = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (random.pick(Self.values), isAscending: random.chance(2))
            }

            let found = try #require(
                Self.read(Self.key(parts), parts.map(\.isAscending)), "seed \(seed): \(parts)")

            #expect(found.map(\.encoded) == parts.map(\.0.encoded), "seed \(seed): \(parts)")
        }
    }

    @Test func `a key that is cut off has no value at its end`() {
        for value in Self.values where !value.isNull {
            for isAscending in [true, false] {
                let bytes = Self.key([(value, isAscending)])
                for count in 0..<bytes.count {
                    #expect(
                        Self.read(Array(bytes[..<count]), [isAscending]) == nil,
                        "\(value), \(count) bytes")
                }
            }
        }
    }

    @Test(arguments: [31, 32])
    func `keys of several values are in the order of these`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let kinds: [[Value]] = [
            [.null, .int(.min), .int(-1), .int(0), .int(5), .int(.max)],
            [.null, .string(""), .string("a"), .string("a\u{0}"), .string("aa"), .string("b")],
            [.null, .decimal(.nan), .decimal(-20), .decimal(-2), .decimal(0), .decimal(1.5)],
            [.null, .double(.nan), .double(-.infinity), .double(-1), .double(0), .double(2)],
        ]
        for _ in 0..<2_000 {
            let columns = (0..<3).map { _ in (random.pick(kinds), isAscending: random.chance(2)) }
            func row() -> [(Value, isAscending: Bool)] {
                columns.map { (random.pick($0.0), $0.isAscending) }
            }
            let (left, right) = (row(), row())

            var expected = ComparisonResult.orderedSame
            for (one, other) in zip(left, right) where expected == .orderedSame {
                expected = one.isAscending ? one.0.order(to: other.0) : other.0.order(to: one.0)
            }

            let (first, second) = (Self.key(left), Self.key(right))
            #expect(
                first.lexicographicallyPrecedes(second) == (expected == .orderedAscending),
                "seed \(seed): \(left), \(right)")
            #expect((first == second) == (expected == .orderedSame), "seed \(seed)")
        }
    }
}
