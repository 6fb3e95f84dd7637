extension AttributeType {
    /// The form of values in a row. Types of the same form need no conversion.
    package enum Storage: Sendable, Hashable {
        case bool, integer, double, decimal, text, data, date, uuid
    }

    /// The form of this type's values in a row.
    package var storage: Storage {
        switch self {
        case .bool: .bool
        case .int16, .int32, .int64: .integer
        case .float, .double: .double
        case .decimal: .decimal
        case .string, .url: .text
        case .data, .codable: .data
        case .date: .date
        case .uuid: .uuid
        }
    }
}
