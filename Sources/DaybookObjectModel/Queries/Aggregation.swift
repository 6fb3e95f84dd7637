import Foundation

/// Computes an aggregate of values that come one after the other.
///
/// Integers and decimals are added exactly; a sum that their type cannot hold is an error.
/// Floating-point numbers and decimals are added in the order in which they come, because an
/// intermediate sum may be rounded. Null does not count.
package struct Aggregation: Sendable {
    private let function: FilterAggregate
    private let storage: AttributeType.Storage
    private var count = 0
    private var integer: Int128 = 0
    private var decimal = Decimal(0)
    /// Whether no digit of the sum of decimals has been lost.
    private var isExact = true
    private var binary = 0.0
    /// The numbers of a part, which are added when it is joined.
    private var binaries: [Double] = []
    private var decimals: [Decimal] = []
    private var isPart = false
    private var extreme = Value.null

    /// Begins an aggregate of no values.
    ///
    /// - Parameters:
    ///   - function: The aggregate.
    ///   - type: The type of the values.
    package init(_ function: FilterAggregate, of type: AttributeType) {
        self.function = function
        storage = type.storage
    }

    /// An empty aggregate for a part of the values, to be joined in order with ``append(_:)``.
    package var beginning: Aggregation {
        var part = self
        part.count = 0
        part.integer = 0
        part.extreme = .null
        part.isPart = true
        return part
    }

    /// Adds a value.
    package mutating func add(_ value: Value) {
        guard !value.isNull else { return }
        count += 1
        switch function {
        case .count: break
        case .minimum:
            if extreme.isNull || value.order(to: extreme) == .orderedAscending { extreme = value }
        case .maximum:
            if extreme.isNull || value.order(to: extreme) == .orderedDescending { extreme = value }
        case .sum, .average:
            switch value {
            case .int(let number): integer += Int128(number)
            case .double(let number): add(number)
            case .decimal(let number): add(number)
            default: break
            }
        }
    }

    /// Takes back a value that was added.
    ///
    /// - Parameter value: The value.
    /// - Returns: Whether it could be: an extreme and a rounded sum do not tell what they were without it.
    ///   Otherwise the aggregate is of no use any more.
    package mutating func remove(_ value: Value) -> Bool {
        guard !value.isNull else { return true }
        count -= 1
        switch (function, value) {
        case (.count, _): return true
        case (.sum, .int(let number)), (.average, .int(let number)):
            integer -= Int128(number)
            return true
        case (.sum, .decimal(var number)), (.average, .decimal(var number)):
            number.negate()
            add(number)
            return isExact
        default: return false
        }
    }

    /// Adds the value in a range of bytes.
    ///
    /// - Parameters:
    ///   - row: The bytes.
    ///   - field: Where the value is; not empty, and within the bytes.
    /// - Throws: ``DecodingFailure`` for bytes that are no value.
    @inline(__always)
    package mutating func add(_ row: RawSpan, _ field: EncodedField) throws(DecodingFailure) {
        if storage == .integer, function == .sum || function == .average,
            row.byte(at: field.start) == ValueTag.int
        {
            var offset = field.start + 1
            integer += Int128(try row.readVariableSigned(at: &offset))
            count += 1
        } else {
            add(try row.value(at: field))
        }
    }

    /// Adds the values of a part, which follow those already added.
    package mutating func append(_ part: Aggregation) {
        count += part.count
        integer += part.integer
        for number in part.decimals { add(number) }
        for number in part.binaries { add(number) }
        guard !part.extreme.isNull else { return }
        let order = part.extreme.order(to: extreme)
        if extreme.isNull || (function == .minimum && order == .orderedAscending)
            || (function == .maximum && order == .orderedDescending)
        {
            extreme = part.extreme
        }
    }

    private mutating func add(_ number: Double) {
        if isPart { binaries.append(number) } else { binary += number }
    }

    private mutating func add(_ number: Decimal) {
        guard !isPart else {
            decimals.append(number)
            return
        }
        var (left, right, sum) = (decimal, number, Decimal())
        let isRight = NSDecimalAdd(&sum, &left, &right, .plain) == .noError
        isExact = isExact && isRight && !left.isNaN && !right.isNaN
        decimal = sum
    }

    /// The aggregate of all added values: null for the average, minimum or maximum of none; nil
    /// when the type cannot hold the result.
    package var value: Value? {
        switch function {
        case .count: .int(Int64(count))
        case .minimum, .maximum: extreme
        case .sum: sum
        case .average: count == 0 ? .null : mean
        }
    }

    private var sum: Value? {
        switch storage {
        case .integer: Int64(exactly: integer).map { .int($0) }
        case .double: .double(binary)
        case .decimal: isExact ? .decimal(decimal) : nil
        default: nil
        }
    }

    private var mean: Value? {
        switch storage {
        case .integer: .double(Double(integer) / Double(count))
        case .double: .double(binary / Double(count))
        case .decimal: isExact ? .decimal(decimal / Decimal(count)) : nil
        default: nil
        }
    }
}
