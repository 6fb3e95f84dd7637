extension RelationshipEnd {
    /// Whether the destination knows nothing of the relationship.
    package var isOneWay: Bool { inverse == nil }

    /// Whether only one object can refer to a destination over the relationship, as its inverse is
    /// to-one.
    package var isExclusive: Bool { inverse != nil && !inverseIsToMany }
}

extension SchemaProperty {
    /// Whether this is a relationship without inverse.
    package var isOneWay: Bool { end?.isOneWay ?? false }

    /// Whether this is a relationship over which only one object can refer to a destination.
    ///
    /// A to-one relationship that is its own inverse is one: nobody is the partner of two.
    package var isExclusive: Bool { end?.isExclusive ?? false }

    /// Whether this is a relationship that is its own inverse, and so stands at both objects.
    package var isSelfInverse: Bool { end?.inverse == number }

    /// The relationship of the destination that follows from this one; nil where the destination knows
    /// nothing of it, and where it is this one, which stands at both objects by itself.
    package var opposite: PropertyNumber? { isSelfInverse ? nil : end?.inverse }
}

extension Schema {
    /// Whether the model wants references over a relationship left when their object is deleted.
    package func leavesDangling(_ property: SchemaProperty) -> Bool {
        guard let end = property.end, let inverse = end.inverse else { return false }
        let opposite = entity(end.destination)?.property(inverse)
        return opposite?.relationship?.deleteRule == .noAction
    }
}
