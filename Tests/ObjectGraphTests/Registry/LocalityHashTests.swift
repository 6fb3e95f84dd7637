import Testing

@testable import DaybookObjectGraph

@Suite struct LocalityHashTests {
    @Test(arguments: [64, 128, 4096])
    func `a key visits every slot once, and the steps to each can be told`(capacity: Int) {
        let mask = capacity - 1
        for key in [1, 7, 8, 12_345, 1 << 48 | 3] as [UInt64] {
            let home = LocalityHash.home(of: key, mask)
            var slot = home
            var seen: Set<Int> = []

            for step in 0..<capacity {
                #expect(LocalityHash.steps(from: home, to: slot, mask) == step)
                seen.insert(slot)
                slot = LocalityHash.next(slot, mask)
            }

            #expect(seen == Set(0..<capacity))
            #expect(slot == home)
        }
    }

    @Test func `the numbers of a page begin side by side`() {
        for first in stride(from: 64 as UInt64, to: 64_000, by: 64) {
            let homes = (first..<first + 64).map { LocalityHash.home(of: $0, 1023) }
            let start = homes[0] & ~63

            #expect(Set(homes) == Set(start..<start + 64))
        }
    }

    @Test(arguments: [8, 64, 1024] as [UInt64])
    func `numbers in steps start at all slots of a page`(step: UInt64) {
        let homes = (1...4_096 as ClosedRange<UInt64>).map {
            LocalityHash.home(of: $0 * step, 8191)
        }

        #expect(Set(homes.map { $0 & 63 }) == Set(0..<64))
        #expect(Set(homes).count > 2_000)
    }

    @Test(arguments: [4_096, 65_536])
    func `objects of two stores with the same numbers stay out of each other's way`(
        capacity: Int
    ) {
        let mask = capacity - 1
        var isTaken = [Bool](repeating: false, count: capacity)
        var steps = 0

        for store in 1...2 as ClosedRange<UInt64> {
            for number in 1...UInt64(capacity / 4) {
                var slot = LocalityHash.home(of: store << 48 | number, mask)
                while isTaken[slot] {
                    slot = LocalityHash.next(slot, mask)
                    steps += 1
                }
                isTaken[slot] = true
            }
        }

        #expect(steps < capacity / 8)
    }
}
