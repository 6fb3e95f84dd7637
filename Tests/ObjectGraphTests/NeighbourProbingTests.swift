import Testing

@testable import ObjectGraph

@Suite struct NeighbourProbingTests {
    @Test(arguments: [64, 128, 4096])
    func `a key comes by every slot once, and the steps to each can be told`(capacity: Int) {
        let mask = capacity - 1
        for key in [1, 7, 8, 12_345, 1 << 48 | 3] as [UInt64] {
            let home = NeighbourProbing.home(of: key, mask)
            var slot = home
            var seen: Set<Int> = []

            for step in 0..<capacity {
                #expect(NeighbourProbing.steps(from: home, to: slot, mask) == step)
                seen.insert(slot)
                slot = NeighbourProbing.next(slot, mask)
            }

            #expect(seen == Set(0..<capacity))
            #expect(slot == home)
        }
    }

    @Test func `eight numbers in a row begin side by side`() {
        for first in stride(from: 8 as UInt64, to: 8_000, by: 8) {
            let homes = (first..<first + 8).map { NeighbourProbing.home(of: $0, 1023) }

            #expect(homes == Array(homes[0]..<homes[0] + 8))
            #expect(homes[0] % 8 == 0)
        }
    }
}
