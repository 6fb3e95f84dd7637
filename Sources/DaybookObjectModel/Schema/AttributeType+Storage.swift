extension AttributeType {
    /// What values of a type are in a row. Types of one kind need no conversion.
    package enum Storage: Sendable, Hashable {
        case bool, integer, double, decimal, text, data, date, uuid
    }

    /// What values of this type are in a row.
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
