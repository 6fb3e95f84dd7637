/// The other end of a relationship, derived from both descriptions.
package struct RelationshipEnd: Sendable, Hashable {
    /// The entity at the other end.
    package var destination: EntityNumber
    /// The same relationship seen from there; nil for none.
    package var inverse: PropertyNumber?
    /// Whether this side is stored in rows and changes; the other side is then found by index.
    package var isStored: Bool
    /// Whether one destination may have many owners.
    package var inverseIsToMany: Bool
}

/// A property of one entity.
package final class SchemaProperty: Sendable {
    /// The kinds of properties.
    package enum Kind: Sendable {
        /// A value of the object itself.
        case attribute(AttributeDescription)
        /// A connection to other objects.
        case relationship(RelationshipDescription, RelationshipEnd)
        /// A removed property. Rows still have the field, but it is not shown.
        case removed
    }

    /// The number, the same for every entity that inherits the property.
    package let number: PropertyNumber
    /// The name.
    package let name: String
    /// Attribute or relationship.
    package let kind: Kind
    /// The position of the value in the entity's rows, or nil for a side that has none (a to-many
    /// relationship, or a to-one that is derived from its inverse).
    package let slot: Int?
    // What is often needed is kept separately, because reading one member of a description copies
    // all of it.

    /// The description, if this is an attribute.
    package let attribute: AttributeDescription?
    /// The description, if this is a relationship.
    package let relationship: RelationshipDescription?
    /// Where the relationship leads, if this is one.
    package let end: RelationshipEnd?
    /// Whether this is an attribute.
    package let isAttribute: Bool
    /// Whether this only keeps the place of a removed property. Such properties are in
    /// ``SchemaEntity/slots`` and nowhere else.
    package var isRemoved: Bool {
        if case .removed = kind { true } else { false }
    }
    /// Whether the value is kept in the journal: everything but transient attributes.
    package let isPersistent: Bool
    /// Whether no two objects may have the value.
    package let isUnique: Bool
    /// Whether the index table has entries for this property.
    package let isIndexed: Bool
    /// The model's demands on a value, gathered so that a check copies no description.
    let demand: ValueDemand
    /// The way in which changes of two sides become one; nil if they collide.
    package let merge: MergeStrategy?
    /// Whether this is an attribute whose coded list is a set.
    let isSet: Bool
    /// Whether this is an attribute whose values the store works out.
    package let isDerived: Bool
    /// The attribute with an index, of its own or with others, that has this one's texts without case and
    /// diacritics.
    package let foldedIndex: SchemaProperty?
    /// Whether a store keeps an index of the entries that have changed it, in objects of this entity.
    package let hasIndexedChanges: Bool

    init(
        number: PropertyNumber, name: String, kind: Kind, slot: Int?,
        foldedIndex: SchemaProperty? = nil, indexesChanges: Bool = false
    ) {
        hasIndexedChanges = indexesChanges && slot != nil && kind.isKept
        self.foldedIndex = foldedIndex
        self.number = number
        self.name = name
        self.kind = kind
        self.slot = slot
        switch kind {
        case .attribute(let description):
            (attribute, relationship, end) = (description, nil, nil)
        case .relationship(let description, let destination):
            (attribute, relationship, end) = (nil, description, destination)
        case .removed:
            (attribute, relationship, end) = (nil, nil, nil)
        }
        isAttribute = attribute != nil
        isPersistent = attribute?.isTransient != true
        isUnique = attribute?.isUnique == true
        isIndexed = isUnique || attribute?.isIndexed == true
        demand = ValueDemand(kind)
        merge = attribute?.merge
        isSet = attribute?.isSet == true
        isDerived = attribute?.derivation != nil
    }

    /// Whether values have to meet rules.
    package var hasRules: Bool { demand.hasRules }

    /// Whether this is a to-many relationship whose members are in changes.
    package var isStoredToMany: Bool {
        relationship?.isToMany == true && end?.isStored == true
    }
}

/// Properties whose values must be unique.
package struct SchemaConstraint: Sendable {
    /// The number of the constraint in index records: the property's number, or one from
    /// ``compoundNumberMinimum`` on for several properties together.
    package let number: PropertyNumber
    /// The properties whose values together are unique.
    package let properties: [SchemaProperty]

    /// The least number of a constraint of several properties.
    package static let compoundNumberMinimum: UInt32 = 1 << 31

    /// Whether the constraint has its own index records, beside those of its properties.
    package var isCompound: Bool { number.rawValue >= Self.compoundNumberMinimum }
}

/// A compiled entity: its properties, inherited ones included, and the layout of its rows.
package final class SchemaEntity: Sendable {
    /// The number.
    package let number: EntityNumber
    /// The name.
    package let name: String
    /// Whether there are only objects of its subentities.
    package let isAbstract: Bool
    /// The entity it inherits from.
    package let superentity: EntityNumber?
    /// This entity and all that inherit from it.
    package let family: [EntityNumber]
    /// All properties by number.
    package let properties: [SchemaProperty]
    /// The properties that have a slot, in slot order: the persistent ones first. The slots of
    /// properties that were removed are among them.
    package let slots: [SchemaProperty]
    /// The slots of properties that were removed.
    package let removedSlots: [Int]
    /// What a row has in each stored slot that is newer than the row.
    package let fills: [SlotFill]
    /// The numbers of the entity: where its layout comes from.
    package let numbers: NumberedEntity
    /// The number of slots of a row; the slots after them are transient.
    package let storedSlotCount: Int
    /// The to-many relationships whose members are in changes.
    package let storedToMany: [SchemaProperty]
    /// The slots of stored to-one relationships.
    package let referenceSlots: [SchemaProperty]
    /// The slots with an index.
    package let indexedSlots: [SchemaProperty]
    /// The slots of attributes that merge.
    package let mergingSlots: [SchemaProperty]
    /// The slots of attributes whose values the store works out.
    package let derivedSlots: [SchemaProperty]
    /// The relationships whose objects must be counted.
    package let counted: [SchemaProperty]
    /// The uniqueness constraints: single attributes, then several together.
    package let constraints: [SchemaConstraint]
    /// The indexes over several properties.
    package let indexes: [SchemaIndex]
    /// The value of every slot in a new object.
    package let defaults: [Value]
    /// Whether a store keeps an index of what entries have changed of its objects.
    package let indexesChanges: Bool
    /// The attribute by whose values people know the objects; nil where there is none. See
    /// ``EntityDescription/displayPropertyKey``.
    package let displayProperty: SchemaProperty?
    /// The names of the composite attributes, those in others and inherited ones included.
    package let compositeNames: Set<String>
    private let propertiesByName: [String: SchemaProperty]
    /// The least number of a persistent property.
    private let firstNumber: UInt32
    /// By number, from the least one: a property's index in ``properties`` and its slot; -1 for none.
    private let positions: [(index: Int32, slot: Int32)]
    /// The same for transient attributes, from the least number of one.
    private let transientPositions: [(index: Int32, slot: Int32)]

    init(
        numbers: NumberedEntity, description: EntityDescription, superentity: EntityNumber?,
        family: [EntityNumber], properties: [(PropertyNumber, String, SchemaProperty.Kind)],
        constraints compound: [(PropertyNumber, names: [String])],
        indexes: [(PropertyNumber, IndexDescription)], indexesChanges: Bool, displayName: String?
    ) {
        self.numbers = numbers
        self.indexesChanges = indexesChanges
        number = numbers.number
        name = description.name
        isAbstract = description.isAbstract
        self.superentity = superentity
        self.family = family
        let ordered = properties.sorted { $0.0 < $1.0 }
        var slotsByNumber: [PropertyNumber: Int] = [:]
        for (slot, stored) in numbers.slots.enumerated() { slotsByNumber[stored.property] = slot }
        storedSlotCount = numbers.slots.count
        for property in ordered where property.2.isTransient {
            slotsByNumber[property.0] = slotsByNumber.count
        }
        let indexed = Set(indexes.flatMap { $0.1.elements.map(\.propertyName) })
        self.properties = Self.properties(
            ordered, slotsByNumber, indexed: indexed, indexesChanges)
        let transient = ordered.firstIndex { $0.2.isTransient } ?? ordered.count
        (firstNumber, positions) = Self.positions(of: self.properties[..<transient])
        transientPositions = Self.positions(
            of: self.properties[transient...], from: Schema.transientNumberMinimum)
        let removed = numbers.slots.indices.filter { numbers.slots[$0].removed != nil }
        removedSlots = removed
        fills = numbers.slots.map(\.fill)
        let kept = removed.map {
            SchemaProperty(
                number: numbers.slots[$0].property, name: "", kind: .removed, slot: $0)
        }
        slots = (self.properties.filter { $0.slot != nil } + kept)
            .sorted { ($0.slot ?? 0) < ($1.slot ?? 0) }
        storedToMany = self.properties.filter(\.isStoredToMany)
        referenceSlots = slots.filter { $0.relationship != nil }
        indexedSlots = slots.filter(\.isIndexed)
        mergingSlots = slots.filter { $0.merge != nil }
        derivedSlots = slots.filter(\.isDerived)
        counted = self.properties.filter(\.isCounted)
        defaults = slots.map { $0.attribute?.defaultValue ?? .null }
        let named = Dictionary(
            self.properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        propertiesByName = named
        displayProperty =
            displayName.flatMap { named[$0] } ?? Self.displayProperty(of: self.properties)
        compositeNames = Set(self.properties.flatMap(\.name.compositeNames))
        self.indexes = indexes.map { number, index in
            SchemaIndex(
                number: number,
                index.elements.compactMap { element in
                    named[element.propertyName].map {
                        SchemaIndex.Element(property: $0, isAscending: element.isAscending)
                    }
                })
        }
        let single = indexedSlots.filter(\.isUnique).map {
            SchemaConstraint(number: $0.number, properties: [$0])
        }
        constraints =
            single
            + compound.map { number, names in
                // Not by name: the index has the values in this order, and a name may change.
                SchemaConstraint(
                    number: number,
                    properties: names.compactMap { named[$0] }.sorted { $0.number < $1.number })
            }
    }

    /// Makes the properties; those that index the texts of others come first.
    private static func properties(
        _ ordered: [(PropertyNumber, String, SchemaProperty.Kind)], _ slots: [PropertyNumber: Int],
        indexed: Set<String>, _ indexesChanges: Bool
    ) -> [SchemaProperty] {
        var indexes: [String: SchemaProperty] = [:]
        for (number, name, kind) in ordered {
            guard let source = kind.foldedSource(indexed: indexed.contains(name)),
                indexes[source] == nil
            else { continue }
            indexes[source] = SchemaProperty(
                number: number, name: name, kind: kind, slot: slots[number],
                indexesChanges: indexesChanges)
        }
        return ordered.map { number, name, kind in
            if let index = indexes.values.first(where: { $0.number == number }) { return index }
            return SchemaProperty(
                number: number, name: name, kind: kind, slot: slots[number],
                foldedIndex: indexes[name], indexesChanges: indexesChanges)
        }
    }

    /// The text by which people know objects if the model does not say: one that is unique, else `name`, else
    /// `title`, else the first. Never a confidential one.
    private static func displayProperty(of properties: [SchemaProperty]) -> SchemaProperty? {
        let texts = properties.filter {
            $0.attribute?.type == .string && $0.isPersistent && !$0.isDerived
                && $0.attribute?.isConfidential != true
        }
        return texts.first(where: \.isUnique) ?? texts.first { $0.name == "name" }
            ?? texts.first { $0.name == "title" } ?? texts.first
    }

    /// A placeholder for an entity of which only the number is known.
    package convenience init(unknown number: EntityNumber) {
        let name = "?\(number.rawValue)"
        self.init(
            numbers: NumberedEntity(number: number, name: name),
            description: EntityDescription(name: name), superentity: nil, family: [number],
            properties: [], constraints: [], indexes: [], indexesChanges: false, displayName: nil)
    }

    /// The property of that name.
    package func property(named name: String) -> SchemaProperty? {
        propertiesByName[name]
    }

    /// The property of that number.
    package func property(_ number: PropertyNumber) -> SchemaProperty? {
        guard let position = position(of: number), position.index >= 0 else { return nil }
        return properties[Int(position.index)]
    }

    /// The slot of the property of that number; nil when there is none.
    package func slot(of number: PropertyNumber) -> Int? {
        guard let position = position(of: number), position.slot >= 0 else { return nil }
        return Int(position.slot)
    }

    private func position(of number: PropertyNumber) -> (index: Int32, slot: Int32)? {
        guard number.rawValue >= firstNumber else { return nil }
        let position = Int(number.rawValue - firstNumber)
        if position < positions.count { return positions[position] }
        guard number.rawValue >= Schema.transientNumberMinimum else { return nil }
        let rest = Int(number.rawValue - Schema.transientNumberMinimum)
        return rest < transientPositions.count ? transientPositions[rest] : nil
    }

    private static func positions(
        of properties: ArraySlice<SchemaProperty>
    ) -> (UInt32, [(index: Int32, slot: Int32)]) {
        let first = properties.first?.number.rawValue ?? 0
        return (first, positions(of: properties, from: first))
    }

    private static func positions(
        of properties: ArraySlice<SchemaProperty>, from first: UInt32
    ) -> [(index: Int32, slot: Int32)] {
        guard let last = properties.last?.number.rawValue else { return [] }
        var positions = [(index: Int32, slot: Int32)](
            repeating: (-1, -1), count: Int(last - first) + 1)
        for (index, property) in zip(properties.indices, properties) {
            let position = Int(property.number.rawValue - first)
            positions[position] = (Int32(index), Int32(property.slot ?? -1))
        }
        return positions
    }

    /// Whether objects of this entity are also objects of the other.
    package func isKind(of other: SchemaEntity) -> Bool {
        other.family.contains(number)
    }
}

extension SchemaProperty.Kind {
    /// Whether an object has the value in its row, or beside it.
    var hasSlot: Bool {
        switch self {
        case .attribute, .removed: true
        case .relationship(let description, let end): end.isStored && !description.isToMany
        }
    }

    /// The attribute whose texts this one indexes without case and diacritics.
    ///
    /// - Parameter isIndexed: Whether it is one of several properties of an index.
    /// - Returns: The name; nil where this is no such index.
    fileprivate func foldedSource(indexed isIndexed: Bool) -> String? {
        guard case .attribute(let description) = self, isIndexed || description.isIndexed,
            case .text(.canonical, let source)? = description.derivation
        else { return nil }
        return source
    }

    /// Whether it is in the model and in a store.
    fileprivate var isKept: Bool {
        switch self {
        case .attribute(let description): !description.isTransient
        case .relationship: true
        case .removed: false
        }
    }

    var isTransient: Bool {
        if case .attribute(let description) = self { description.isTransient } else { false }
    }
}
