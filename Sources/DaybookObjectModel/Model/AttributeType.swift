import Foundation

/// The type of an attribute's values.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    /// `Bool`.
    case bool
    /// `Int16`.
    case int16
    /// `Int32`.
    case int32
    /// `Int64` and `Int`.
    case int64
    /// `Float`.
    case float
    /// `Double`.
    case double
    /// `Decimal`, up to 38 digits.
    case decimal
    /// `String`, and enumerations with a string as their raw value.
    case string
    /// `Data`.
    case data
    /// `Date`.
    case date
    /// `UUID`.
    case uuid
    /// `URL`, kept as text.
    case url
    /// Any `Codable` value, kept as JSON.
    case codable
}

extension AttributeType {
    /// Checks that a value other than null has this type and is within its range.
    ///
    /// - Returns: The reason why the value does not fit, as the rest of a sentence that starts with
    ///   the name of the property; nil when it fits.
    package func objection(to value: Value) -> String? {
        misfit(of: value)?.objection
    }

    /// Checks that a value other than null has this type and is within its range.
    func misfit(of value: Value) -> ValueMisfit? {
        switch (self, value) {
        case (.bool, .bool), (.int64, .int), (.double, .double), (.decimal, .decimal),
            (.string, .string), (.data, .large), (.codable, .data), (.uuid, .uuid):
            return nil
        case (.data, .data(let data)):
            guard data.count > LargeData.inlineBytesMaximum else { return nil }
            return ValueMisfit(
                .invalid,
                "holds more than \(LargeData.inlineBytesMaximum) bytes by reference only")
        case (.int16, .int(let number)):
            return Int16(exactly: number) == nil ? integerMisfit(isTooLarge: number > 0) : nil
        case (.int32, .int(let number)):
            return Int32(exactly: number) == nil ? integerMisfit(isTooLarge: number > 0) : nil
        case (.int16, .decimal(let number)) where number.isWholeBeyondInt64,
            (.int32, .decimal(let number)) where number.isWholeBeyondInt64,
            (.int64, .decimal(let number)) where number.isWholeBeyondInt64:
            return integerMisfit(isTooLarge: number > 0)
        case (.float, .double(let number)):
            guard number.isFinite, Double(Float(number)) != number else { return nil }
            guard Float(number).isInfinite else {
                return ValueMisfit(.invalid, "holds single-precision numbers")
            }
            return ValueMisfit(
                number > 0 ? .numberTooLarge : .numberTooSmall,
                "holds single-precision numbers, none beyond \(Float.greatestFiniteMagnitude)")
        case (.date, .date(let date)):
            return date.timeIntervalSinceReferenceDate.isFinite
                ? nil : ValueMisfit(.invalidDate, "holds finite dates")
        case (.url, .string(let text)):
            return URL(string: text) == nil ? ValueMisfit(.invalidURL, "holds a URL") : nil
        case (.codable, .string):
            return ValueMisfit(
                .invalid, "holds coded values, and was given one that cannot be encoded")
        default:
            return ValueMisfit(.invalid, "holds \(noun), not \(value.noun)")
        }
    }

    private func integerMisfit(isTooLarge: Bool) -> ValueMisfit {
        let limits =
            switch self {
            case .int16: "16-bit integers, from \(Int16.min) to \(Int16.max)"
            case .int32: "32-bit integers, from \(Int32.min) to \(Int32.max)"
            default: "64-bit integers, from \(Int64.min) to \(Int64.max)"
            }
        return ValueMisfit(isTooLarge ? .numberTooLarge : .numberTooSmall, "holds \(limits)")
    }

    /// The noun for a value of this type in a message, with its article.
    package var noun: String {
        switch self {
        case .bool: "true or false"
        case .int16, .int32, .int64: "an integer"
        case .float, .double: "a number"
        case .decimal: "a decimal number"
        case .string: "text"
        case .data: "data"
        case .date: "a date"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .codable: "a coded value"
        }
    }
}

extension Value {
    /// The noun for this value in a message, with its article.
    package var noun: String {
        switch self {
        case .null: "nothing"
        case .bool: "true or false"
        case .int: "an integer"
        case .double: "a number"
        case .decimal: "a decimal number"
        case .string: "text"
        case .data, .large: "data"
        case .date: "a date"
        case .uuid: "a UUID"
        case .object: "an object"
        }
    }
}
