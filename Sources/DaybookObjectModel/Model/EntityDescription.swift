/// The description of one entity in a model.
public struct EntityDescription: Sendable, Hashable {
    /// The name: a letter, then letters, digits and underscores.
    public var name: String
    /// The entity whose properties this one inherits; nil for none.
    public var superentityName: String?
    /// Whether there are only objects of its subentities.
    public var isAbstract: Bool
    /// The attributes declared here, not the inherited ones.
    public var attributes: [AttributeDescription]
    /// The relationships declared here, not the inherited ones.
    public var relationships: [RelationshipDescription]
    /// Attributes whose values together must be unique among all objects of the entity, those of
    /// subentities included: the names of attributes declared here or inherited, a list for each
    /// constraint. If one of the values is missing, the constraint does not apply.
    public var uniquenessConstraints: [[String]]
    /// Rules about how objects of the entity, and of its subentities, may change.
    public var laws: [LawDescription]
    /// The indexes over several properties, which serve the objects of subentities as well. Their properties are
    /// declared here or inherited.
    public var indexes: [IndexDescription]
    /// Whether a store keeps an index of what entries have changed: of every stored attribute and to-one relationship of
    /// the entity and of its subentities, in which entries which objects got another value. A relationship whose
    /// inverse is ordered is not in it.
    public var indexesChanges: Bool
    /// The earlier name, in a model that renames the entity: a store of the older model then keeps
    /// the objects. It only describes the migration and is not kept in a store.
    public var renamingIdentifier: String?
    /// Distinguishes two versions of a model that are otherwise the same.
    public var versionHashModifier: String?
    /// What the program keeps with the description. Daybook only stores it, except for
    /// ``displayPropertyKey``.
    public var userInfo: [String: String]

    /// The key in ``userInfo`` under which the name of an attribute stands by whose values people know the
    /// objects, for reports and the command: `"displayProperty"`. It holds for subentities without one of their
    /// own. Without it, that is the first text that is unique, else `name`, else `title`, else the first text;
    /// never a confidential one.
    public static let displayPropertyKey = "displayProperty"

    /// Describes an entity.
    ///
    /// - Parameters:
    ///   - name: A letter, then letters, digits and underscores.
    ///   - superentityName: The entity to inherit from.
    ///   - isAbstract: Whether only its subentities have objects.
    ///   - attributes: The attributes declared here.
    ///   - relationships: The relationships declared here.
    ///   - uniquenessConstraints: The names of attributes whose values together must be unique.
    ///   - indexes: The indexes over several properties.
    ///   - renamingIdentifier: The earlier name; nil for none.
    ///   - versionHashModifier: Distinguishes two versions that are otherwise the same.
    ///   - userInfo: What the program keeps with the description.
    ///   - laws: Rules about how its objects may change.
    ///   - indexesChanges: Whether there is an index of what entries have changed.
    public init(
        name: String, superentityName: String? = nil, isAbstract: Bool = false,
        attributes: [AttributeDescription] = [], relationships: [RelationshipDescription] = [],
        uniquenessConstraints: [[String]] = [], indexes: [IndexDescription] = [],
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
        userInfo: [String: String] = [:], laws: [LawDescription] = [],
        indexesChanges: Bool = false
    ) {
        self.name = name
        self.superentityName = superentityName
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.uniquenessConstraints = uniquenessConstraints
        self.indexes = indexes
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        self.laws = laws
        self.indexesChanges = indexesChanges
    }
}
