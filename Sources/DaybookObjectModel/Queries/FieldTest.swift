import Foundation

/// A condition on one value, decided on its canonical bytes wherever these suffice.
///
/// What the bytes cannot decide (a text that has to be folded, a number in another form) is decoded and
/// given to the filter itself, so that both always agree.
///
/// It is a class so that it is not copied for every row.
package final class FieldTest: Sendable {
    private let form: Form
    private let filter: Filter
    /// Whether null meets the condition.
    package let acceptsNull: Bool

    fileprivate enum Form: Sendable {
        /// Only the decoded value decides.
        case value
        /// Null, and nothing else.
        case null
        /// An integer within bounds.
        case integer(Int64, Int64)
        /// A floating-point number within bounds.
        case double(Double, Double)
        /// A date within bounds, in seconds.
        case date(Double, Double)
        /// One value, byte by byte.
        case same([UInt8])
        /// One of several values, byte by byte.
        case oneOf(EncodedValues)
        /// A text in one of several orders to another.
        case order(TextOrder, [UInt8])
        /// A text with another in a part of it.
        case text(TextPart, [UInt8], TextOptions)
    }

    /// The test for a condition on one property of the object at hand; nil for any other filter.
    ///
    /// - Parameter filter: A comparison, a range or a membership whose other values are constants.
    /// - Throws: ``QueryError`` when a pattern cannot be tried.
    package init?(_ filter: Filter) throws {
        switch filter {
        case .comparison(let comparison):
            guard comparison.left.property != nil, let constant = comparison.right.constant else {
                return nil
            }
            form = Form(comparison.operator, constant, comparison.options)
        case .between(let expression, .constant(let least), .constant(let greatest)):
            guard expression.property != nil else { return nil }
            form = Form(from: least, to: greatest)
        case .membership(let expression, let values, let options):
            guard expression.property != nil else { return nil }
            form = options.isEmpty ? EncodedValues(values).map { .oneOf($0) } ?? .value : .value
        default: return nil
        }
        self.filter = filter
        acceptsNull = try filter.holdsForNothing
    }

    /// Whether a value meets the condition.
    ///
    /// - Throws: ``QueryError`` when a pattern takes too long.
    package func holds(_ value: Value) throws -> Bool {
        try filter.matches(only: value)
    }

    /// Whether the value in a range of bytes meets the condition.
    ///
    /// - Parameters:
    ///   - row: The bytes.
    ///   - field: Where the value is; not empty, and within the bytes.
    /// - Returns: What ``holds(_:)`` says of the decoded value.
    /// - Throws: ``DecodingFailure`` for bytes that are no value; ``QueryError`` when a pattern takes
    ///   too long.
    package func holds(_ row: RawSpan, _ field: EncodedField) throws -> Bool {
        let tag = row.byte(at: field.start)
        switch form {
        case .null: return tag == ValueTag.null
        case .integer(let least, let greatest) where tag == ValueTag.int:
            var offset = field.start + 1
            let number = try row.readVariableSigned(at: &offset)
            return number >= least && number <= greatest
        case .double(let least, let greatest) where tag == ValueTag.double:
            // "Not a number" is within no bounds.
            let number = try row.number(in: field)
            return number >= least && number <= greatest
        case .date(let least, let greatest) where tag == ValueTag.date:
            let seconds = try row.number(in: field)
            guard !seconds.isNaN else { break }
            return seconds >= least && seconds <= greatest
        case .same(let bytes) where tag == bytes[0]:
            return row.isSame(field, as: bytes)
        case .oneOf(let values) where values.decides(tag):
            return values.contains(row, field)
        case .order(let orders, let bytes) where tag == ValueTag.string:
            return orders.contains(row.order(try row.text(in: field), bytes))
        case .text(let part, let bytes, let options) where tag == ValueTag.string:
            let text = try row.text(in: field)
            if options.isEmpty { return part.isSame(row, text, as: bytes) }
            guard row.isASCII(text.start..<text.end) else { break }
            return options.contains(.caseInsensitive)
                ? part.isSameInLowerCase(row, text, as: bytes)
                : part.isSame(row, text, as: bytes)
        default: break
        }
        return try holds(try row.value(at: field))
    }
}

extension FieldTest.Form {
    /// The form for a comparison with a constant.
    fileprivate init(_ operator: FilterOperator, _ constant: Value, _ options: TextOptions) {
        self = .value
        if case .string(let text) = constant {
            let part: TextPart? =
                switch `operator` {
                case .beginsWith: .start
                case .endsWith: .end
                case .contains: .anywhere
                case .equal: .whole
                default: nil
                }
            if let part {
                self = .text(part, Array(text.folded(options).utf8), options)
            } else if options.isEmpty, let orders = TextOrder(`operator`) {
                self = .order(orders, Array(text.utf8))
            }
            return
        }
        switch (`operator`, constant) {
        case (.equal, .null): self = .null
        case (_, .int(let number)):
            guard let bounds = `operator`.bounds(number) else { return }
            self = .integer(bounds.0, bounds.1)
        case (_, .double(let number)):
            guard let bounds = `operator`.bounds(number) else { return }
            self = .double(bounds.0, bounds.1)
        case (_, .date(let date)):
            guard let bounds = `operator`.bounds(date.timeIntervalSinceReferenceDate) else {
                return
            }
            self = .date(bounds.0, bounds.1)
        case (.equal, _): self = .same(constant.encoded)
        default: return
        }
    }

    /// The form for a range with both its ends.
    fileprivate init(from least: Value, to greatest: Value) {
        switch (least, greatest) {
        case (.int(let least), .int(let greatest)): self = .integer(least, greatest)
        case (.double(let least), .double(let greatest)): self = .double(least, greatest)
        case (.date(let least), .date(let greatest)):
            let bounds = (
                least.timeIntervalSinceReferenceDate, greatest.timeIntervalSinceReferenceDate
            )
            self = bounds.0.isNaN || bounds.1.isNaN ? .value : .date(bounds.0, bounds.1)
        default: self = .value
        }
    }
}

extension FilterOperator {
    /// The bounds, both included, of what compares so with an integer; the first is above the second
    /// for nothing at all.
    fileprivate func bounds(_ number: Int64) -> (Int64, Int64)? {
        let nothing = (Int64.max, Int64.min)
        switch self {
        case .equal: return (number, number)
        case .less: return number == .min ? nothing : (.min, number - 1)
        case .lessOrEqual: return (.min, number)
        case .greater: return number == .max ? nothing : (number + 1, .max)
        case .greaterOrEqual: return (number, .max)
        default: return nil
        }
    }

    /// The same for a floating-point number that is one.
    fileprivate func bounds(_ number: Double) -> (Double, Double)? {
        guard !number.isNaN else { return nil }
        let nothing = (Double.infinity, -Double.infinity)
        switch self {
        case .equal: return (number, number)
        case .less: return number == -.infinity ? nothing : (-.infinity, number.nextDown)
        case .lessOrEqual: return (-.infinity, number)
        case .greater: return number == .infinity ? nothing : (number.nextUp, .infinity)
        case .greaterOrEqual: return (number, .infinity)
        default: return nil
        }
    }
}

// MARK: - Single values

extension Filter {
    /// Whether something that has no values meets the condition.
    ///
    /// - Throws: ``QueryError`` when a pattern takes too long.
    package var holdsForNothing: Bool {
        get throws { try matches(only: .null) }
    }

    /// Whether an object all of whose values are the same one meets the condition.
    fileprivate func matches(only value: Value) throws -> Bool {
        // Nothing is asked about the object but its value.
        let object = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)
        return try matches(object, in: OneValue(value: value))
    }
}

/// The one value that a condition is tried on.
private struct OneValue: FilterSource {
    let value: Value

    func value(of property: SchemaProperty, in object: ObjectID) -> Value { value }

    func members(of property: SchemaProperty, in object: ObjectID) -> [ObjectID] {
        value.reference.map { [$0] } ?? []
    }
}

// MARK: - Texts

/// The part of a text in which another is looked for.
fileprivate enum TextPart: Sendable {
    case whole
    case start
    case end
    case anywhere

    func isSame(_ row: RawSpan, _ text: EncodedField, as other: [UInt8]) -> Bool {
        let count = text.end - text.start
        guard other.count <= count else { return false }
        switch self {
        case .whole: return count == other.count && row.isSame(text, as: other)
        case .start:
            return row.isSame(
                EncodedField(start: text.start, end: text.start + other.count), as: other)
        case .end:
            return row.isSame(
                EncodedField(start: text.end - other.count, end: text.end), as: other)
        case .anywhere:
            guard let first = other.first else { return true }
            for start in text.start...(text.end - other.count)
            where row.byte(at: start) == first
                && row.isSame(EncodedField(start: start, end: start + other.count), as: other)
            {
                return true
            }
            return false
        }
    }

    /// The same for a text in ASCII, read in lower case.
    func isSameInLowerCase(_ row: RawSpan, _ text: EncodedField, as other: [UInt8]) -> Bool {
        let last = text.end - other.count
        guard text.start <= last else { return false }
        switch self {
        case .whole: return text.start == last && row.isSame(at: last, inLowerCaseAs: other)
        case .start: return row.isSame(at: text.start, inLowerCaseAs: other)
        case .end: return row.isSame(at: last, inLowerCaseAs: other)
        case .anywhere:
            for start in text.start...last where row.isSame(at: start, inLowerCaseAs: other) {
                return true
            }
            return false
        }
    }
}

/// How a text may stand to another one.
fileprivate struct TextOrder: OptionSet, Sendable {
    let rawValue: UInt8

    static let before = TextOrder(rawValue: 1)
    static let same = TextOrder(rawValue: 2)
    static let after = TextOrder(rawValue: 4)

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init?(_ operator: FilterOperator) {
        switch `operator` {
        case .less: self = .before
        case .lessOrEqual: self = [.before, .same]
        case .greater: self = .after
        case .greaterOrEqual: self = [.after, .same]
        default: return nil
        }
    }
}

extension RawSpan {
    /// The byte at an offset within the span.
    @inline(__always)
    func byte(at offset: Int) -> UInt8 {
        unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
    }

    /// Whether the bytes of a field are these.
    fileprivate func isSame(_ field: EncodedField, as other: [UInt8]) -> Bool {
        extracting(field.start..<field.end).hasSameBytes(as: other.span.bytes)
    }

    /// Whether the ASCII bytes from an offset on are these in lower case.
    fileprivate func isSame(at start: Int, inLowerCaseAs other: [UInt8]) -> Bool {
        for index in other.indices {
            let byte = byte(at: start + index)
            guard (byte &- 0x41 < 26 ? byte | 0x20 : byte) == other[index] else { return false }
        }
        return true
    }

    /// How the bytes of a field stand to others.
    fileprivate func order(_ field: EncodedField, _ other: [UInt8]) -> TextOrder {
        let count = field.end - field.start
        for index in 0..<min(count, other.count) {
            let byte = byte(at: field.start + index)
            if byte != other[index] { return byte < other[index] ? .before : .after }
        }
        if count == other.count { return .same }
        return count < other.count ? .before : .after
    }

    /// The floating-point number that a field has after its tag.
    fileprivate func number(in field: EncodedField) throws(DecodingFailure) -> Double {
        var offset = field.start + 1
        return Double(bitPattern: try readBigEndian(UInt64.self, at: &offset))
    }

    /// Where the bytes of the text are that fills a field.
    fileprivate func text(in field: EncodedField) throws(DecodingFailure) -> EncodedField {
        var offset = field.start + 1
        let count = try readCount(at: &offset)
        guard offset + count == field.end else {
            throw DecodingFailure(at: offset, expected: "a text that fills its field")
        }
        return EncodedField(start: offset, end: field.end)
    }
}
