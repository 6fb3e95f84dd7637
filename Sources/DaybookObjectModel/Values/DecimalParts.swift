import Foundation

/// The parts of a decimal number, in the form with the smallest mantissa.
///
/// Foundation's `Decimal` can hold 1.5 as 15·10⁻¹ or 150·10⁻²; canonical bytes and ordered keys need
/// one form. Here the mantissa never ends in a zero digit, and zero is +0·10⁰.
struct DecimalParts: Equatable {
    var isNegative: Bool
    var exponent: Int
    var mantissa: UInt128

    init(isNegative: Bool, exponent: Int, mantissa: UInt128) {
        self.isNegative = isNegative
        self.exponent = exponent
        self.mantissa = mantissa
    }

    /// Splits a number into its parts. "Not a number" is mantissa 0 with a sign, which no number
    /// has.
    init(_ decimal: Decimal) {
        guard !decimal.isNaN else {
            self.init(isNegative: true, exponent: 0, mantissa: 0)
            return
        }
        // The significand of a decimal is a whole number of at most 39 digits, which fits.
        var mantissa = UInt128(abs(decimal.significand).description) ?? 0
        var exponent = decimal.exponent
        while mantissa != 0, mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
        self.init(
            isNegative: mantissa != 0 && decimal.sign == .minus,
            exponent: mantissa == 0 ? 0 : exponent, mantissa: mantissa)
    }

    /// The number from its parts; nil when it is out of range.
    var decimal: Decimal? {
        guard mantissa != 0 else { return isNegative ? .nan : 0 }
        guard (-128...127).contains(exponent) || exponent <= 127 + 38 else { return nil }
        var digits = mantissa
        var power = exponent
        // A mantissa without trailing zeros may need an exponent above the type's 127.
        while power > 127 {
            let (product, overflow) = digits.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            digits = product
            power -= 1
        }
        guard power >= -128 else { return nil }
        guard power < exponent else { return Self.decimal(digits, power, isNegative) }
        // Foundation removes trailing zeros from a significand, after which the exponent may be too
        // large, but keeps the zeros that result from a subtraction.
        guard let above = Self.decimal(digits + 1, power, isNegative),
            let one = Self.decimal(1, power, isNegative)
        else { return nil }
        return above - one
    }

    private static func decimal(
        _ digits: UInt128, _ power: Int, _ isNegative: Bool
    ) -> Decimal? {
        guard let significand = Decimal(string: String(digits)) else { return nil }
        return Decimal(
            sign: isNegative ? .minus : .plus, exponent: power, significand: significand)
    }

    /// The digits of the mantissa, most significant first.
    var digits: [UInt8] {
        var digits: [UInt8] = []
        var rest = mantissa
        while rest != 0 {
            digits.append(UInt8(rest % 10))
            rest /= 10
        }
        return digits.reversed()
    }
}
