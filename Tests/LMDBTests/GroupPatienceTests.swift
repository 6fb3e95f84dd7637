import Testing

@testable import DaybookLMDB

/// The waiting time of a group, by a clock that stands still unless advanced. All times are in
/// nanoseconds.
@Suite struct GroupPatienceTests {
    private var patience = GroupPatience()
    private var now: UInt64 = 5_000_000_000

    /// A group that takes some time to commit and does not wait.
    private mutating func runGroup(
        _ count: Int, leaving countWaiting: Int = 0, committing duration: UInt64 = 400_000
    ) {
        _ = patience.wait(having: max(count, patience.countExpected), at: now)
        now += duration
        patience.end(having: count, expecting: count + countWaiting, at: now)
    }

    /// A group of one that expects a second one.
    ///
    /// - Returns: Whether it waited in vain.
    private mutating func runAlone() -> Bool {
        let wait = patience.wait(having: 1, at: now)
        if let wait {
            now += wait.nanoseconds
            patience.recordVainWait(at: now)
        }
        now += 400_000
        patience.end(having: 1, expecting: 2, at: now)
        return wait != nil
    }

    @Test mutating func `the first group of all waits for nobody`() {
        patience.beginAlone(at: now)

        #expect(patience.wait(having: 1, at: now) == nil)
    }

    @Test mutating func `a group waits for those who took part or stood in line, half at a time`() {
        runGroup(5, leaving: 3)

        #expect(patience.countExpected == 8)
        #expect(
            patience.wait(having: 1, at: now)
                == GroupPatience.Wait(count: 4, nanoseconds: 200_000))
        #expect(
            patience.wait(having: 5, at: now + 50_000)
                == GroupPatience.Wait(count: 2, nanoseconds: 150_000))
        #expect(
            patience.wait(having: 7, at: now + 60_000)
                == GroupPatience.Wait(count: 1, nanoseconds: 140_000))
        #expect(patience.wait(having: 8, at: now + 70_000) == nil)
    }

    @Test mutating func `a group that has waited long enough waits no more, whoever has come`() {
        runGroup(8)

        #expect(patience.wait(having: 1, at: now) != nil)
        #expect(patience.wait(having: 5, at: now + 199_999) != nil)
        #expect(patience.wait(having: 6, at: now + 200_000) == nil)
    }

    @Test(
        arguments: [
            (99_999, nil), (100_000, 50_000), (1_000_000, 500_000), (2_000_000, 1_000_000),
            (3_600_000_000_000, 1_000_000),
        ] as [(UInt64, UInt64?)])
    mutating func `a group waits half as long as the last one took to commit, within bounds`(
        _ duration: UInt64, _ expected: UInt64?
    ) {
        runGroup(2, committing: duration)

        #expect(patience.wait(having: 1, at: now)?.nanoseconds == expected)
    }

    @Test mutating func `nothing but the commit counts, not the time before nor the wait`() {
        runGroup(2)
        now += 900_000
        patience.beginAlone(at: now)

        #expect(runAlone())

        #expect(patience.nanoseconds == 200_000)
    }

    @Test mutating func `a group that was never complete teaches no patience`() {
        runGroup(2)
        let wait = patience.wait(having: 1, at: now)
        now += 400_000
        patience.end(having: 2, expecting: 2, at: now)

        #expect(wait != nil)
        #expect(patience.nanoseconds == 0)
        #expect(patience.wait(having: 1, at: now) == nil)
    }

    @Test(arguments: [(1_000_000, 8), (1_000_001, 1)] as [(UInt64, Int)])
    mutating func `who comes long after the last group expects nobody`(
        _ pause: UInt64, _ expected: Int
    ) {
        runGroup(8)
        now += pause

        patience.beginAlone(at: now)

        #expect(patience.countExpected == expected)
        #expect((patience.wait(having: 1, at: now) == nil) == (expected == 1))
    }

    @Test mutating func `each time in vain doubles the groups that do not wait, up to 64`() {
        runGroup(2)
        var passed: [Int] = []

        for _ in 0..<8 {
            var count = 0
            while !runAlone() { count += 1 }
            passed.append(count)
        }

        #expect(passed == [0, 1, 2, 4, 8, 16, 32, 64])
        var count = 0
        while !runAlone() { count += 1 }
        #expect(count == 64)
    }

    @Test mutating func `once somebody has come, a time in vain costs one group again`() {
        runGroup(2)
        for _ in 0..<3 {
            while !runAlone() {}
        }
        while patience.wait(having: 1, at: now) == nil { _ = runAlone() }
        runGroup(2)

        #expect(runAlone())
        #expect(!runAlone())
        #expect(runAlone())
    }

    @Test mutating func `eight who come again and again form groups of eight`() {
        runGroup(1, leaving: 7)

        for number in 0..<100 {
            // One is there immediately, the others come one by one, every ten microseconds.
            let start = now
            var count = 1
            patience.beginAlone(at: now)
            while let wait = patience.wait(having: count, at: now) {
                now = min(now + 10_000 * UInt64(wait.count), now + wait.nanoseconds)
                count = min(1 + Int(now - start) / 10_000, 8)
            }
            #expect(count == 8, "group \(number)")
            now += 400_000
            patience.end(having: count, expecting: count, at: now)
        }
    }
}
