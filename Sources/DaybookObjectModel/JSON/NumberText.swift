package import Foundation

extension Double {
    /// The texts of numbers for which JSON has no form.
    package static let namesOfNonFinite: [String: Double] = [
        "NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity,
    ]

    /// `NaN`, `Infinity` or `-Infinity`; nil for a finite number.
    package var nonFiniteName: String? {
        if isFinite { return nil }
        return isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity"
    }
}

extension Decimal {
    /// Whether this is a whole number that an `Int64` does not hold.
    package var isWholeBeyondInt64: Bool {
        let parts = DecimalParts(self)
        return parts.mantissa != 0 && parts.exponent >= 0 && Int64(plainText) == nil
    }

    /// Plain digits without an exponent, the shortest for the number; `NaN` if it is not a number.
    package var plainText: String {
        let parts = DecimalParts(self)
        guard parts.mantissa != 0 else { return parts.isNegative ? "NaN" : "0" }
        var digits = String(parts.mantissa)
        if parts.exponent >= 0 {
            digits += String(repeating: "0", count: parts.exponent)
        } else if digits.utf8.count > -parts.exponent {
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: parts.exponent))
        } else {
            digits =
                "0." + String(repeating: "0", count: -parts.exponent - digits.utf8.count) + digits
        }
        return parts.isNegative ? "-" + digits : digits
    }

    /// The number that digits give, with or without a decimal point and an exponent; nil when they
    /// are not a number or more digits than a decimal can hold.
    package init?(exactly text: String) {
        var rest = Substring(text)
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest.removeFirst() }
        var exponent = 0
        if let exponentMark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            guard let power = Int(rest[rest.index(after: exponentMark)...]),
                (-999...999).contains(power)
            else { return nil }
            exponent = power
            rest = rest[..<exponentMark]
        }
        let halves = rest.split(separator: ".", omittingEmptySubsequences: false)
        guard halves.count <= 2, halves.allSatisfy({ !$0.isEmpty }),
            rest.utf8.allSatisfy({ $0 == 0x2e || (0x30...0x39).contains($0) })
        else { return nil }
        var digits = halves.joined()[...]
        if halves.count == 2 { exponent -= halves[1].utf8.count }
        while digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        guard !digits.isEmpty else {
            self = 0
            return
        }
        guard let mantissa = UInt128(digits) else { return nil }
        let parts = DecimalParts(isNegative: isNegative, exponent: exponent, mantissa: mantissa)
        guard let decimal = parts.decimal, DecimalParts(decimal) == parts else { return nil }
        self = decimal
    }
}
