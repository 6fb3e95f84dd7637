extension RelationshipEnd {
    /// Whether the destination knows nothing of the relationship.
    package var isOneWay: Bool { inverse == nil }

    /// Whether only one object can refer to a destination through the relationship, because its
    /// inverse is to-one.
    package var isExclusive: Bool { inverse != nil && !inverseIsToMany }
}

extension SchemaProperty {
    /// Whether this is a relationship without inverse.
    package var isOneWay: Bool { end?.isOneWay ?? false }

    /// Whether this is a relationship through which only one object can refer to a destination.
    ///
    /// A to-one relationship that is its own inverse is one: nobody is the partner of two.
    package var isExclusive: Bool { end?.isExclusive ?? false }

    /// Whether this is a relationship that is its own inverse, and so is stored at both objects.
    package var isSelfInverse: Bool { end?.inverse == number }

    /// The relationship of the destination that follows from this one; nil when there is no
    /// inverse, and when the relationship is its own inverse, which is stored at both objects
    /// anyway.
    package var opposite: PropertyNumber? { isSelfInverse ? nil : end?.inverse }
}

extension Schema {
    /// Whether references through a relationship stay when the object they lead to is deleted.
    package func leavesDangling(_ property: SchemaProperty) -> Bool {
        guard let end = property.end, let inverse = end.inverse else { return false }
        let opposite = entity(end.destination)?.property(inverse)
        return opposite?.relationship?.deleteRule == .noAction
    }
}
