/// What is worked out of the values of many objects.
package enum AggregateFunction: String, Sendable, Hashable, CaseIterable {
    /// The number of values; without an attribute, the number of objects.
    case count
    /// The number of different values.
    case distinct
    /// The sum; 0 of none.
    case sum
    /// The mean; null of none.
    case average
    /// The least; null of none.
    case minimum
    /// The greatest; null of none.
    case maximum
    /// The value in the middle, or the mean of the two there; null of none.
    case median

    /// Whether it needs numbers.
    package var isOfNumbers: Bool {
        switch self {
        case .sum, .average, .median: true
        case .count, .distinct, .minimum, .maximum: false
        }
    }

    /// The name of a column with it: `sum(salary)`.
    package func columnName(of attribute: String?) -> String {
        attribute.map { "\(rawValue)(\($0))" } ?? rawValue
    }

    /// The type of the result for an attribute.
    package func resultType(of type: AttributeType) -> AttributeType {
        switch self {
        case .count, .distinct: .int64
        case .average, .median: type == .decimal ? .decimal : .double
        case .sum, .minimum, .maximum: type
        }
    }

    /// The error for a result that its type cannot hold or read.
    package func misfit(_ attribute: String, _ type: AttributeType) -> QueryError {
        switch self {
        case .minimum, .maximum:
            QueryError(
                "The \(rawValue) of \(attribute) is a value that its Swift type cannot read. "
                    + "Give the type an 'unknownValue', or restrict the request.")
        default:
            QueryError(
                "The \(rawValue) of \(attribute) does not fit its type '\(type.rawValue)'. Give "
                    + "the attribute a type with more digits, or restrict the request.")
        }
    }
}

extension AttributeType {
    /// Whether the values are numbers.
    package var isNumeric: Bool {
        switch storage {
        case .integer, .double, .decimal: true
        case .bool, .text, .data, .date, .uuid: false
        }
    }

    /// Whether a whole number is within the type's width.
    package func holds(_ number: Int64) -> Bool {
        switch self {
        case .int16: Int16(exactly: number) != nil
        case .int32: Int32(exactly: number) != nil
        default: true
        }
    }
}
