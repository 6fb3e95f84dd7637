import Foundation

/// The rules for the values of an attribute, besides their type.
///
/// The rules are part of the model: every store checks them at every save. They do not apply to an
/// attribute without a value; ``AttributeDescription/isOptional`` says whether it must have one. A
/// default value need not follow them, so a new object may start with a value that has to be
/// replaced before it can be saved.
public struct AttributeRules: Sendable, Hashable {
    /// The least value of a number or a date; null for no limit.
    public var minimum: Value
    /// The greatest value of a number or a date; null for no limit.
    public var maximum: Value
    /// The least length of text or data; 0 for no limit.
    ///
    /// Text is counted in Unicode scalars, since the count of characters depends on the version of
    /// Unicode; data and coded values are counted in bytes.
    public var minimumLength: Int
    /// The greatest length of text or data, counted in the same way; 0 for no limit.
    public var maximumLength: Int
    /// A regular expression that describes the whole text; nil for any text.
    public var pattern: String?

    /// Collects rules.
    ///
    /// - Parameters:
    ///   - minimum: The least value of a number or a date.
    ///   - maximum: The greatest value of a number or a date.
    ///   - minimumLength: The least length, in Unicode scalars or bytes.
    ///   - maximumLength: The greatest length, in Unicode scalars or bytes.
    ///   - pattern: A regular expression for the whole text.
    public init(
        minimum: Value = .null, maximum: Value = .null, minimumLength: Int = 0,
        maximumLength: Int = 0, pattern: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minimumLength = minimumLength
        self.maximumLength = maximumLength
        self.pattern = pattern
    }

    /// Whether there is no rule.
    public var isEmpty: Bool { self == AttributeRules() }
}

extension AttributeRules {
    /// The same rules with normalized values.
    var normalized: AttributeRules {
        var copy = self
        copy.minimum = minimum.normalized
        copy.maximum = maximum.normalized
        return copy
    }

    /// The mistakes in the rules for an attribute of a type, each the rest of a sentence that
    /// starts with the attribute's name.
    func problems(for type: AttributeType) -> [String] {
        var problems: [String] = []
        for (name, limit) in [("minimum", minimum), ("maximum", maximum)] where !limit.isNull {
            if !type.hasLimits {
                problems.append("has a \(name), which only numbers and dates can have.")
            } else if let objection = type.objection(to: limit) {
                problems.append("has a \(name) that does not fit: it \(objection).")
            } else if limit.isNotANumber {
                problems.append("has a \(name) that is not a number.")
            }
        }
        if !minimum.isNull, !maximum.isNull, minimum.order(to: maximum) == .orderedDescending {
            problems.append("has a minimum above its maximum.")
        }
        if (minimumLength != 0 || maximumLength != 0) && !type.hasLength {
            problems.append("has a limit of length, which only text and data can have.")
        } else if minimumLength < 0 || maximumLength < 0
            || (maximumLength > 0 && minimumLength > maximumLength)
        {
            problems.append("has a minimum length above its maximum length.")
        }
        if let pattern {
            if type != .string && type != .url {
                problems.append("has a pattern, which only text can have.")
            } else if TextPattern.expression(pattern, []) == nil {
                problems.append("has a pattern that is not a regular expression.")
            }
        }
        return problems
    }
}

extension AttributeType {
    /// Whether values have a size that can be limited.
    fileprivate var hasLimits: Bool {
        switch self {
        case .int16, .int32, .int64, .float, .double, .decimal, .date: true
        case .bool, .string, .data, .uuid, .url, .codable: false
        }
    }

    /// Whether values have a length.
    fileprivate var hasLength: Bool {
        switch self {
        case .string, .url, .data, .codable: true
        case .bool, .int16, .int32, .int64, .float, .double, .decimal, .date, .uuid: false
        }
    }
}

extension Value {
    fileprivate var isNotANumber: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        default: false
        }
    }
}
