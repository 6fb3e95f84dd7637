import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Groups, aggregates and keys, without a store.
struct GroupTableTests {
    @Test(arguments: [UInt64(31), 32])
    func `a table of keys numbers them as they come`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = KeyTable()
        var expected: [[UInt8]: Int] = [:]

        for _ in 0..<5_000 {
            // So short that many come again, and up to more than two words.
            let key = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                UInt8.random(in: 0...1, using: &random)
            }
            let next = expected.count
            let number = expected[key] ?? next
            expected[key] = number
            #expect(table.index(of: key.span.bytes) == number, "seed \(seed)")
        }
        #expect(table.count == expected.count)
        for (key, number) in expected {
            #expect(table.withKey(number) { $0.array } == key)
        }
    }

    @Test func `values that are equal as numbers but not as bytes are different keys`() {
        var table = KeyTable()
        for value in [Value.int(1), .double(1), .string("1"), .null, .bool(true), .int(1)] {
            _ = table.index(of: value.encoded.span.bytes)
        }
        #expect(table.count == 5)
    }

    @Test func `a part that is joined leaves what one table of all has`() throws {
        func table(_ values: [(Int64, Double?)], in table: inout GroupTable) {
            for (key, value) in values {
                let group = table.group(Value.int(key).encoded.span.bytes)
                table.addObject(to: group)
                for aggregate in 0..<4 {
                    table.add(value.map { .double($0) } ?? .null, to: aggregate, of: group)
                }
            }
        }
        let functions: [AggregateFunction] = [.sum, .median, .distinct, .count]
        let first: [(Int64, Double?)] = [(1, 0.1), (2, 0.2), (1, 0.3), (3, nil)]
        let second: [(Int64, Double?)] = [(1, 0.3), (4, 7), (2, nil), (1, 0.7)]
        var whole = GroupTable(functions.map { Aggregation($0, of: .double) })
        table(first + second, in: &whole)
        var joined = GroupTable(functions.map { Aggregation($0, of: .double) })
        for values in [first, second] {
            var part = joined.beginning
            table(values, in: &part)
            joined.append(part)
        }

        #expect(joined.count == 4)
        for group in 0..<4 {
            #expect(try joined.key(of: group) == whole.key(of: group))
            #expect(joined.objectCount(of: group) == whole.objectCount(of: group))
            for aggregate in functions.indices {
                #expect(
                    joined.value(of: aggregate, in: group) == whole.value(of: aggregate, in: group))
            }
        }
        #expect(joined.value(of: 0, in: 0) == .double([0.1, 0.3, 0.3, 0.7].exactSum))
        #expect(joined.value(of: 1, in: 0) == .double(0.3))
        #expect(joined.value(of: 2, in: 0) == .int(3))
        #expect(joined.value(of: 1, in: 2) == .null)
        #expect(joined.value(of: 0, in: 2) == .double(0))
    }

    @Test func `objects of several stores with the same number are kept apart`() throws {
        let object = Value.object(ObjectID(entity: EntityNumber(rawValue: 1), number: 5))
        var all = GroupTable([])
        for store in [Int64(7), 8] {
            var part = all.beginning
            for key in [object, .null] {
                part.addObject(to: part.group(key.encoded.span.bytes))
            }
            try all.append(part, fromStore: .int(store))
        }
        #expect(all.count == 3)
        #expect(try all.key(of: 0) == [.int(7), object])
        #expect(try all.key(of: 1) == [.null, .null])
        #expect(all.objectCount(of: 1) == 2)
        #expect(try all.key(of: 2) == [.int(8), object])
    }

    @Test func `a median is the number in the middle, in the arithmetic of its type`() {
        func median(_ values: [Value], _ type: AttributeType) -> Value? {
            var aggregation = Aggregation(.median, of: type)
            for value in values { aggregation.add(value) }
            return aggregation.value
        }
        #expect(median([.int(9), .int(1), .int(4)], .int64) == .double(4))
        #expect(median([.int(9), .null, .int(4)], .int64) == .double(6.5))
        #expect(median([.int(.max), .int(.max)], .int64) == .double(Double(Int64.max)))
        #expect(median([], .int64) == .null)
        let greatest = Value.double(.greatestFiniteMagnitude)
        #expect(median([greatest, greatest], .double) == greatest)
        #expect(median([.double(.nan), .double(1), .double(2)], .double) == .double(1))
        let (tenth, third) = (Decimal(string: "0.1") ?? 0, Decimal(string: "0.3") ?? 0)
        #expect(
            median([.decimal(third), .decimal(tenth)], .decimal)
                == .decimal(Decimal(string: "0.2") ?? 0))
    }

    @Test func `a sum that its type cannot hold is none`() {
        var sum = Aggregation(.sum, of: .int16)
        for _ in 0..<2 { sum.add(.int(20_000)) }
        #expect(sum.value == nil)
        var decimals = Aggregation(.sum, of: .decimal)
        decimals.add(.decimal(Decimal(string: "1e37") ?? 0))
        decimals.add(.decimal(Decimal(string: "0.0000001") ?? 0))
        #expect(decimals.value == nil)
    }
}
