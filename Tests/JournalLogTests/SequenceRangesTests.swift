import DaybookTestSupport
import Testing

@testable import DaybookJournalLog

@Suite struct SequenceRangesTests {
    @Test func `positions that follow each other are one run`() {
        var ranges = SequenceRanges()

        for number in 1...10_000 { ranges.insert(SequenceNumber(UInt64(number))) }

        #expect(ranges.count == 10_000)
        #expect(ranges.runCount == 1)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `ranges hold what a set holds, whatever comes and goes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ranges = SequenceRanges()
        var model: Set<UInt64> = []

        for _ in 0..<500 {
            let number = UInt64.random(in: 0..<40, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                #expect(ranges.remove(SequenceNumber(number)) == (model.remove(number) != nil))
            } else {
                ranges.insert(SequenceNumber(number))
                model.insert(number)
            }
            #expect(ranges.count == model.count)
            // A run begins where the position before is missing.
            #expect(ranges.runCount == model.count { $0 == 0 || !model.contains($0 - 1) })
        }

        for number in 0..<UInt64(40) {
            #expect(ranges.contains(SequenceNumber(number)) == model.contains(number))
        }
    }
}
