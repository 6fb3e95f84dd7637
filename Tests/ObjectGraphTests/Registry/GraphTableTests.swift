import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct GraphTableTests {
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `a table agrees with a dictionary`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = GraphTable()
        var expected: [GraphID: Int] = [:]

        for step in 0..<20_000 {
            let number = UInt64.random(in: 1...600, using: &random)
            let id = GraphID(
                store: UInt32.random(in: 0...2, using: &random),
                object: ObjectID(
                    entity: EntityNumber(rawValue: 1),
                    number: Bool.random(using: &random) ? number : number | 1 << 63))
            switch Int.random(in: 0...3, using: &random) {
            case 0:
                table.set(id, to: step)
                expected[id] = step
            case 1:
                #expect(table.insert(id, at: step) == expected[id], "seed \(seed)")
                expected[id] = expected[id] ?? step
            default:
                #expect(table.remove(id) == expected.removeValue(forKey: id), "seed \(seed)")
            }
        }

        #expect(table.count == expected.count)
        for (id, index) in expected { #expect(table[id] == index, "seed \(seed)") }
    }

    @Test func `making room keeps what is there, whatever the numbers have in common`() {
        for stride in [1, 2, 3, 8, 64, 4_096] as [UInt64] {
            var table = GraphTable()
            let ids = (1...500 as ClosedRange<UInt64>).map { number in
                GraphID(
                    store: 1,
                    object: ObjectID(
                        entity: EntityNumber(rawValue: 1), number: number * stride))
            }
            for (index, id) in ids.prefix(100).enumerated() { table.set(id, to: index) }

            table.reserve(400)

            for (index, id) in ids.enumerated() {
                #expect(table.insert(id, at: index) == (index < 100 ? index : nil))
            }
            for (index, id) in ids.enumerated() { #expect(table[id] == index) }
        }
    }
}
