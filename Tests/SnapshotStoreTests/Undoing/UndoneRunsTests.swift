import DaybookJournalLog
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

@Suite struct UndoneRunsTests {
    private func number(_ value: Int) -> SequenceNumber { SequenceNumber(UInt64(value)) }

    @Test func `an entry is in a run from the end of the run to its beginning`() {
        var runs = UndoneRuns()
        _ = runs.holds(number(9))
        runs.add(number(4)...number(6), undoneBy: number(9))
        let held = (1...8).reversed().filter { runs.holds(number($0)) }
        #expect(held == [6, 5, 4])
    }

    @Test func `what a run has from its undo on does not count`() {
        var runs = UndoneRuns()
        _ = runs.holds(number(5))
        runs.add(number(3)...number(8), undoneBy: number(5))
        runs.add(number(5)...number(7), undoneBy: number(5))
        let held = (1...4).reversed().filter { runs.holds(number($0)) }
        #expect(held == [4, 3])
    }

    @Test(arguments: 1...200)
    func `entries of random journals are in a run when an undo after them names them`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var runs = UndoneRuns()
        var named: [ClosedRange<Int>] = []
        // Only some of the entries are asked for, as when those between are no undos.
        for entry in (1...60).reversed() where Int.random(in: 0...3, using: &random) > 0 {
            let isHeld = runs.holds(number(entry))
            #expect(isHeld == named.contains { $0 ~= entry })
            guard entry > 1, Bool.random(using: &random) else { continue }
            let last = Int.random(in: 1..<entry, using: &random)
            let run = Int.random(in: max(1, last - 9)...last, using: &random)...last
            runs.add(number(run.lowerBound)...number(run.upperBound), undoneBy: number(entry))
            named.append(run)
        }
    }
}
