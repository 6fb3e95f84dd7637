/// The effect of deleting an object on the objects at the other end of a relationship.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// They lose their reference to the deleted object.
    case nullify
    /// They are deleted, too.
    case cascade
    /// The delete is refused at save while there are any.
    case deny
    /// None: references may be left that lead nowhere.
    case noAction
}

/// The description of one relationship in a model, seen from one end.
public struct RelationshipDescription: Sendable, Hashable {
    /// The name: a letter, then letters, digits and underscores.
    public var name: String
    /// The entity at the other end.
    public var destinationName: String
    /// The same relationship, seen from the destination; nil for none.
    public var inverseName: String?
    /// Whether there may be many objects at the other end.
    public var isToMany: Bool
    /// Whether the objects of a to-many relationship have an order.
    public var isOrdered: Bool
    /// Whether there may be no object at the other end.
    public var isOptional: Bool
    /// What a delete does to the other end.
    public var deleteRule: DeleteRule
    /// The least number of objects in a to-many relationship that is not empty.
    public var minimumCount: Int
    /// The greatest number of objects in a to-many relationship; 0 for no limit.
    public var maximumCount: Int
    /// The earlier name, in a model that renames the relationship: a store of the older model then
    /// keeps the references. It only describes the migration and is not kept in a store.
    public var renamingIdentifier: String?
    /// Distinguishes two versions of a model that are otherwise the same.
    public var versionHashModifier: String?
    /// What the program keeps with the description; Daybook only stores it.
    public var userInfo: [String: String]

    /// Describes a relationship.
    ///
    /// - Parameters:
    ///   - name: A letter, then letters, digits and underscores.
    ///   - destinationName: The entity at the other end.
    ///   - inverseName: The same relationship seen from the destination.
    ///   - isToMany: Whether there may be many.
    ///   - isOrdered: Whether they have an order.
    ///   - isOptional: Whether there may be none.
    ///   - deleteRule: What a delete does to the other end.
    ///   - minimumCount: The least number in a to-many relationship that is not empty.
    ///   - maximumCount: The greatest number in a to-many relationship; 0 for no limit.
    ///   - renamingIdentifier: The earlier name; nil for none.
    ///   - versionHashModifier: Distinguishes two versions that are otherwise the same.
    ///   - userInfo: What the program keeps with the description.
    public init(
        name: String, destinationName: String, inverseName: String? = nil, isToMany: Bool = false,
        isOrdered: Bool = false, isOptional: Bool = true, deleteRule: DeleteRule = .nullify,
        minimumCount: Int = 0, maximumCount: Int = 0, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.destinationName = destinationName
        self.inverseName = inverseName
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.deleteRule = deleteRule
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
    }
}
