import DaybookObjectModel

func model(_ entities: EntityDescription...) -> ManagedObjectModel {
    ManagedObjectModel(entities: entities)
}

func entity(
    _ name: String, under parent: String? = nil, was earlier: String? = nil,
    abstract isAbstract: Bool = false, _ attributes: [AttributeDescription] = [],
    to relationships: [RelationshipDescription] = [], unique constraints: [[String]] = []
) -> EntityDescription {
    EntityDescription(
        name: name, superentityName: parent, isAbstract: isAbstract, attributes: attributes,
        relationships: relationships, uniquenessConstraints: constraints,
        renamingIdentifier: earlier)
}

func attribute(
    _ name: String, _ type: AttributeType = .string, was earlier: String? = nil,
    required: Bool = false, indexed: Bool = false, unique: Bool = false,
    default value: Value = .null, rules: AttributeRules = AttributeRules()
) -> AttributeDescription {
    AttributeDescription(
        name: name, type: type, isOptional: !required, isIndexed: indexed, isUnique: unique,
        defaultValue: value, rules: rules, renamingIdentifier: earlier)
}

func relationship(
    _ name: String, _ destination: String, was earlier: String? = nil, inverse: String? = nil,
    many: Bool = false, ordered: Bool = false, required: Bool = false, rule: DeleteRule = .nullify,
    counts: ClosedRange<Int> = 0...0
) -> RelationshipDescription {
    RelationshipDescription(
        name: name, destinationName: destination, inverseName: inverse, isToMany: many || ordered,
        isOrdered: ordered, isOptional: !required, deleteRule: rule,
        minimumCount: counts.lowerBound, maximumCount: counts.upperBound,
        renamingIdentifier: earlier)
}
