/// One step from a version of a model to the next.
///
/// Steps are read off two versions; a store keeps the versions. As everything has a number that stays,
/// what was renamed, removed or converted is known and not guessed.
public struct ModelStep: Sendable, Hashable, CustomStringConvertible {
    /// What a step does.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An entity is new.
        case addEntity
        /// An entity is gone; its objects stay in the journal and come back when this is undone.
        case removeEntity
        /// An entity has another name.
        case renameEntity
        /// An entity has another superentity, or none.
        case changeSuperentity
        /// An entity becomes abstract, or concrete again.
        case changeAbstract
        /// A property is new.
        case addProperty
        /// A property is gone; its values stay in the journal and come back when this is undone.
        case removeProperty
        /// A property is declared by another entity, its superentity or below; values go along.
        case moveProperty
        /// A property has another name.
        case renameProperty
        /// An attribute has another type, to which its values are converted.
        case convert
        /// An attribute has another type with values of the same kind.
        case changeType
        /// There may be no value, or no object at the other end.
        case makeOptional
        /// There must be a value, or an object at the other end.
        case makeRequired
        /// New objects start with another value.
        case changeDefault
        /// Other values are allowed.
        case changeRules
        /// An index is built.
        case addIndex
        /// An index is dropped.
        case dropIndex
        /// Values must be unique.
        case addUnique
        /// Values need not be unique any more.
        case dropUnique
        /// Several values together must be unique.
        case addConstraint
        /// Several values together need not be unique any more.
        case dropConstraint
        /// Exports treat values in another way.
        case changeConfidential
        /// Changes of two sides become one in another way.
        case changeMerge
        /// A relationship becomes to-one or to-many, ordered or unordered.
        case changeCardinality
        /// The values of a derived attribute come from something else.
        case changeDerivation
        /// A relationship leads to another entity.
        case changeDestination
        /// A relationship has another inverse.
        case changeInverse
        /// A delete has another effect on the other end.
        case changeDeleteRule
        /// There must be more or fewer objects at the other end.
        case changeCounts
        /// Something is changed that means nothing to a store.
        case annotate
        /// A custom stage of a migration plan has rewritten objects.
        case customStage
    }

    /// What the step does.
    public let kind: Kind
    /// The name of the entity in the newer version; of one that is gone, in the older one; empty for a step
    /// of the whole model.
    public let entity: String
    /// The name of the property, likewise; nil for a step of an entity.
    public let property: String?
    /// The step in a few words, with what was and what is.
    public let description: String
    /// Whether programs of the older version go on reading and writing.
    public let isCompatible: Bool
    /// What the stored objects have to be looked through for.
    package let check: Check?

    /// What stored objects have to meet for a step to be taken.
    package enum Check: Sendable, Hashable {
        /// Values that fit the newer model.
        case values(EntityNumber, PropertyNumber)
        /// Values that are unique.
        case unique(EntityNumber, PropertyNumber)
        /// No object at the other end that two of the entity lead to.
        case exclusive(EntityNumber, PropertyNumber)
        /// As many objects at the other end as the newer model wants.
        case counts(EntityNumber, PropertyNumber)
        /// No objects of the entity itself.
        case noObjects(EntityNumber)
        /// Nothing but what has to be brought over.
        case content(ContentMove)
        /// No references to objects of the entity, or below it, over relationships that do not lead there
        /// any more.
        case noReferences(EntityNumber)
    }

    /// The objects of a relationship that are to be those of another, or of its other end.
    package struct ContentMove: Sendable, Hashable {
        /// The entity that declares the relationship before.
        package let entity: EntityNumber
        /// The relationship before, stored at whatever end.
        package let origin: PropertyNumber
        /// The relationship after, at the end that is stored.
        package let target: PropertyNumber
        /// Whether that is the other end.
        package let isInverted: Bool
    }

    init(
        _ kind: Kind, _ entity: String, _ property: String? = nil, _ description: String,
        isCompatible: Bool, check: Check? = nil
    ) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.description = description
        self.isCompatible = isCompatible
        self.check = check
    }
}
