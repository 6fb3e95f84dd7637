public import DaybookObjectModel

// Collections of `Codable` values are kept as JSON, whole: an edit of one element is an edit of the
// attribute. Objects are collected by a relationship instead.

extension Array: AttributeValue where Element: Codable {}

extension Array: CodableAttributeValue where Element: Codable {}

extension Array: EmptyAttributeValue where Element: Codable {
    /// The empty array.
    public static var emptyValue: [Element]? { [] }
}

extension Set: AttributeValue where Element: Codable {
    /// The value as a JSON list whose elements stand in the order of their bytes, so that equal sets
    /// are kept alike.
    public var storedValue: Value { codedValue.withElementsInOrder }
}

extension Set: CodableAttributeValue where Element: Codable {}

extension Set: EmptyAttributeValue where Element: Codable {
    /// The empty set.
    public static var emptyValue: Set<Element>? { [] }
}

/// A set, or an optional one.
protocol SetValue {}

extension Set: SetValue {}

extension Optional: SetValue where Wrapped: SetValue {}

extension Dictionary: AttributeValue where Key: Codable, Value: Codable {}

extension Dictionary: CodableAttributeValue
where Key: Codable, Value: Codable {}

extension Dictionary: EmptyAttributeValue
where Key: Codable, Value: Codable {
    /// The empty dictionary.
    public static var emptyValue: [Key: Value]? { [:] }
}
