import ObjectModel
import TestSupport
import Testing

@testable import ObjectGraph

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
            if Bool.random(using: &random) {
                table.set(id, to: step)
                expected[id] = step
            } else {
                #expect(table.remove(id) == expected.removeValue(forKey: id), "seed \(seed)")
            }
        }

        #expect(table.count == expected.count)
        for (id, place) in expected { #expect(table[id] == place, "seed \(seed)") }
    }
}
