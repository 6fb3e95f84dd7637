/// A path from an object along its properties.
///
/// The properties are those of the entity the filter was made for. An object of a subentity has
/// the same property numbers but may have other slots, which the source has to handle.
package struct FilterPath: Sendable {
    /// The properties to follow, in order; none means the object itself.
    package var steps: [SchemaProperty]
    /// The start of the path: 0 at the current object, 1 at the object whose members the enclosing
    /// quantifier examines, and so on outwards.
    package var scope: Int

    /// A path along `steps`.
    package init(_ steps: [SchemaProperty] = [], scope: Int = 0) {
        self.steps = steps
        self.scope = scope
    }

    /// The same path from inside one more quantifier.
    package var fromInside: FilterPath {
        FilterPath(steps, scope: scope + 1)
    }

    /// Whether the path may end at many values.
    package var isToMany: Bool {
        steps.contains { $0.relationship?.isToMany == true }
    }
}

extension FilterPath: Hashable {
    /// Whether both follow the same properties from the same start.
    package static func == (left: FilterPath, right: FilterPath) -> Bool {
        left.scope == right.scope && left.steps.count == right.steps.count
            && zip(left.steps, right.steps).allSatisfy { $0.number == $1.number }
    }

    /// Hashes the start and the numbers of the properties.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(scope)
        for step in steps { hasher.combine(step.number) }
    }
}

/// The aggregates of the values at the end of a to-many path.
package enum FilterAggregate: String, Sendable, Hashable, CaseIterable {
    /// Their number.
    case count
    /// Their sum; 0 for none.
    case sum
    /// Their mean; null for none.
    case average = "avg"
    /// The least; null for none.
    case minimum = "min"
    /// The greatest; null for none.
    case maximum = "max"
}

/// A part of a filter that has a value.
package enum FilterExpression: Sendable, Hashable {
    /// A constant.
    case constant(Value)
    /// The value at the end of a path of to-one steps. A path without steps is the object itself.
    case path(FilterPath)
    /// An aggregate of all values at the end of a path through a to-many relationship.
    case aggregate(FilterAggregate, FilterPath)

    /// The current object.
    package static let object = FilterExpression.path(FilterPath())

    /// The same expression from inside one more quantifier.
    package var fromInside: FilterExpression {
        switch self {
        case .constant: self
        case .path(let path): .path(path.fromInside)
        case .aggregate(let aggregate, let path): .aggregate(aggregate, path.fromInside)
        }
    }

    /// The value, if it is constant.
    package var constant: Value? {
        if case .constant(let value) = self { value } else { nil }
    }

    /// The property, if this is a path of one step from the current object.
    package var property: SchemaProperty? {
        guard case .path(let path) = self, path.scope == 0, path.steps.count == 1 else {
            return nil
        }
        return path.steps[0]
    }
}
