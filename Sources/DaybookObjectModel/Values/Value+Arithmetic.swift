internal import Foundation

/// An operation on two numbers of an object.
package enum ArithmeticOperation: Sendable, Hashable {
    /// The sum.
    case add
    /// The difference.
    case subtract
    /// The product.
    case multiply
}

extension Value {
    /// The result of an operation with another number of the same kind.
    ///
    /// Whole and decimal numbers are exact; binary numbers are rounded as always.
    ///
    /// - Returns: Null when either is null; nil when the kind cannot hold the result, exactly for
    ///   decimal numbers and finitely for binary ones, or these are not two numbers of one kind.
    package func combined(with other: Value, by operation: ArithmeticOperation) -> Value? {
        switch (self, other) {
        case (.null, _), (_, .null): .null
        case (.int(let left), .int(let right)): left.combined(with: right, by: operation)
        case (.double(let left), .double(let right)): left.combined(with: right, by: operation)
        case (.decimal(let left), .decimal(let right)): left.combined(with: right, by: operation)
        default: nil
        }
    }
}

extension Int64 {
    fileprivate func combined(with other: Int64, by operation: ArithmeticOperation) -> Value? {
        let (result, isTooGreat) =
            switch operation {
            case .add: addingReportingOverflow(other)
            case .subtract: subtractingReportingOverflow(other)
            case .multiply: multipliedReportingOverflow(by: other)
            }
        return isTooGreat ? nil : .int(result)
    }
}

extension Double {
    fileprivate func combined(with other: Double, by operation: ArithmeticOperation) -> Value? {
        let result =
            switch operation {
            case .add: self + other
            case .subtract: self - other
            case .multiply: self * other
            }
        return result.isFinite ? .double(result) : nil
    }
}

extension Decimal {
    fileprivate func combined(with other: Decimal, by operation: ArithmeticOperation) -> Value? {
        guard !isNaN, !other.isNaN else { return nil }
        var (left, right, result) = (self, other, Decimal())
        let error =
            switch operation {
            case .add: NSDecimalAdd(&result, &left, &right, .plain)
            case .subtract: NSDecimalSubtract(&result, &left, &right, .plain)
            case .multiply: NSDecimalMultiply(&result, &left, &right, .plain)
            }
        guard error == .noError, !result.isNaN else { return nil }
        // A product is rounded without being reported.
        guard
            operation != .multiply
                || DecimalParts(result).isProduct(of: DecimalParts(self), and: DecimalParts(other))
        else { return nil }
        return .decimal(result)
    }
}

extension DecimalParts {
    /// Whether this is the product of two numbers without the loss of a digit.
    fileprivate func isProduct(of left: DecimalParts, and right: DecimalParts) -> Bool {
        guard left.mantissa != 0, right.mantissa != 0 else { return mantissa == 0 }
        let zeros = exponent - left.exponent - right.exponent
        guard (0...38).contains(zeros) else { return false }
        let power = (0..<zeros).reduce(UInt128(1)) { power, _ in power * 10 }
        return mantissa.multipliedFullWidth(by: power)
            == left.mantissa.multipliedFullWidth(by: right.mantissa)
    }
}
