import Foundation

/// Computes an aggregate of values that come one after the other.
///
/// Numbers are added exactly. A sum of integers or decimals that their type cannot hold is an error, one of
/// binary numbers is rounded, once. Decimals are added in the order in which they come, because an intermediate
/// sum may be one that none can hold. Null does not count.
package struct Aggregation: Sendable {
    private let function: AggregateFunction
    private let type: AttributeType
    private let storage: AttributeType.Storage
    private var count = 0
    private var integer: Int128 = 0
    private var decimal = Decimal(0)
    /// Whether no digit of the sum of decimals has been lost.
    private var isExact = true
    private var binary = BinarySum()
    /// The numbers of a part, which are added when it is joined, or those of a median.
    private var decimals: [Decimal] = []
    /// The numbers of a median.
    private var integers: [Int64] = []
    private var binaries: [Double] = []
    private var isPart = false
    private var extreme = Value.null
    /// The different values in their canonical form.
    private var different = KeyTable()

    /// Begins an aggregate of no values.
    ///
    /// - Parameters:
    ///   - function: The aggregate.
    ///   - type: The type of the values.
    package init(_ function: AggregateFunction, of type: AttributeType) {
        self.function = function
        self.type = type
        storage = type.storage
    }

    /// An empty aggregate for a part of the values, to be joined in order with ``append(_:)``.
    package var beginning: Aggregation {
        var part = Aggregation(function, of: type)
        part.isPart = true
        return part
    }

    /// Whether the order of the values makes no difference.
    package var isOrderFree: Bool {
        switch function {
        case .sum, .average: storage != .decimal
        case .count, .distinct, .minimum, .maximum, .median: true
        }
    }

    /// Adds a value.
    package mutating func add(_ value: Value) {
        guard !value.isNull else { return }
        count += 1
        switch function {
        case .count: break
        case .distinct: _ = different.index(of: value.encoded.span.bytes)
        case .minimum:
            if extreme.isNull || value.order(to: extreme) == .orderedAscending { extreme = value }
        case .maximum:
            if extreme.isNull || value.order(to: extreme) == .orderedDescending { extreme = value }
        case .sum, .average:
            switch value {
            case .int(let number): integer += Int128(number)
            case .double(let number): binary.add(number)
            case .decimal(let number): add(number)
            default: break
            }
        case .median:
            switch value {
            case .int(let number): integers.append(number)
            case .double(let number): binaries.append(number)
            case .decimal(let number): decimals.append(number)
            default: break
            }
        }
    }

    /// Takes back a value that was added.
    ///
    /// - Parameter value: The value.
    /// - Returns: Whether it could be: an extreme does not tell what it was without it, nor does a sum of decimals
    ///   with digits lost. Otherwise the aggregate is of no use any more.
    package mutating func remove(_ value: Value) -> Bool {
        guard !value.isNull else { return true }
        count -= 1
        switch (function, value) {
        case (.count, _): return true
        case (.sum, .int(let number)), (.average, .int(let number)):
            integer -= Int128(number)
            return true
        case (.sum, .double(let number)), (.average, .double(let number)):
            binary.remove(number)
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
            try addOtherwise(row, field)
        }
    }

    @inline(never)
    private mutating func addOtherwise(
        _ row: RawSpan, _ field: EncodedField
    ) throws(DecodingFailure) {
        switch function {
        case .count where row.byte(at: field.start) != ValueTag.null: count += 1
        case .distinct where row.byte(at: field.start) != ValueTag.null:
            count += 1
            _ = different.index(of: row.extracting(field.start..<field.end))
        default: add(try row.value(at: field))
        }
    }

    /// Adds the values of a part, which follow those already added.
    package mutating func append(_ part: Aggregation) {
        count += part.count
        integer += part.integer
        if function == .median {
            integers += part.integers
            binaries += part.binaries
            decimals += part.decimals
        } else {
            binary.add(part.binary)
            for number in part.decimals { add(number) }
        }
        different.formUnion(part.different)
        guard !part.extreme.isNull else { return }
        let order = part.extreme.order(to: extreme)
        if extreme.isNull || (function == .minimum && order == .orderedAscending)
            || (function == .maximum && order == .orderedDescending)
        {
            extreme = part.extreme
        }
    }

    private mutating func add(_ number: Decimal) {
        guard !isPart else {
            decimals.append(number)
            return
        }
        let sum = decimal.adding(number)
        isExact = isExact && sum != nil
        decimal = sum ?? .nan
    }

    // MARK: - The result

    /// The aggregate of all added values: null for the average, minimum, maximum or median of none; nil
    /// when the type cannot hold the result.
    package var value: Value? {
        switch function {
        case .count: .int(Int64(count))
        case .distinct: .int(Int64(different.count))
        case .minimum, .maximum: extreme
        case .sum: sum
        case .average: count == 0 ? .null : mean
        case .median: median
        }
    }

    /// Whether there are decimals among integers: numbers that are set and cannot be saved.
    private var hasDecimals: Bool { !decimal.isZero || !decimals.isEmpty }

    private var sum: Value? {
        switch storage {
        case .integer where hasDecimals: nil
        case .integer: Int64(exactly: integer).flatMap { type.holds($0) ? .int($0) : nil }
        case .double: .double(binary.value)
        case .decimal: isExact ? .decimal(decimal) : nil
        default: nil
        }
    }

    private var mean: Value? {
        switch storage {
        case .integer where hasDecimals: nil
        case .integer: .double(Double(integer) / Double(count))
        case .double: .double(binary.mean(of: count))
        case .decimal: isExact ? .decimal(decimal / Decimal(count)) : nil
        default: nil
        }
    }

    private var median: Value? {
        switch storage {
        case .integer where hasDecimals: return nil
        case .integer:
            guard let (low, high) = integers.sorted().middle else { return .null }
            return .double(Double(Int128(low) + Int128(high)) / 2)
        case .double:
            let sorted = binaries.sorted { $0.isNaN ? !$1.isNaN : $0 < $1 }
            guard let (low, high) = sorted.middle else { return .null }
            // The sum of two great numbers may be infinite.
            return .double(low == high ? low : low / 2 + high / 2)
        case .decimal:
            guard let (low, high) = decimals.sorted().middle else { return .null }
            return low == high ? .decimal(low) : low.adding(high).map { .decimal($0 / 2) }
        default: return nil
        }
    }
}

extension Array {
    /// The two elements in the middle, or twice the one that is there; nil for none.
    fileprivate var middle: (Element, Element)? {
        isEmpty ? nil : (self[(count - 1) / 2], self[count / 2])
    }
}

extension Decimal {
    /// The exact sum; nil when digits would be lost, and for what is not a number.
    fileprivate func adding(_ other: Decimal) -> Decimal? {
        var (left, right, sum) = (self, other, Decimal())
        let isRight = NSDecimalAdd(&sum, &left, &right, .plain) == .noError
        return isRight && !isNaN && !other.isNaN ? sum : nil
    }
}
