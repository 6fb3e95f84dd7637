public import DaybookObjectModel

// A collection of `Codable` values is kept as one JSON value: an edit of one element is an edit of the
// attribute. For collections of objects there are relationships.

extension Array: AttributeValue where Element: Codable {}

extension Array: CodableAttributeValue where Element: Codable {}

extension Array: EmptyAttributeValue where Element: Codable {
    /// The empty array.
    public static var emptyValue: [Element]? { [] }
}

extension Set: AttributeValue where Element: Codable {
    /// The value as a JSON list with its elements sorted by their bytes, so that equal sets are stored
    /// alike.
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
