/// An exact sum of binary floating-point numbers.
///
/// Every number is a multiple of 2⁻¹⁰⁷⁴, and so is a sum of them. It is kept as one large integer of that unit, in
/// digits of 32 bits, of which only those are there that numbers have reached; it is rounded when it is read, once.
/// So it depends neither on the order of the numbers nor on those that were taken back, and nothing overflows on the
/// way. The idea is that of a superaccumulator (Kulisch; Neal, "Fast Exact Summation Using Small and Large
/// Superaccumulators", 2015).
package struct BinarySum: Sendable {
    private static var digitWidth: Int { 32 }
    /// The exponent of the unit.
    private static var unit: Int { -1074 }
    /// How many numbers may be added before digits that have 31 bits to spare could overflow.
    private static var addendsMaximum: Int { 1 << 30 }

    /// The digits, least significant first; each may be any number until carries are settled.
    private var digits: [Int64] = []
    /// The place of the first digit.
    private var place = 0
    /// How many numbers have been added since carries were settled.
    private var addends = 0
    private var nans = 0
    private var positiveInfinities = 0
    private var negativeInfinities = 0

    /// Makes the sum of no numbers.
    package init() {}

    /// Adds a number.
    ///
    /// - Complexity: O(1), but for numbers far larger or smaller than all before.
    package mutating func add(_ number: Double) { take(number, 1) }

    /// Takes back a number that was added.
    ///
    /// - Complexity: O(1).
    package mutating func remove(_ number: Double) { take(number, -1) }

    private mutating func take(_ number: Double, _ factor: Int64) {
        guard number.isFinite else { return takeInfinite(number, Int(factor)) }
        guard number != 0 else { return }
        let isSubnormal = number.exponentBitPattern == 0
        let position = isSubnormal ? 0 : Int(number.exponentBitPattern) - 1
        let hiddenBit: UInt64 = isSubnormal ? 0 : 1 << Double.significandBitCount
        let significand = number.significandBitPattern | hiddenBit
        let shift = position % Self.digitWidth
        let first = reach(position / Self.digitWidth)
        let sign = number.sign == .minus ? -factor : factor
        // The significand has 53 bits: shifted, it reaches over three digits at most.
        let (high, low) = significand.multipliedFullWidth(by: 1 << UInt64(shift))
        digits[first] += sign * Int64(low & 0xFFFF_FFFF)
        digits[first + 1] += sign * Int64(low >> 32)
        digits[first + 2] += sign * Int64(high)
        addends += 1
        if addends == Self.addendsMaximum { settle() }
    }

    private mutating func takeInfinite(_ number: Double, _ difference: Int) {
        if number.isNaN {
            nans += difference
        } else if number.sign == .minus {
            negativeInfinities += difference
        } else {
            positiveInfinities += difference
        }
    }

    /// Adds all numbers of another sum.
    ///
    /// - Complexity: O(1).
    package mutating func add(_ other: BinarySum) {
        nans += other.nans
        positiveInfinities += other.positiveInfinities
        negativeInfinities += other.negativeInfinities
        guard !other.digits.isEmpty else { return }
        var other = other
        other.settle()
        settle()
        let first = reach(other.place, count: other.digits.count)
        for index in other.digits.indices { digits[first + index] += other.digits[index] }
        addends = 1
    }

    /// Makes room for digits from a place on.
    ///
    /// - Returns: The index of the first one.
    private mutating func reach(_ wanted: Int, count: Int = 3) -> Int {
        if digits.isEmpty { place = wanted }
        if wanted < place {
            digits.insert(contentsOf: repeatElement(0, count: place - wanted), at: 0)
            place = wanted
        }
        let missing = wanted + count - (place + digits.count)
        if missing > 0 { digits.append(contentsOf: repeatElement(0, count: missing)) }
        return wanted - place
    }

    /// Carries what digits have too much on to the next ones; the last one alone has a sign then, and all are below
    /// 2³² in magnitude.
    private mutating func settle() {
        addends = 0
        var index = 0
        while index < digits.count {
            let isLast = index == digits.count - 1
            if isLast, digits[index].magnitude >> UInt64(Self.digitWidth) == 0 { return }
            if isLast { digits.append(0) }
            digits[index + 1] += digits[index] >> Int64(Self.digitWidth)
            digits[index] &= 0xFFFF_FFFF
            index += 1
        }
    }

    /// The sum, rounded to the nearest number, ties to even; infinite when it is too large.
    ///
    /// - Complexity: O(1).
    package var value: Double { rounded(scaledBy: 0) }

    /// The sum divided by a number of addends, which is finite if all of them are.
    package func mean(of count: Int) -> Double {
        let sum = value
        guard sum.isInfinite, nans + positiveInfinities + negativeInfinities == 0 else {
            return sum / Double(count)
        }
        let scale = -64
        let mean = rounded(scaledBy: scale) / Double(count)
        return Double(sign: mean.sign, exponent: -scale, significand: mean.magnitude)
    }

    /// The sum times a power of two, rounded.
    private func rounded(scaledBy exponent: Int) -> Double {
        if nans > 0 || positiveInfinities > 0 && negativeInfinities > 0 { return .nan }
        if positiveInfinities > 0 { return .infinity }
        if negativeInfinities > 0 { return -.infinity }
        var settled = self
        settled.settle()
        let isNegative = settled.digits.last.map { $0 < 0 } ?? false
        if isNegative {
            for index in settled.digits.indices { settled.digits[index].negate() }
            settled.settle()
        }
        guard let top = settled.digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        func digit(_ index: Int) -> UInt64 { index < 0 ? 0 : UInt64(settled.digits[index]) }
        // 64 bits that begin with a one; the last of them tells whether anything follows.
        let high = digit(top) << 32 | digit(top - 1)
        let low = digit(top - 2) << 32 | digit(top - 3)
        let shift = UInt64(high.leadingZeroBitCount)
        var leading = high << shift | low >> (64 - shift)
        let isMore =
            low << shift != 0 || settled.digits.prefix(max(top - 3, 0)).contains { $0 != 0 }
        if isMore { leading |= 1 }
        let position = (settled.place + top - 1) * Self.digitWidth - Int(shift)
        return Double(
            sign: isNegative ? .minus : .plus, exponent: position + Self.unit + exponent,
            significand: Double(leading))
    }
}
