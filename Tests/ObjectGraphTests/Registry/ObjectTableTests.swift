import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct ObjectTableTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a table agrees with a dictionary`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = ObjectTable<Int>()
        var expected: [UInt64: Int] = [:]

        for step in 0..<20_000 {
            let store = UInt64.random(in: 0...2, using: &random) << 48
            let key = store + UInt64.random(in: 1...500, using: &random)
            switch Int.random(in: 0...9, using: &random) {
            case 0...4:
                table.makeRoom()
                table.put(step, for: key, at: table.home(of: key))
                expected[key] = step
            case 5...7:
                if let slot = table.slot(of: key) { table.clear(slot) }
                expected[key] = nil
            case 8:
                if let slot = table.slot(of: key) { table[slot] = -step }
                if expected[key] != nil { expected[key] = -step }
            default:
                table.shrinkIfSparse()
            }
            if step.isMultiple(of: 4_001) {
                table.removeAll { $0.isMultiple(of: 2) }
                expected = expected.filter { !$0.value.isMultiple(of: 2) }
            }
            #expect(table.slot(of: key).flatMap { table[$0] } == expected[key], "seed \(seed)")
        }

        #expect(table.count == expected.count)
        var found: [UInt64: Int] = [:]
        table.forEach { key, slot in found[key] = table[slot] }
        #expect(found == expected, "seed \(seed)")
        #expect(table.count * 5 <= table.capacity * 4)
    }

    @Test func `a table that was large gives its room back`() {
        var table = ObjectTable<Int>()
        for key in 1...5_000 as ClosedRange<UInt64> {
            table.makeRoom()
            table.put(Int(key), for: key, at: table.home(of: key))
        }
        #expect(table.capacity == 8_192)

        for key in 11...5_000 as ClosedRange<UInt64> {
            if let slot = table.slot(of: key) { table.clear(slot) }
            table.shrinkIfSparse()
        }

        #expect(table.capacity == ObjectTable<Int>.leastCapacity)
        for key in 1...10 as ClosedRange<UInt64> {
            #expect(table.slot(of: key).flatMap { table[$0] } == Int(key))
        }
        table.removeAll()
        #expect(table.capacity == 0 && table.slot(of: 1) == nil)
    }

    @Test func `a value is released when it is removed, and not before`() {
        final class Kept {}
        var table = ObjectTable<Kept>()
        var kept: [UInt64: () -> Kept?] = [:]
        for key in 1...200 as ClosedRange<UInt64> {
            let object = Kept()
            kept[key] = { [weak object] in object }
            table.makeRoom()
            table.put(object, for: key, at: table.home(of: key))
        }
        for key in stride(from: 2, through: 200, by: 2) as StrideThrough<UInt64> {
            if let slot = table.slot(of: key) { table.clear(slot) }
        }

        for (key, object) in kept { #expect((object() != nil) == !key.isMultiple(of: 2), "\(key)") }
        table.removeAll()
        for (key, object) in kept { #expect(object() == nil, "\(key)") }
    }
}
