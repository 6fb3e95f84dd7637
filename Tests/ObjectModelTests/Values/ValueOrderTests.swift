import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct ValueOrderTests {
    private func key(_ value: Value) -> [UInt8] {
        var writer = ByteWriter()
        value.appendOrderedKey(to: &writer)
        return writer.bytes
    }

    private func order(_ left: [UInt8], _ right: [UInt8]) -> ComparisonResult {
        if left == right { return .orderedSame }
        return left.lexicographicallyPrecedes(right) ? .orderedAscending : .orderedDescending
    }

    @Test(arguments: AttributeType.allCases, UInt64(1)...3)
    func `an index key is the same whether it is made of a value or of its bytes`(
        type: AttributeType, seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let values = (0..<60).map { _ in Value.random(type, using: &random) }
        let texts = ["", "\u{0}", "a\u{0}b", "Zo\u{eb}", "exactly sixteen.", "a"]

        for value in values + texts.map(Value.string) + [.data(Data([0, 1, 0]))] {
            var canonical = ByteWriter()
            canonical.append(0xff)
            canonical.append(value)
            let field = EncodedField(start: 1, end: canonical.bytes.count)
            var writer = ByteWriter()
            try canonical.bytes.span.bytes.appendOrderedKey(of: field, to: &writer)
            #expect(writer.bytes == key(value), "seed \(seed): \(value)")
        }
    }

    @Test func `a field that ends before its text does is no value`() {
        var canonical = ByteWriter()
        canonical.append(Value.string("text"))
        let field = EncodedField(start: 0, end: canonical.bytes.count - 1)
        var writer = ByteWriter()

        #expect(throws: DecodingFailure.self) {
            try canonical.bytes.span.bytes.appendOrderedKey(of: field, to: &writer)
        }
    }

    @Test(arguments: AttributeType.allCases, UInt64(1)...3)
    func `index keys are ordered as the values are`(type: AttributeType, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let values = (0..<60).map { _ in Value.random(type, using: &random) } + [.null]

        for left in values {
            for right in values {
                #expect(
                    order(key(left), key(right)) == left.order(to: right),
                    "seed \(seed): \(left) and \(right)")
            }
        }
    }

    @Test(arguments: AttributeType.allCases)
    func `no index key is a prefix of another`(type: AttributeType) {
        var random = SeededGenerator(seed: 11)
        let keys = Set((0..<80).map { _ in key(Value.random(type, using: &random)) })

        for left in keys {
            for right in keys where left != right {
                #expect(!right.starts(with: left))
            }
        }
    }

    @Test func `awkward decimals are ordered by size`() throws {
        let texts = [
            "-1e127", "-100", "-99.9", "-1.01", "-1", "-0.5", "-1e-127", "0", "1e-127", "0.09",
            "0.1", "0.11", "1", "1.01", "9.99", "10", "10.1", "1e127",
        ]
        let values = try texts.map { Value.decimal(try #require(Decimal(string: $0))) }

        for (left, right) in zip(values, values.dropFirst()) {
            #expect(left.order(to: right) == .orderedAscending)
            #expect(order(key(left), key(right)) == .orderedAscending)
        }
        #expect(order(key(.decimal(.nan)), key(values[0])) == .orderedAscending)
        #expect(Value.decimal(.nan).order(to: values[0]) == .orderedAscending)
    }

    @Test func `text with zero bytes keeps its order`() {
        let texts = ["", "\u{0}", "\u{0}\u{0}", "\u{0}a", "a", "a\u{0}", "a\u{0}b", "aa", "b"]

        for (left, right) in zip(texts, texts.dropFirst()) {
            #expect(order(key(.string(left)), key(.string(right))) == .orderedAscending)
        }
    }

    @Test func `null comes first and values of different kinds are not comparable`() {
        #expect(Value.null.order(to: .bool(false)) == .orderedAscending)
        #expect(!Value.string("1").isComparable(to: .int(1)))
        #expect(Value.int(1).isComparable(to: .decimal(1)))
    }

    @Test func `references are ordered by entity and number`() {
        func object(_ entity: UInt32, _ number: UInt64) -> Value {
            .object(ObjectID(entity: EntityNumber(rawValue: entity), number: number))
        }
        let values = [object(1, 2), object(1, 300), object(2, 1), object(256, 1)]

        for (left, right) in zip(values, values.dropFirst()) {
            #expect(left.order(to: right) == .orderedAscending)
            #expect(order(key(left), key(right)) == .orderedAscending)
        }
    }
}
