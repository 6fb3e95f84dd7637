import Foundation

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

/// An aggregate of the values of those objects at the end of a path that meet a condition.
package struct FilterSubquery: Sendable, Hashable {
    /// The path to the members.
    package var members: FilterPath
    /// The condition, for which the member is the current object.
    package var condition: Filter
    /// The aggregate.
    package var aggregate: FilterAggregate
    /// The path from a member to its values; without steps, the member itself.
    package var values: FilterPath

    /// An aggregate of some members' values.
    package init(
        _ members: FilterPath, where condition: Filter, _ aggregate: FilterAggregate,
        of values: FilterPath = FilterPath()
    ) {
        self.members = members
        self.condition = condition
        self.aggregate = aggregate
        self.values = values
    }
}

/// A part of a filter that has a value.
package enum FilterExpression: Sendable, Hashable {
    /// A constant.
    case constant(Value)
    /// The value at the end of a path of to-one steps. A path without steps is the object itself.
    case path(FilterPath)
    /// An aggregate of all values at the end of a path through a to-many relationship.
    case aggregate(FilterAggregate, FilterPath)
    /// An aggregate of some members' values.
    indirect case subquery(FilterSubquery)
    /// A function of values.
    indirect case function(FilterFunction, [FilterExpression])
    /// A value as another type; null where no value of that type means the same.
    indirect case cast(FilterExpression, AttributeType)
    /// The first value where a condition holds, else the second.
    indirect case conditional(Filter, FilterExpression, FilterExpression)

    /// The current object.
    package static let object = FilterExpression.path(FilterPath())

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

extension FilterExpression {
    /// A function of values, which is a constant if they are.
    package static func computed(
        _ function: FilterFunction, _ arguments: [FilterExpression]
    ) -> FilterExpression {
        let constants = arguments.compactMap(\.constant)
        return constants.count == arguments.count
            ? .constant(function.value(of: constants)) : .function(function, arguments)
    }

    /// A value as another type, which is a constant if the value is.
    package static func computed(
        _ value: FilterExpression, as type: AttributeType
    ) -> FilterExpression {
        value.constant.map { .constant($0.cast(to: type)) } ?? .cast(value, type)
    }
}

extension Value {
    /// The value as another type; null where no value of that type means the same. A date as a number, and a
    /// number as a date, is that of seconds since 2001.
    func cast(to type: AttributeType) -> Value {
        switch (self, type) {
        case (.date(let date), .int16), (.date(let date), .int32), (.date(let date), .int64),
            (.date(let date), .float), (.date(let date), .double), (.date(let date), .decimal):
            return Value.double(date.timeIntervalSinceReferenceDate).converted(to: type)
        case (.int, .date), (.double, .date), (.decimal, .date):
            guard case .double(let seconds) = converted(to: .double), seconds.isFinite else {
                return .null
            }
            return Value.date(Date(timeIntervalSinceReferenceDate: seconds)).normalized
        default: return converted(to: type)
        }
    }
}
