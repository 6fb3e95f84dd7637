/// Where a relationship leads, worked out from both of its ends.
package struct RelationshipEnd: Sendable, Hashable {
    /// The entity at the other end.
    package var destination: EntityNumber
    /// The same relationship seen from there; nil for none.
    package var inverse: PropertyNumber?
    /// Whether this side stands in rows and changes; the other side is then found by index.
    package var isStored: Bool
    /// Whether one destination may have many owners.
    package var inverseIsToMany: Bool
}

/// A property as one entity has it.
package final class SchemaProperty: Sendable {
    /// What a property is.
    package enum Kind: Sendable {
        /// A value of the object itself.
        case attribute(AttributeDescription)
        /// A connection to other objects.
        case relationship(RelationshipDescription, RelationshipEnd)
    }

    /// The number, the same for every entity that inherits the property.
    package let number: PropertyNumber
    /// The name.
    package let name: String
    /// Attribute or relationship.
    package let kind: Kind
    /// The place of the value in the entity's rows, or nil for a side that has none (a to-many
    /// relationship, or a to-one that is derived from its inverse).
    package let slot: Int?
    // What is often asked is kept singly, because to look at one member of a description copies all of
    // it.

    /// The description, if this is an attribute.
    package let attribute: AttributeDescription?
    /// The description, if this is a relationship.
    package let relationship: RelationshipDescription?
    /// Where the relationship leads, if this is one.
    package let end: RelationshipEnd?
    /// Whether this is an attribute.
    package let isAttribute: Bool
    /// Whether the value is kept in the journal: everything but transient attributes.
    package let isPersistent: Bool
    /// Whether no two objects may have the value.
    package let isUnique: Bool
    /// Whether the index table has entries for this property.
    package let isIndexed: Bool
    /// What the model demands of a value, gathered so that checking one copies no description.
    let demand: ValueDemand
    /// How changes by two sides become one; nil where they collide.
    package let merge: MergeStrategy?
    /// Whether this is an attribute whose coded list is a set.
    let isSet: Bool

    init(number: PropertyNumber, name: String, kind: Kind, slot: Int?) {
        self.number = number
        self.name = name
        self.kind = kind
        self.slot = slot
        switch kind {
        case .attribute(let description):
            (attribute, relationship, end) = (description, nil, nil)
        case .relationship(let description, let destination):
            (attribute, relationship, end) = (nil, description, destination)
        }
        isAttribute = attribute != nil
        isPersistent = attribute?.isTransient != true
        isUnique = attribute?.isUnique == true
        isIndexed = isUnique || attribute?.isIndexed == true
        demand = ValueDemand(kind)
        merge = attribute?.merge
        isSet = attribute?.isSet == true
    }

    /// Whether values have to meet rules.
    package var hasRules: Bool { demand.hasRules }

    /// Whether this is a to-many relationship whose members stand in changes.
    package var isStoredToMany: Bool {
        relationship?.isToMany == true && end?.isStored == true
    }
}

/// Values that no two objects may have alike.
package struct SchemaConstraint: Sendable {
    /// What tells the constraint's index records from others: the property's number, or one from
    /// ``compoundNumberMinimum`` on for several properties together.
    package let number: PropertyNumber
    /// The properties whose values together are unique.
    package let properties: [SchemaProperty]

    /// The least number of a constraint of several properties.
    package static let compoundNumberMinimum: UInt32 = 1 << 31

    /// Whether the constraint has index records of its own, beside those of its properties.
    package var isCompound: Bool { number.rawValue >= Self.compoundNumberMinimum }
}

/// An entity ready for use: its properties, inherited ones included, and the layout of its rows.
package final class SchemaEntity: Sendable {
    /// The number.
    package let number: EntityNumber
    /// The name.
    package let name: String
    /// Whether there are only objects of its sub-entities.
    package let isAbstract: Bool
    /// The entity it inherits from.
    package let superentity: EntityNumber?
    /// This entity and all that inherit from it.
    package let family: [EntityNumber]
    /// All properties by number.
    package let properties: [SchemaProperty]
    /// The properties that have a slot, in slot order: the persistent ones first.
    package let slots: [SchemaProperty]
    /// How many slots a row has; the slots after them are transient.
    package let storedSlotCount: Int
    /// The to-many relationships whose members stand in changes.
    package let storedToMany: [SchemaProperty]
    /// The slots of stored to-one relationships.
    package let referenceSlots: [SchemaProperty]
    /// The slots with an index.
    package let indexedSlots: [SchemaProperty]
    /// The slots of attributes that merge.
    package let mergingSlots: [SchemaProperty]
    /// The relationships whose objects have to be counted.
    package let counted: [SchemaProperty]
    /// What must be unique: single attributes, then several together.
    package let constraints: [SchemaConstraint]
    /// The value of every slot in a new object.
    package let defaults: [Value]
    private let propertiesByName: [String: SchemaProperty]
    /// The least number of a property.
    private let firstNumber: UInt32
    /// By number, from the least one: a property's index in ``properties`` and its slot; -1 for none.
    private let places: [(index: Int32, slot: Int32)]

    init(
        number: EntityNumber, description: EntityDescription, superentity: EntityNumber?,
        family: [EntityNumber], properties: [(PropertyNumber, String, SchemaProperty.Kind)],
        constraints compound: [(PropertyNumber, names: [String])]
    ) {
        self.number = number
        name = description.name
        isAbstract = description.isAbstract
        self.superentity = superentity
        self.family = family
        let ordered = properties.sorted { $0.0 < $1.0 }
        let persistent = ordered.filter { $0.2.hasSlot && !$0.2.isTransient }
        let transient = ordered.filter { $0.2.hasSlot && $0.2.isTransient }
        var slotsByNumber: [PropertyNumber: Int] = [:]
        for (slot, property) in (persistent + transient).enumerated() {
            slotsByNumber[property.0] = slot
        }
        storedSlotCount = persistent.count
        self.properties = ordered.map {
            SchemaProperty(number: $0.0, name: $0.1, kind: $0.2, slot: slotsByNumber[$0.0])
        }
        let firstNumber = ordered.first?.0.rawValue ?? 0
        let lastNumber = ordered.last?.0.rawValue ?? 0
        var places = [(index: Int32, slot: Int32)](
            repeating: (-1, -1), count: Int(lastNumber - firstNumber) + 1)
        for (index, property) in self.properties.enumerated() {
            let place = Int(property.number.rawValue - firstNumber)
            places[place] = (Int32(index), Int32(property.slot ?? -1))
        }
        self.firstNumber = firstNumber
        self.places = places
        slots = self.properties.filter { $0.slot != nil }
            .sorted { ($0.slot ?? 0) < ($1.slot ?? 0) }
        storedToMany = self.properties.filter(\.isStoredToMany)
        referenceSlots = slots.filter { $0.relationship != nil }
        indexedSlots = slots.filter(\.isIndexed)
        mergingSlots = slots.filter { $0.merge != nil }
        counted = self.properties.filter(\.isCounted)
        defaults = slots.map { $0.attribute?.defaultValue ?? .null }
        let named = Dictionary(
            self.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        propertiesByName = named
        let single = indexedSlots.filter(\.isUnique).map {
            SchemaConstraint(number: $0.number, properties: [$0])
        }
        constraints =
            single
            + compound.map { number, names in
                SchemaConstraint(number: number, properties: names.compactMap { named[$0] })
            }
    }

    /// The property of that name.
    package func property(named name: String) -> SchemaProperty? {
        propertiesByName[name]
    }

    /// The property of that number.
    package func property(_ number: PropertyNumber) -> SchemaProperty? {
        guard let place = place(of: number), place.index >= 0 else { return nil }
        return properties[Int(place.index)]
    }

    /// The slot of the property of that number; nil when there is none.
    package func slot(of number: PropertyNumber) -> Int? {
        guard let place = place(of: number), place.slot >= 0 else { return nil }
        return Int(place.slot)
    }

    private func place(of number: PropertyNumber) -> (index: Int32, slot: Int32)? {
        guard number.rawValue >= firstNumber else { return nil }
        let place = Int(number.rawValue - firstNumber)
        return place < places.count ? places[place] : nil
    }

    /// Whether objects of this entity are objects of the other, too.
    package func isKind(of other: SchemaEntity) -> Bool {
        other.family.contains(number)
    }
}

extension SchemaProperty.Kind {
    fileprivate var hasSlot: Bool {
        switch self {
        case .attribute: true
        case .relationship(let description, let end): end.isStored && !description.isToMany
        }
    }

    fileprivate var isTransient: Bool {
        if case .attribute(let description) = self { description.isTransient } else { false }
    }
}
