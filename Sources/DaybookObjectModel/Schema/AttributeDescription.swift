/// What a model says of one attribute.
public struct AttributeDescription: Sendable, Hashable {
    /// The name: a letter, then letters, digits and underscores.
    public var name: String
    /// The kind of value.
    public var type: AttributeType
    /// Whether the attribute may be without a value.
    public var isOptional: Bool
    /// Whether the attribute lives in memory only: covered by undo, never in the journal.
    public var isTransient: Bool
    /// Whether the store keeps an index for finding and sorting by this attribute.
    public var isIndexed: Bool
    /// Whether no two objects may have the same value (any number may have none).
    public var isUnique: Bool
    /// Whether exports leave the values out, or give hashes in their place, unless told otherwise.
    public var isConfidential: Bool
    /// The value a new object starts with; null for none.
    public var defaultValue: Value
    /// What values must be like, besides their type.
    public var rules: AttributeRules
    /// How changes by two sides become one; nil where they collide.
    public var merge: MergeStrategy?
    /// Whether a coded list has no order and no element twice: the attribute is a `Set`. Then
    /// ``MergeStrategy/union`` puts the elements in the order in which sets are kept.
    public var isSet: Bool

    /// Describes an attribute.
    ///
    /// - Parameters:
    ///   - name: A letter, then letters, digits and underscores.
    ///   - type: The kind of value.
    ///   - isOptional: Whether there may be no value.
    ///   - isTransient: Whether the attribute lives in memory only.
    ///   - isIndexed: Whether to keep an index.
    ///   - isUnique: Whether no two objects may have the same value.
    ///   - isConfidential: Whether exports keep the values back.
    ///   - defaultValue: What a new object starts with.
    ///   - rules: What values must be like, besides their type.
    ///   - merge: How changes by two sides become one; nil where they collide.
    ///   - isSet: Whether a coded list has no order and no element twice.
    public init(
        name: String, type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
        isIndexed: Bool = false, isUnique: Bool = false, isConfidential: Bool = false,
        defaultValue: Value = .null, rules: AttributeRules = AttributeRules(),
        merge: MergeStrategy? = nil, isSet: Bool = false
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.isIndexed = isIndexed
        self.isUnique = isUnique
        self.isConfidential = isConfidential
        self.defaultValue = defaultValue
        self.rules = rules
        self.merge = merge
        self.isSet = isSet
    }
}
