// Collections of `Codable` values are kept as JSON, whole: an edit of one element is an edit of the
// attribute. Objects are collected by a relationship instead.

extension Array: AttributeValue where Element: Codable {}

extension Array: CodableAttributeValue where Element: Codable {}

extension Array: EmptyAttributeValue where Element: Codable {
    /// The empty array.
    public static var emptyValue: [Element]? { [] }
}

extension Dictionary: AttributeValue where Key: Codable, Value: Codable {}

extension Dictionary: CodableAttributeValue
where Key: Codable, Value: Codable {}

extension Dictionary: EmptyAttributeValue
where Key: Codable, Value: Codable {
    /// The empty dictionary.
    public static var emptyValue: [Key: Value]? { [:] }
}
