/// One step from a version of a model to the next.
///
/// Steps are derived by comparing two versions; a store keeps the versions. Because numbers never
/// change, what was renamed, removed or converted is known and not guessed.
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
        /// A property has moved to a superentity or a subentity, and its values are kept.
        case moveProperty
        /// A property has another name.
        case renameProperty
        /// An attribute has another type, to which its values are converted.
        case convert
        /// An attribute has another type with values of the same kind.
        case changeType
        /// A value, or an object at the other end, is no longer required.
        case makeOptional
        /// A value, or an object at the other end, is required.
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
        /// Changes of two sides are merged in another way.
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
        /// Entries must say who saves, why, or other information; or need not any more.
        case changeRequirements
        /// Objects may change in other ways.
        case changeLaws
        /// Something changes that has no effect on a store.
        case annotate
        /// A custom stage of a migration plan has rewritten objects.
        case customStage
    }

    /// What the step does.
    public let kind: Kind
    /// The name of the entity in the newer version, or in the older one if it was removed; empty
    /// for a step of the whole model.
    public let entity: String
    /// The name of the property, likewise; nil for a step of an entity.
    public let property: String?
    /// The step in a few words, with the old and the new.
    public let description: String
    /// Whether programs with the older version can still read and write.
    public let isCompatible: Bool
    /// What the stored objects must be checked for; nil for nothing.
    package let check: Check?

    /// What stored objects must meet for a step to be taken.
    package enum Check: Sendable, Hashable {
        /// Values that fit the newer model.
        case values(EntityNumber, PropertyNumber)
        /// Values that are unique.
        case unique(EntityNumber, PropertyNumber)
        /// No object at the other end that two objects of the entity refer to.
        case exclusive(EntityNumber, PropertyNumber)
        /// As many objects at the other end as the newer model requires.
        case counts(EntityNumber, PropertyNumber)
        /// No objects of the entity itself.
        case noObjects(EntityNumber)
        /// No condition, but objects that must move to another relationship.
        case content(ContentMove)
        /// No references to objects of the entity or its subentities through relationships that no
        /// longer lead there.
        case noReferences(EntityNumber)
    }

    /// Objects of a relationship that move to another one, or to its other end.
    package struct ContentMove: Sendable, Hashable {
        /// The entity that declares the old relationship.
        package let entity: EntityNumber
        /// The old relationship, stored at either end.
        package let origin: PropertyNumber
        /// The stored end of the new relationship.
        package let target: PropertyNumber
        /// Whether ``target`` is the other end.
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
