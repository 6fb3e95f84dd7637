import Foundation

extension FilterAggregate {
    /// The aggregate of the values other than null. Values that are not numbers have no sum or
    /// mean.
    func value(of values: [Value]) -> Value {
        switch self {
        case .count: .int(Int64(values.count))
        case .minimum: values.min { $0.order(to: $1) == .orderedAscending } ?? .null
        case .maximum: values.max { $0.order(to: $1) == .orderedAscending } ?? .null
        case .sum: values.sum
        case .average: values.mean
        }
    }
}

extension [Value] {
    /// The sum, as that of an ``Aggregation`` is: exact, and of binary numbers rounded once.
    fileprivate var sum: Value {
        if let binary = binarySum { return .double(binary.value) }
        var result = Value.int(0)
        for value in self {
            switch (result, value) {
            case (.int(let left), .int(let right)):
                let (sum, overflow) = left.addingReportingOverflow(right)
                result = overflow ? .decimal(Decimal(left) + Decimal(right)) : .int(sum)
            case (.int(let left), .decimal(let right)): result = .decimal(Decimal(left) + right)
            case (.decimal(let left), .decimal(let right)): result = .decimal(left + right)
            case (.decimal(let left), .int(let right)): result = .decimal(left + Decimal(right))
            default: return .null
            }
        }
        return result
    }

    /// The sum of whole and binary numbers, of which one at least is binary; nil for others.
    private var binarySum: BinarySum? {
        var sum = BinarySum()
        var hasBinary = false
        for value in self {
            switch value {
            case .int(let number): sum.add(Double(number))
            case .double(let number):
                sum.add(number)
                hasBinary = true
            default: return nil
            }
        }
        return hasBinary ? sum : nil
    }

    fileprivate var mean: Value {
        guard !isEmpty else { return .null }
        if let binary = binarySum { return .double(binary.mean(of: count)) }
        switch (sum, first) {
        case (.int(let sum), _): return .double(Double(sum) / Double(count))
        case (.decimal(let sum), .int):
            return .double((sum as NSDecimalNumber).doubleValue / Double(count))
        case (.decimal(let sum), _): return .decimal(sum / Decimal(count))
        default: return .null
        }
    }
}
