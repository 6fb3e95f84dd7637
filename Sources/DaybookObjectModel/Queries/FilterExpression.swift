/// A way from an object over its properties.
///
/// The properties are those of the entity the filter was made for. An object of a sub-entity has
/// the same property numbers but may have other slots, which is the source's business.
package struct FilterPath: Sendable {
    /// The properties to follow, first one first; none means the object itself.
    package var steps: [SchemaProperty]
    /// Where the way starts: 0 at the object at hand, 1 at the object whose members are being
    /// looked at by the quantifier around, and so on outwards.
    package var scope: Int

    /// A way over `steps`.
    package init(_ steps: [SchemaProperty] = [], scope: Int = 0) {
        self.steps = steps
        self.scope = scope
    }

    /// The same way from one quantifier further inside.
    package var fromInside: FilterPath {
        FilterPath(steps, scope: scope + 1)
    }

    /// Whether the way may end at many values.
    package var isToMany: Bool {
        steps.contains { $0.relationship?.isToMany == true }
    }
}

extension FilterPath: Hashable {
    /// Whether both follow the same properties from the same place.
    package static func == (left: FilterPath, right: FilterPath) -> Bool {
        left.scope == right.scope && left.steps.count == right.steps.count
            && zip(left.steps, right.steps).allSatisfy { $0.number == $1.number }
    }

    /// Feeds the place and the numbers of the properties.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(scope)
        for step in steps { hasher.combine(step.number) }
    }
}

/// What is made of the values at the end of a to-many path.
package enum FilterAggregate: String, Sendable, Hashable, CaseIterable {
    /// How many there are.
    case count
    /// Their sum; 0 of none.
    case sum
    /// Their mean; null of none.
    case average = "avg"
    /// The least; null of none.
    case minimum = "min"
    /// The greatest; null of none.
    case maximum = "max"
}

/// Something in a filter that has a value.
package enum FilterExpression: Sendable, Hashable {
    /// A value known beforehand.
    case constant(Value)
    /// The value at the end of a path of to-one steps. A path without steps is the object itself.
    case path(FilterPath)
    /// One value made of all values at the end of a path through a to-many relationship.
    case aggregate(FilterAggregate, FilterPath)

    /// The object at hand.
    package static let object = FilterExpression.path(FilterPath())

    /// The same expression from one quantifier further inside.
    package var fromInside: FilterExpression {
        switch self {
        case .constant: self
        case .path(let path): .path(path.fromInside)
        case .aggregate(let aggregate, let path): .aggregate(aggregate, path.fromInside)
        }
    }

    /// The value, if it is known beforehand.
    package var constant: Value? {
        if case .constant(let value) = self { value } else { nil }
    }

    /// The property, if this is a path of one step from the object at hand.
    package var property: SchemaProperty? {
        guard case .path(let path) = self, path.scope == 0, path.steps.count == 1 else {
            return nil
        }
        return path.steps[0]
    }
}
