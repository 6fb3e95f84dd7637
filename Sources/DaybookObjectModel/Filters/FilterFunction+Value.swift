import Foundation

extension FilterFunction {
    /// The value for arguments, as many as it has.
    func value(of arguments: [Value]) -> Value {
        guard arguments.count == argumentCount, let first = arguments.first,
            !arguments.contains(where: \.isNull)
        else { return .null }
        switch domain {
        case .numbersOrDates, .numbers:
            return argumentCount == 2 ? computed(first, arguments[1]) : computed(first)
        case .text:
            guard case .string(let text) = first else { return .null }
            return computed(text)
        case .date:
            guard case .date(let date) = first, let parts = DateText.parts(of: date) else {
                return .null
            }
            return .int(computed(parts))
        }
    }

    private func computed(_ text: String) -> Value {
        switch self {
        case .length: .int(Int64(text.count))
        case .lowercase: .string(text.settledLowercase)
        case .uppercase: .string(text.settledUppercase)
        default: .string(text.folded(.canonical))
        }
    }

    private func computed(_ date: DateText.Parts) -> Int64 {
        switch self {
        case .year: date.year
        case .month: date.month
        case .day: date.day
        case .hour: date.second / 3_600
        case .minute: date.second / 60 % 60
        case .second: date.second % 60
        default: date.weekday
        }
    }

    // MARK: - Two numbers

    private func computed(_ left: Value, _ right: Value) -> Value {
        switch (left, right) {
        case (.int(let left), .int(let right)): return whole(left, right)
        case (.decimal, .decimal), (.decimal, .int), (.int, .decimal):
            guard let left = left.decimal, let right = right.decimal else { return .null }
            return decimal(left, right)
        case (.date(let left), .date(let right)):
            return self == .subtract ? .binary(left.timeIntervalSince(right)) : .null
        case (.date(let date), _):
            guard let seconds = right.binary, self == .add || self == .subtract else {
                return .null
            }
            return .moved(date, by: self == .add ? seconds : -seconds)
        case (_, .date(let date)):
            guard let seconds = left.binary, self == .add else { return .null }
            return .moved(date, by: seconds)
        default:
            guard let left = left.binary, let right = right.binary else { return .null }
            return binary(left, right)
        }
    }

    /// Of whole numbers; as decimal numbers where the result has more than 64 bits.
    private func whole(_ left: Int64, _ right: Int64) -> Value {
        let result: (partialValue: Int64, overflow: Bool)
        switch self {
        case .add: result = left.addingReportingOverflow(right)
        case .subtract: result = left.subtractingReportingOverflow(right)
        case .multiply: result = left.multipliedReportingOverflow(by: right)
        case .divide where right == 0, .modulus where right == 0: return .null
        case .divide: result = left.dividedReportingOverflow(by: right)
        case .modulus:
            result = (left.remainderReportingOverflow(dividingBy: right).partialValue, false)
        case .power:
            guard right >= 0 else { return binary(Double(left), Double(right)) }
            guard let power = left.raised(to: right) else {
                return decimal(Decimal(left), Decimal(right))
            }
            return .int(power)
        default: return .null
        }
        return result.overflow ? decimal(Decimal(left), Decimal(right)) : .int(result.partialValue)
    }

    /// Of decimal numbers; as binary numbers where the result has too many digits before its point.
    private func decimal(_ left: Decimal, _ right: Decimal) -> Value {
        var (first, second, result) = (left, right, Decimal())
        let error: NSDecimalNumber.CalculationError
        switch self {
        case .add: error = NSDecimalAdd(&result, &first, &second, .plain)
        case .subtract: error = NSDecimalSubtract(&result, &first, &second, .plain)
        case .multiply: error = NSDecimalMultiply(&result, &first, &second, .plain)
        case .divide where right.isZero, .modulus where right.isZero: return .null
        case .divide: error = NSDecimalDivide(&result, &first, &second, .plain)
        case .modulus:
            guard case .decimal(let quotient) = FilterFunction.divide.decimal(left, right),
                case .decimal(let whole) = FilterFunction.truncate.computed(.decimal(quotient)),
                case .decimal(let product) = FilterFunction.multiply.decimal(whole, right)
            else { return binary(left.binary, right.binary) }
            return FilterFunction.subtract.decimal(left, product)
        case .power:
            guard let exponent = Int(exactly: right.binary),
                (0...Self.powerMaximum).contains(exponent)
            else { return binary(left.binary, right.binary) }
            error = NSDecimalPower(&result, &first, exponent, .plain)
        default: return .null
        }
        let isFound = error == .noError || error == .lossOfPrecision || error == .underflow
        return isFound && !result.isNaN ? .decimal(result) : binary(left.binary, right.binary)
    }

    /// The power of the smallest whole number above one has more than 38 digits behind it.
    private static let powerMaximum = 127

    private func binary(_ left: Double, _ right: Double) -> Value {
        switch self {
        case .add: .binary(left + right)
        case .subtract: .binary(left - right)
        case .multiply: .binary(left * right)
        case .divide: right == 0 ? .null : .binary(left / right)
        case .modulus: right == 0 ? .null : .binary(left.truncatingRemainder(dividingBy: right))
        case .power: .binary(pow(left, right))
        default: .null
        }
    }

    // MARK: - One number

    private func computed(_ value: Value) -> Value {
        switch (self, value) {
        case (.negate, .int(let number)):
            return number == .min ? .decimal(-Decimal(number)) : .int(-number)
        case (.negate, .decimal(let number)): return .decimal(-number)
        case (.negate, .double(let number)): return .binary(-number)
        case (.absolute, .int(let number)):
            return number == .min ? .decimal(-Decimal(number)) : .int(abs(number))
        case (.absolute, .decimal(let number)): return .decimal(abs(number))
        case (.absolute, .double(let number)): return .binary(abs(number))
        case (.ceiling, .int), (.floor, .int), (.truncate, .int): return value
        case (.ceiling, .decimal(let number)): return .decimal(number.rounded(.up))
        case (.floor, .decimal(let number)): return .decimal(number.rounded(.down))
        case (.truncate, .decimal(let number)):
            return .decimal(number.rounded(number.isSignMinus ? .up : .down))
        case (.ceiling, .double(let number)): return .binary(number.rounded(.up))
        case (.floor, .double(let number)): return .binary(number.rounded(.down))
        case (.truncate, .double(let number)): return .binary(number.rounded(.towardZero))
        default:
            guard let number = value.binary else { return .null }
            return binary(number)
        }
    }

    private func binary(_ number: Double) -> Value {
        switch self {
        case .squareRoot: .binary(number.squareRoot())
        case .naturalLogarithm: number <= 0 ? .null : .binary(log(number))
        case .logarithm: number <= 0 ? .null : .binary(log10(number))
        case .exponential: .binary(exp(number))
        default: .null
        }
    }
}

extension Value {
    /// A binary number; null for what is not a number.
    fileprivate static func binary(_ number: Double) -> Value {
        number.isNaN ? .null : .double(number).normalized
    }

    /// A date some seconds later; null beyond all dates.
    fileprivate static func moved(_ date: Date, by seconds: Double) -> Value {
        let moved = date.timeIntervalSinceReferenceDate + seconds
        return moved.isFinite
            ? .date(Date(timeIntervalSinceReferenceDate: moved)).normalized : .null
    }

    /// A number as a binary one; nil for anything else.
    fileprivate var binary: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.binary
        default: nil
        }
    }

    fileprivate var decimal: Decimal? {
        switch self {
        case .int(let number): Decimal(number)
        case .decimal(let number): number
        default: nil
        }
    }
}

extension Decimal {
    fileprivate var binary: Double {
        // Foundation's conversion does not give the nearest number.
        Double("\(self)") ?? .nan
    }

    fileprivate func rounded(_ mode: RoundingMode) -> Decimal {
        var (number, result) = (self, Decimal())
        NSDecimalRound(&result, &number, 0, mode)
        return result
    }
}

extension Int64 {
    /// The power; nil when it has more than 64 bits.
    fileprivate func raised(to exponent: Int64) -> Int64? {
        switch self {
        case 0, 1: return exponent == 0 ? 1 : self
        case -1: return exponent % 2 == 0 ? 1 : -1
        default: break
        }
        guard exponent < Int64.bitWidth else { return nil }
        var result: Int64 = 1
        for _ in 0..<exponent {
            let product = result.multipliedReportingOverflow(by: self)
            if product.overflow { return nil }
            result = product.partialValue
        }
        return result
    }
}
