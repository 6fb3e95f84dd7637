import Foundation

/// Conditions on single values, each decided on the value's canonical bytes wherever these suffice.
///
/// What the bytes cannot decide (a text that has to be folded, a number in another form) is decoded and
/// given to the filter itself, so that both always agree.
///
/// A test consists only of numbers, so that trying it on every row does no reference counting.
package struct FieldTests: Sendable {
    /// One of the tests.
    package struct Test: Sendable, BitwiseCopyable {
        /// Whether null meets the condition.
        package let acceptsNull: Bool
        fileprivate let form: Form
        /// The filter that decides where bytes do not.
        fileprivate let filter: Int
    }

    /// The bytes of the constants of all tests.
    private var constants: [UInt8] = []
    private var sets: [EncodedValues] = []
    private var filters: [Filter] = []

    /// No tests.
    package init() {}

    /// Adds the test for a condition on one property of the object at hand.
    ///
    /// - Parameter filter: A comparison, a range or a membership whose other values are constants.
    /// - Returns: The test; nil for any other filter.
    /// - Throws: ``QueryError`` when a pattern cannot be tried.
    package mutating func append(_ filter: Filter) throws -> Test? {
        let form: Form
        switch filter {
        case .comparison(let comparison):
            guard comparison.left.property != nil, let constant = comparison.right.constant else {
                return nil
            }
            form = self.form(comparison.operator, constant, comparison.options)
        case .between(let expression, .constant(let least), .constant(let greatest)):
            guard expression.property != nil else { return nil }
            form = Form(from: least, to: greatest)
        case .membership(let expression, let values, let options):
            guard expression.property != nil else { return nil }
            form = self.form(values, options)
        default: return nil
        }
        let acceptsNull = try filter.holdsForNothing
        filters.append(filter)
        return Test(acceptsNull: acceptsNull, form: form, filter: filters.count - 1)
    }

    /// Whether a value meets the condition of a test.
    ///
    /// - Throws: ``QueryError`` when a pattern takes too long.
    package func holds(_ test: Test, _ value: Value) throws -> Bool {
        try filters[test.filter].matches(only: value)
    }

    /// Whether the value in a range of bytes meets the condition of a test.
    ///
    /// - Parameters:
    ///   - test: The test.
    ///   - row: The bytes.
    ///   - field: Where the value is; not empty, and within the bytes.
    /// - Returns: What the test says of the decoded value.
    /// - Throws: ``DecodingFailure`` for bytes that are no value; ``QueryError`` when a pattern takes
    ///   too long.
    @inline(__always)
    package func holds(_ test: Test, _ row: RawSpan, _ field: EncodedField) throws -> Bool {
        let tag = row.byte(at: field.start)
        switch test.form {
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
        default: return try holdsOtherwise(test, tag, row, field)
        }
        return try holds(test, try row.value(at: field))
    }

    @inline(never)
    private func holdsOtherwise(
        _ test: Test, _ tag: UInt8, _ row: RawSpan, _ field: EncodedField
    ) throws -> Bool {
        let constants = constants.span.bytes
        switch test.form {
        case .same(let constantTag, let bytes) where tag == constantTag:
            return row.isSame(field, as: constants.extracting(bytes.start..<bytes.end))
        case .oneOf(let index) where sets[index].decides(tag):
            return sets[index].contains(row, field)
        case .order(let orders, let bytes) where tag == ValueTag.string:
            let other = constants.extracting(bytes.start..<bytes.end)
            return orders.contains(row.order(try row.text(in: field), other))
        case .text(let part, let bytes, let options) where tag == ValueTag.string:
            let text = try row.text(in: field)
            let other = constants.extracting(bytes.start..<bytes.end)
            if options.isEmpty { return part.isSame(row, text, as: other) }
            guard row.isASCII(text.start..<text.end) else { break }
            return options.contains(.caseInsensitive)
                ? part.isSameInLowerCase(row, text, as: other)
                : part.isSame(row, text, as: other)
        default: break
        }
        return try holds(test, try row.value(at: field))
    }

    // MARK: - Making

    fileprivate enum Form: Sendable, BitwiseCopyable {
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
        /// One value with this tag, byte by byte.
        case same(UInt8, EncodedField)
        /// One of several values, byte by byte.
        case oneOf(Int)
        /// A text that compares with another in one of several ways.
        case order(TextOrder, EncodedField)
        /// A text with another in a part of it.
        case text(TextPart, EncodedField, TextOptions)
    }

    private mutating func keep(_ bytes: some Sequence<UInt8>) -> EncodedField {
        let start = constants.count
        constants += bytes
        return EncodedField(start: start, end: constants.count)
    }

    private mutating func form(_ values: FilterValues, _ options: TextOptions) -> Form {
        guard options.isEmpty, let encoded = EncodedValues(values) else { return .value }
        sets.append(encoded)
        return .oneOf(sets.count - 1)
    }

    /// The form for a comparison with a constant.
    private mutating func form(
        _ operator: FilterOperator, _ constant: Value, _ options: TextOptions
    ) -> Form {
        if case .string(let text) = constant {
            let part: TextPart? =
                switch `operator` {
                case .beginsWith: .start
                case .endsWith: .end
                case .contains: .anywhere
                case .equal: .whole
                default: nil
                }
            if let part { return .text(part, keep(text.folded(options).utf8), options) }
            if options.isEmpty, let orders = TextOrder(`operator`) {
                return .order(orders, keep(text.utf8))
            }
            return .value
        }
        switch (`operator`, constant) {
        case (.equal, .null): return .null
        case (_, .int(let number)):
            return `operator`.bounds(number).map { .integer($0, $1) } ?? .value
        case (_, .double(let number)):
            return `operator`.bounds(number).map { .double($0, $1) } ?? .value
        case (_, .date(let date)):
            let bounds = `operator`.bounds(date.timeIntervalSinceReferenceDate)
            return bounds.map { .date($0, $1) } ?? .value
        case (.equal, _):
            let encoded = constant.encoded
            return .same(encoded[0], keep(encoded))
        default: return .value
        }
    }
}

extension FieldTests.Form {
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
    /// The bounds, both included, of the integers for which the comparison holds; the first is
    /// above the second when it holds for none.
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

    /// The same for a floating-point number; nil for "not a number".
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
fileprivate enum TextPart: Sendable, BitwiseCopyable {
    case whole
    case start
    case end
    case anywhere

    func isSame(_ row: RawSpan, _ text: EncodedField, as other: RawSpan) -> Bool {
        let text = row.extracting(text.start..<text.end)
        guard other.byteCount <= text.byteCount else { return false }
        return switch self {
        case .whole: text.hasSameBytes(as: other)
        case .start: text.extracting(first: other.byteCount).hasSameBytes(as: other)
        case .end: text.extracting(last: other.byteCount).hasSameBytes(as: other)
        case .anywhere: text.contains(other)
        }
    }

    /// The same for a text in ASCII, read in lower case.
    func isSameInLowerCase(_ row: RawSpan, _ text: EncodedField, as other: RawSpan) -> Bool {
        let last = text.end - other.byteCount
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

/// How a text may compare with another.
fileprivate struct TextOrder: OptionSet, Sendable, BitwiseCopyable {
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
    fileprivate func isSame(_ field: EncodedField, as other: RawSpan) -> Bool {
        extracting(field.start..<field.end).hasSameBytes(as: other)
    }

    /// Whether the ASCII bytes from an offset on are these in lower case.
    fileprivate func isSame(at start: Int, inLowerCaseAs other: RawSpan) -> Bool {
        for index in other.byteOffsets {
            let byte = byte(at: start + index)
            guard (byte &- 0x41 < 26 ? byte | 0x20 : byte) == other.byte(at: index) else {
                return false
            }
        }
        return true
    }

    /// How the bytes of a field compare with others.
    fileprivate func order(_ field: EncodedField, _ other: RawSpan) -> TextOrder {
        let order = extracting(field.start..<field.end).order(to: other)
        return order == 0 ? .same : order < 0 ? .before : .after
    }

    /// The floating-point number that a field has after its tag.
    fileprivate func number(in field: EncodedField) throws(DecodingFailure) -> Double {
        var offset = field.start + 1
        return Double(bitPattern: try readBigEndian(UInt64.self, at: &offset))
    }

    /// The range of the text that fills a field.
    fileprivate func text(in field: EncodedField) throws(DecodingFailure) -> EncodedField {
        var offset = field.start + 1
        let count = try readCount(at: &offset)
        guard offset + count == field.end else {
            throw DecodingFailure(at: offset, expected: "a text that fills its field")
        }
        return EncodedField(start: offset, end: field.end)
    }
}
