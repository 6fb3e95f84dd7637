import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

/// Sums of binary numbers.
@Suite struct BinarySumTests {
    private static let seeds: [UInt64] = [5_318_008, 2_011_121_5, 417, 90_210]

    private func sum(_ numbers: some Sequence<Double>) -> BinarySum {
        numbers.reduce(into: BinarySum()) { $0.add($1) }
    }

    /// Numbers of every magnitude, with a few that cancel each other out.
    private func numbers(_ random: inout SeededGenerator) -> [Double] {
        let widest = Int.random(in: 0...1000, using: &random)
        return (0..<Int.random(in: 0...60, using: &random)).flatMap { _ -> [Double] in
            let exponent = Int.random(in: -min(widest, 1080)...min(widest, 1000), using: &random)
            let significand = Double.random(in: 1..<2, using: &random)
            let sign: FloatingPointSign = Bool.random(using: &random) ? .plus : .minus
            let number = Double(sign: sign, exponent: exponent, significand: significand)
            return Int.random(in: 0..<4, using: &random) == 0
                ? [number, -number, number / 3] : [number]
        }
    }

    @Test(arguments: seeds)
    func `a sum is rounded once, in any order and in any parts`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for round in 0..<500 {
            let numbers = numbers(&random)
            let about: Comment = "seed \(seed), round \(round)"
            #expect(sum(numbers).value == numbers.exactSum, about)
            let shuffled = numbers.shuffled(using: &random)
            #expect(sum(shuffled).value == numbers.exactSum, about)

            let cut = Int.random(in: 0...shuffled.count, using: &random)
            var joined = sum(shuffled[..<cut])
            joined.add(sum(shuffled[cut...]))
            #expect(joined.value == numbers.exactSum, about)

            for number in shuffled[..<cut] { joined.remove(number) }
            #expect(joined.value == shuffled[cut...].exactSum, about)
        }
    }

    @Test func `small numbers are not lost beside large ones`() {
        #expect(sum([1e16, 1, -1e16]).value == 1)
        #expect(sum([1e300, .leastNonzeroMagnitude, -1e300]).value == .leastNonzeroMagnitude)
        #expect(sum(repeatElement(0.1, count: 10)).value == 1)
        #expect(sum([]).value == 0)
        #expect(sum([-0.0]).value.sign == .plus)
    }

    @Test func `a tie goes to the even number, unless anything follows`() {
        let tie = [9_007_199_254_740_992.0, 1]
        #expect(sum(tie).value == 9_007_199_254_740_992)
        #expect(sum(tie + [.leastNonzeroMagnitude]).value == 9_007_199_254_740_994)
        #expect(sum(tie + [-.leastNonzeroMagnitude]).value == 9_007_199_254_740_992)
        #expect(sum((tie + [1e-300]).map { -$0 }).value == -9_007_199_254_740_994)
    }

    @Test func `nothing overflows on the way`() {
        let greatest = Double.greatestFiniteMagnitude
        #expect(sum([greatest, greatest, -greatest]).value == greatest)
        #expect(sum([greatest, greatest]).value == .infinity)
        #expect(sum([-greatest, -greatest]).value == -.infinity)
        #expect(sum([greatest, greatest]).mean(of: 2) == greatest)
        #expect(sum([-greatest, -greatest, -greatest]).mean(of: 3) == -greatest)
    }

    @Test func `what is not finite is taken back as well`() {
        var all = sum([1, .infinity, -.infinity, .nan])
        #expect(all.value.isNaN)
        all.remove(.nan)
        #expect(all.value.isNaN)
        all.remove(-.infinity)
        #expect(all.value == .infinity)
        #expect(all.mean(of: 2) == .infinity)
        all.remove(.infinity)
        #expect(all.value == 1)
    }

    @Test func `carries are settled before digits overflow`() {
        // Each round doubles what was there, past 2⁶⁴ numbers of a kind.
        var all = sum([3])
        var expected = 3.0
        for _ in 0..<90 {
            all.add(all)
            expected *= 2
        }
        #expect(all.value == expected)
        all.add(1)
        for _ in 0..<30 { all.remove(expected / 30) }
        #expect(all.value == ([expected, 1] + repeatElement(-(expected / 30), count: 30)).exactSum)
    }

    @Test func `a condition adds as an aggregate does`() {
        let prices: [Value] = [.double(0.1), .double(0.2), .double(0.3)]
        #expect(FilterAggregate.sum.value(of: prices) == .double([0.1, 0.2, 0.3].exactSum))
        #expect(FilterAggregate.sum.value(of: prices.reversed()) == .double(0.6))
        let greatest = Value.double(.greatestFiniteMagnitude)
        #expect(FilterAggregate.average.value(of: [greatest, greatest]) == greatest)
        #expect(FilterAggregate.sum.value(of: []) == .int(0))
        #expect(FilterAggregate.sum.value(of: [.int(1), .double(0.5)]) == .double(1.5))
    }
}
