/// A model with the numbers that rows and entries use in place of names.
///
/// Every entry that sets a model sets one of these, made from the one before by
/// ``evolved(to:in:matching:)``. So a store has a sequence of versions.
///
/// Invariants:
/// - A number is given once. What is renamed keeps its number, and a removed number is not given
///   to anything else.
/// - The slots of an entity are only appended to. So the fields of an earlier version's row are
///   the first fields of this version's, and a program of an earlier version finds them in the same
///   places.
package struct ModelVersion: Sendable, Hashable {
    /// The model, in canonical order and without transient attributes.
    package let model: ManagedObjectModel
    /// The entities by number, including removed ones.
    package internal(set) var entities: [NumberedEntity]
    /// The numbers of the next entity, property and constraint.
    var next: NextNumbers
    /// The custom stages that led to the model, oldest first.
    package internal(set) var stages: [CustomStage] = []
    /// The relationships that were replaced by others, which took over their objects, by the number
    /// of the newer one.
    package internal(set) var origins: [PropertyNumber: PropertyNumber] = [:]

    /// The next numbers to give.
    struct NextNumbers: Sendable, Hashable {
        var entity: UInt32 = 1
        var property: UInt32 = 1
        var constraint = SchemaConstraint.compoundNumberMinimum
    }

    init(
        _ model: ManagedObjectModel, _ entities: [NumberedEntity], _ next: NextNumbers,
        stages: [CustomStage] = [], origins: [PropertyNumber: PropertyNumber] = [:]
    ) {
        self.model = model
        self.entities = entities
        self.next = next
        self.stages = stages
        self.origins = origins
    }

    /// The first version of a model: entities are numbered from 1 in the order of their names,
    /// properties in the order of (declaring entity, name).
    ///
    /// - Throws: ``ModelError`` when the model does not hold together.
    package init(first model: ManagedObjectModel) throws(ModelError) {
        try model.validate()
        self.init(firstValid: model)
    }

    init(firstValid model: ManagedObjectModel) {
        let nothing = ModelVersion(ManagedObjectModel(), [], NextNumbers())
        self =
            VersionBuilder(
                from: nothing, to: model.versioned, in: Self.firstEntry, matching: ModelMatching()
            ).version
    }

    /// The number of the entry that sets the first version.
    static let firstEntry: UInt64 = 1

    /// The numbers of an entity that has not been removed.
    package func entity(named name: String) -> NumberedEntity? {
        entities.first { !$0.isRemoved && $0.name == name }
    }

    /// The numbers of an entity, even of a removed one.
    package func entity(_ number: EntityNumber) -> NumberedEntity? {
        let index = Int(number.rawValue) - 1
        return entities.indices.contains(index) ? entities[index] : nil
    }
}

/// A closure of a program that rewrote objects along with the model. Nothing else records it, so
/// the version does.
package struct CustomStage: Sendable, Hashable {
    /// The entry that set the model and has the changes.
    package let entry: UInt64
    /// What the plan calls the stage.
    package let name: String
}

/// The numbers of one entity.
package struct NumberedEntity: Sendable, Hashable {
    /// The number of the entity.
    package let number: EntityNumber
    /// The name; the last one of an entity that was removed.
    package var name: String
    /// Whether the entity is no longer in the model. Its rows stay.
    package var isRemoved = false
    /// The numbers of the properties that the entity declares.
    package var properties: [String: PropertyNumber] = [:]
    /// The numbers of the constraints of several attributes that the entity declares, by their names.
    var constraints: [[String]: UInt32] = [:]
    /// The numbers of the indexes over several properties that the entity declares; they are constraint numbers.
    var indexes: [IndexDescription: UInt32] = [:]
    /// The fields of a row, in order, inherited and removed ones included.
    package var slots: [NumberedSlot] = []
    /// The to-many relationships whose members are stored in changes, in the order of their ages in
    /// a row, inherited and removed ones included.
    package var members: [NumberedMembers] = []
}

/// A field of the rows of an entity.
package struct NumberedSlot: Sendable, Hashable {
    /// The number of the property.
    package let property: PropertyNumber
    /// The entry from which new rows have the field.
    package let since: UInt64
    /// What older rows have in the field.
    package var fill: SlotFill = .value(.null)
    /// Nil while the property is in the model; otherwise what folding must know about it.
    package var removed: RemovedSlot?
}

/// What a row has in a field that is newer than the row.
package enum SlotFill: Sendable, Hashable {
    /// The same value in every row.
    case value(Value)
    /// The value of an earlier field, in another type.
    case converted(from: PropertyNumber, to: AttributeType)
}

/// What folding must know about a removed property, because rows and records stay.
package struct RemovedSlot: Sendable, Hashable {
    /// Whether the index has records.
    package var isIndexed: Bool
    /// Whether the index has records for objects without a value.
    package var indexHoldsNulls: Bool
    /// Whether the field is a reference.
    package var isReference: Bool

    init(isIndexed: Bool, indexHoldsNulls: Bool, isReference: Bool) {
        self.isIndexed = isIndexed
        self.indexHoldsNulls = indexHoldsNulls
        self.isReference = isReference
    }

    /// What remains of a property when it is removed.
    init(_ property: SchemaProperty?) {
        self.init(
            isIndexed: property?.isIndexed ?? false,
            indexHoldsNulls: property.map { $0.isIndexed && !$0.isUnique } ?? false,
            isReference: property?.relationship != nil)
    }
}

/// A to-many relationship whose members are stored in changes.
package struct NumberedMembers: Sendable, Hashable {
    /// The number of the relationship.
    package let property: PropertyNumber
    /// The entry from which new rows have its age.
    package let since: UInt64
}

extension ManagedObjectModel {
    /// The model as a version keeps it: canonical, without transient attributes, and without
    /// renaming identifiers, which only tell how a model came about.
    package var versioned: ManagedObjectModel {
        var copy = persistent.canonical
        for index in copy.entities.indices {
            copy.entities[index].renamingIdentifier = nil
            for attribute in copy.entities[index].attributes.indices {
                copy.entities[index].attributes[attribute].renamingIdentifier = nil
            }
            for relationship in copy.entities[index].relationships.indices {
                copy.entities[index].relationships[relationship].renamingIdentifier = nil
            }
        }
        return copy
    }
}
