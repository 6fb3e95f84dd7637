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

        /// Whether the index has a record for an object with this field.
        func indexHolds(_ field: EncodedField) -> Bool {
            !field.isEmpty || indexHoldsNulls
        }
    }

    let number: EntityNumber
    /// The properties that have a slot, by number.
    let properties: [Property]
    let indexed: [Property]
    let references: [Property]
    /// The constraints that have index records of their own.
    let compounds: [SchemaConstraint]
    /// The to-many relationships whose members stand in changes.
    let storedToMany: [PropertyNumber]

    init(_ entity: SchemaEntity) {
        number = entity.number
        properties = entity.properties.compactMap(Property.init)
        indexed = entity.indexedSlots.compactMap(Property.init)
        references = entity.referenceSlots.compactMap(Property.init)
        compounds = entity.constraints.filter(\.isCompound)
        storedToMany = entity.storedToMany.map(\.number)
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
        return properties.first { $0.number == number }
    }
}

extension FoldedEntity.Property {
    fileprivate init?(_ property: SchemaProperty) {
        guard let slot = property.slot else { return nil }
        self.init(
            number: property.number, slot: slot, isIndexed: property.isIndexed,
            indexHoldsNulls: property.indexHoldsNulls, isReference: property.relationship != nil)
    }
}

extension SchemaProperty {
    /// Whether the index, if there is one, has records for objects without a value. A unique index
    /// has none, because any number of objects may lack the value.
    var indexHoldsNulls: Bool { !isUnique }
}
