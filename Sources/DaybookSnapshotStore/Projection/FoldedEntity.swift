internal import DaybookObjectModel

/// What folding needs of an entity, in one object, so that it need not go through the schema for
/// each change.
final class FoldedEntity: Sendable {
    /// A property that has a slot.
    struct Property: Sendable {
        let number: PropertyNumber
        let slot: Int
        let isIndexed: Bool
        let indexHoldsNulls: Bool
        let isReference: Bool
        /// Whether the property was removed: rows keep it, and entries do not have it.
        let isRemoved: Bool

        /// Whether the index has a record for an object with this field.
        func indexHolds(_ field: EncodedField) -> Bool {
            !field.isEmpty || indexHoldsNulls
        }
    }

    let number: EntityNumber
    /// The properties that have a slot, by slot, those that were removed included.
    let properties: [Property]
    /// Those that were removed from the model.
    let removed: [Property]
    let indexed: [Property]
    let references: [Property]
    /// The constraints that have index records of their own.
    let compounds: [SchemaConstraint]
    /// The indexes over several properties.
    let indexes: [FoldedIndex]
    /// The to-many relationships whose members stand in changes, in the order of their ages, those that
    /// were removed included.
    let storedToMany: [PropertyNumber]
    /// Those of them that were removed, in order.
    let removedLists: [PropertyNumber]
    /// Whether the index has what entries change.
    let indexesChanges: Bool
    /// Brings rows into the layout of the entity.
    let layout: EntityLayout
    /// The slot of each property, by number.
    private let slots: [PropertyNumber: Int]

    init(_ entity: SchemaEntity) {
        number = entity.number
        properties = zip(entity.slots, entity.numbers.slots).map(Property.init)
        removed = properties.filter(\.isRemoved)
        indexed = properties.filter(\.isIndexed)
        references = properties.filter(\.isReference)
        compounds = entity.constraints.filter(\.isCompound)
        indexes = entity.indexes.map(FoldedIndex.init)
        storedToMany = entity.numbers.members.map(\.property)
        removedLists = Set(storedToMany).subtracting(entity.storedToMany.map(\.number)).sorted()
        indexesChanges = entity.indexesChanges
        layout = EntityLayout(entity)
        slots = Dictionary(
            properties.map { ($0.number, $0.slot) }, uniquingKeysWith: { first, _ in first })
    }

    /// The property with that number, if it has a slot.
    func property(_ number: PropertyNumber) -> Property? {
        // Numbers are mostly consecutive.
        if let first = properties.first, number >= first.number {
            let index = Int(number.rawValue - first.number.rawValue)
            if index < properties.count, properties[index].number == number {
                return properties[index]
            }
        }
        return slots[number].map { properties[$0] }
    }
}

/// What folding needs of an index over several properties.
struct FoldedIndex: Sendable {
    /// One property of the index.
    struct Element: Sendable {
        let slot: Int
        let isAscending: Bool
    }

    let number: PropertyNumber
    let elements: [Element]

    init(_ index: SchemaIndex) {
        number = index.number
        // Each has one: a model with an index of anything else is not valid.
        elements = index.elements.map {
            Element(slot: $0.property.slot ?? 0, isAscending: $0.isAscending)
        }
    }

    /// How many fields a row must have to have all of the index.
    var slotCount: Int { elements.reduce(0) { max($0, $1.slot + 1) } }

    func contains(_ slot: Int) -> Bool { elements.contains { $0.slot == slot } }
}

extension FoldedEntity.Property {
    fileprivate init(_ property: SchemaProperty, _ numbers: NumberedSlot) {
        let removed = numbers.removed
        self.init(
            number: property.number, slot: property.slot ?? 0,
            isIndexed: removed?.isIndexed ?? property.isIndexed,
            indexHoldsNulls: removed?.indexHoldsNulls ?? property.indexHoldsNulls,
            isReference: removed?.isReference ?? (property.relationship != nil),
            isRemoved: removed != nil)
    }
}

extension SchemaProperty {
    /// Whether the index, if there is one, has records for objects without a value. A unique index
    /// has none, because any number of objects may lack the value.
    var indexHoldsNulls: Bool { !isUnique }
}
