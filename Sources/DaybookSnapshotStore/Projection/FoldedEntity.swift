internal import DaybookObjectModel

/// What folding asks of an entity, side by side, so that no description is touched for each change.
final class FoldedEntity: Sendable {
    /// A property that has a slot.
    struct Property: Sendable {
        let number: PropertyNumber
        let slot: Int
        let isIndexed: Bool
        let indexHoldsNulls: Bool
        let isReference: Bool

        /// Whether the index has a record for an object with a value in this place.
        func indexHolds(_ field: EncodedField) -> Bool {
            !field.isEmpty || indexHoldsNulls
        }
    }

    let number: EntityNumber
    /// In the order of the numbers.
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

    /// The property of that number, if it has a slot.
    func property(_ number: PropertyNumber) -> Property? {
        // Numbers mostly follow each other.
        if let first = properties.first, number >= first.number {
            let place = Int(number.rawValue - first.number.rawValue)
            if place < properties.count, properties[place].number == number {
                return properties[place]
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
    /// Whether the index, if there is one, has records for objects without a value. A unique one
    /// has none, because any number of objects may be without.
    var indexHoldsNulls: Bool { !isUnique }
}
