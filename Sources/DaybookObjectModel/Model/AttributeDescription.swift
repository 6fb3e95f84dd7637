/// The description of one attribute in a model.
public struct AttributeDescription: Sendable, Hashable {
    /// The name: a letter, then letters, digits and underscores.
    public var name: String
    /// The kind of value.
    public var type: AttributeType
    /// Whether the attribute may be without a value.
    public var isOptional: Bool
    /// Whether the attribute exists in memory only: covered by undo, never in the journal.
    public var isTransient: Bool
    /// Whether the store keeps an index for finding and sorting by this attribute.
    public var isIndexed: Bool
    /// Whether no two objects may have the same value (any number may have no value).
    public var isUnique: Bool
    /// Whether exports leave the values out, or replace them by hashes, unless told otherwise.
    public var isConfidential: Bool
    /// The value a new object starts with; null for none.
    public var defaultValue: Value
    /// The rules for values, besides their type.
    public var rules: AttributeRules
    /// The way in which changes of two sides become one; nil if they collide.
    public var merge: MergeStrategy?
    /// Whether a coded list has no order and no element twice: the attribute is a `Set`. Then
    /// ``MergeStrategy/union`` puts the elements in the order in which sets are kept.
    public var isSet: Bool
    /// Where the values come from, if the store computes them; nil if programs set them.
    public var derivation: Derivation?
    /// The earlier name, in a model that renames the attribute: a store of the older model then
    /// keeps the values. It only describes the migration and is not kept in a store.
    public var renamingIdentifier: String?
    /// Distinguishes two versions of a model that are otherwise the same.
    public var versionHashModifier: String?
    /// What the program keeps with the description; Daybook only stores it.
    public var userInfo: [String: String]

    /// Describes an attribute.
    ///
    /// - Parameters:
    ///   - name: A letter, then letters, digits and underscores.
    ///   - type: The kind of value.
    ///   - isOptional: Whether there may be no value.
    ///   - isTransient: Whether the attribute exists in memory only.
    ///   - isIndexed: Whether to keep an index.
    ///   - isUnique: Whether no two objects may have the same value.
    ///   - isConfidential: Whether exports leave the values out.
    ///   - defaultValue: The value of a new object.
    ///   - rules: The rules for values, besides their type.
    ///   - merge: The way in which changes of two sides become one; nil if they collide.
    ///   - isSet: Whether a coded list has no order and holds no element twice.
    ///   - derivation: Where the values come from; nil if programs set them.
    ///   - renamingIdentifier: The earlier name; nil for none.
    ///   - versionHashModifier: Distinguishes two versions that are otherwise the same.
    ///   - userInfo: What the program keeps with the description.
    public init(
        name: String, type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
        isIndexed: Bool = false, isUnique: Bool = false, isConfidential: Bool = false,
        defaultValue: Value = .null, rules: AttributeRules = AttributeRules(),
        merge: MergeStrategy? = nil, isSet: Bool = false, derivation: Derivation? = nil,
        renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:]
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
        self.derivation = derivation
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
    }
}
