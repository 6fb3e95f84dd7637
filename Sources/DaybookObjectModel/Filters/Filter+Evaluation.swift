import Foundation

/// Where a filter finds the values of objects: a context, a snapshot, a test's dictionary.
package protocol FilterSource: ~Copyable {
    /// The value of an attribute or of a to-one relationship that has a slot; null when the object
    /// is gone.
    ///
    /// The property is the one the filter's entity has. The object may be of a subentity, where a
    /// property of the same number may have another slot.
    func value(of property: SchemaProperty, in object: ObjectID) throws -> Value

    /// The objects at the other end of a relationship of any kind, stored or derived; of an ordered
    /// one, in its order.
    func members(of property: SchemaProperty, in object: ObjectID) throws -> [ObjectID]

    /// Whether there is an object to which a reference leads. By the rule "no action" references to a deleted one
    /// are left; sources that know only values have none.
    func exists(_ object: ObjectID) throws -> Bool

    /// Whether what is asked about the past of an object holds. There is an answer for any source; those
    /// that know only values refuse.
    func holds(_ question: FilterPast, of object: ObjectID) throws -> Bool
}

extension FilterSource where Self: ~Copyable {
    /// True.
    package func exists(_ object: ObjectID) throws -> Bool { true }

    /// Refuses: the values of an object do not tell its past.
    package func holds(_ question: FilterPast, of object: ObjectID) throws -> Bool {
        throw QueryError(
            "A question about the past can be asked only of objects in a store, and here there are only "
                + "values.")
    }
}

/// The object at hand and those around it.
struct FilterScope {
    let object: ObjectID
    var outer: FilterOuterScope?

    func object(at depth: Int) -> ObjectID? {
        guard depth > 0 else { return object }
        return outer?.scope.object(at: depth - 1)
    }
}

/// A scope that encloses others.
final class FilterOuterScope {
    let scope: FilterScope

    init(_ scope: FilterScope) {
        self.scope = scope
    }
}

extension Filter {
    /// Whether the object meets the condition.
    package func matches<Source: FilterSource & ~Copyable>(
        _ object: ObjectID, in source: borrowing Source
    ) throws -> Bool {
        try matches(FilterScope(object: object), source)
    }

    fileprivate func matches<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> Bool {
        switch self {
        case .constant(let holds): return holds
        case .comparison(let comparison): return try comparison.matches(scope, source)
        case .between(let expression, let lower, let upper):
            let value = try expression.value(scope, source)
            let least = try lower.value(scope, source)
            let greatest = try upper.value(scope, source)
            return FilterOperator.greaterOrEqual.holds(value, least)
                && FilterOperator.lessOrEqual.holds(value, greatest)
        case .membership(let expression, let values, let options):
            let value = try expression.value(scope, source)
            guard !options.isEmpty, case .string(let text) = value else {
                return values.contains(value)
            }
            return values.contains(text, options)
        case .and(let filters):
            for filter in filters where !(try filter.matches(scope, source)) { return false }
            return true
        case .or(let filters):
            for filter in filters where try filter.matches(scope, source) { return true }
            return false
        case .not(let filter): return !(try filter.matches(scope, source))
        case .quantified(let quantifier, let path, let filter):
            let members = try path.objects(scope, source)
            guard !members.isEmpty else { return quantifier != .any }
            let outer = FilterOuterScope(scope)
            // ANY and NONE are decided by a member that meets the condition, ALL by one that does
            // not.
            for member in members {
                let holds = try filter.matches(FilterScope(object: member, outer: outer), source)
                if holds != (quantifier == .all) { return quantifier == .any }
            }
            return quantifier != .any
        case .past(let path, let question):
            guard case .object(let object) = try path.value(scope, source) else { return false }
            return try source.holds(question, of: object)
        }
    }
}

extension FilterComparison {
    fileprivate func matches<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> Bool {
        let value = try left.value(scope, source)
        if let pattern {
            guard case .string(let text) = value else { return `operator` == .notEqual }
            return try pattern.matches(text)
        }
        let other = try right.value(scope, source)
        guard `operator`.isTextual || !options.isEmpty else {
            return `operator`.holds(value, other)
        }
        guard case .string(let text) = value, case .string(let otherText) = other,
            let pattern = TextPattern(otherText, for: `operator`, options)
        else { return `operator`.isTextual ? false : `operator`.holds(value, other) }
        return try pattern.matches(text)
    }
}

extension FilterOperator {
    /// Whether the comparison of two values holds; of text operators, byte by byte.
    package func holds(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left.isEqualInFilter(to: right)
        case .notEqual: !left.isEqualInFilter(to: right)
        case .less: left.isOrdered(with: right) && left.order(to: right) == .orderedAscending
        case .lessOrEqual:
            left.isOrdered(with: right) && left.order(to: right) != .orderedDescending
        case .greater: left.isOrdered(with: right) && left.order(to: right) == .orderedDescending
        case .greaterOrEqual:
            left.isOrdered(with: right) && left.order(to: right) != .orderedAscending
        case .beginsWith, .endsWith, .contains, .like, .matches: false
        }
    }
}

extension Value {
    fileprivate func isEqualInFilter(to other: Value) -> Bool {
        isComparable(to: other) && order(to: other) == .orderedSame
    }

    /// Whether one can be less than the other: neither is null or "not a number".
    fileprivate func isOrdered(with other: Value) -> Bool {
        isComparable(to: other) && !isNull && !isNotANumber && !other.isNotANumber
    }

    private var isNotANumber: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }
}

extension FilterExpression {
    func value<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> Value {
        switch self {
        case .constant(let value): return value
        case .path(let path): return try path.value(scope, source)
        case .aggregate(.count, let path): return .int(Int64(try path.count(scope, source)))
        case .aggregate(let aggregate, let path):
            return aggregate.value(of: try path.values(scope, source))
        case .subquery(let subquery): return try subquery.value(scope, source)
        case .function(let function, let arguments):
            var values: [Value] = []
            for argument in arguments { values.append(try argument.value(scope, source)) }
            return function.value(of: values)
        case .cast(let value, let type): return try value.value(scope, source).cast(to: type)
        case .conditional(let condition, let first, let second):
            let isFirst = try condition.matches(scope, source)
            return try (isFirst ? first : second).value(scope, source)
        }
    }
}

extension FilterSubquery {
    fileprivate func value<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> Value {
        let outer = FilterOuterScope(scope)
        var found: [Value] = []
        for member in try members.objects(scope, source) {
            let scope = FilterScope(object: member, outer: outer)
            guard try condition.matches(scope, source) else { continue }
            found += try values.values(scope, source)
        }
        return aggregate.value(of: found)
    }
}

extension FilterPath {
    /// The value at the end of a path of to-one steps.
    func value<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> Value {
        guard var object = scope.object(at: self.scope) else { return .null }
        if steps.count == 1 { return try steps[0].value(in: object, source) }
        for step in steps.dropLast() {
            guard case .object(let next) = try step.value(in: object, source) else { return .null }
            object = next
        }
        return try steps.last?.value(in: object, source) ?? .object(object)
    }

    /// The objects at the end of a path of relationships.
    func objects<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> [ObjectID] {
        guard let start = scope.object(at: self.scope) else { return [] }
        var objects = [start]
        for step in steps {
            if objects.count == 1 {
                objects = try step.objects(in: objects[0], source)
                continue
            }
            var next: [ObjectID] = []
            for object in objects { next += try step.objects(in: object, source) }
            objects = next
        }
        return objects
    }

    /// The values at the end of a path, one for each object that leads to it; nulls left out.
    fileprivate func values<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> [Value] {
        guard let last = steps.last, last.attribute != nil else {
            return try objects(scope, source).map { .object($0) }
        }
        let owners = FilterPath(Array(steps.dropLast()), scope: self.scope)
        var values: [Value] = []
        for owner in try owners.objects(scope, source) {
            let value = try source.value(of: last, in: owner)
            if !value.isNull { values.append(value) }
        }
        return values
    }

    fileprivate func count<Source: FilterSource & ~Copyable>(
        _ scope: FilterScope, _ source: borrowing Source
    ) throws -> Int {
        steps.last?.attribute == nil
            ? try objects(scope, source).count : try values(scope, source).count
    }
}

extension SchemaProperty {
    fileprivate func value<Source: FilterSource & ~Copyable>(
        in object: ObjectID, _ source: borrowing Source
    ) throws -> Value {
        guard slot == nil else { return try source.value(of: self, in: object) }
        return try objects(in: object, source).first.map { .object($0) } ?? .null
    }

    fileprivate func objects<Source: FilterSource & ~Copyable>(
        in object: ObjectID, _ source: borrowing Source
    ) throws -> [ObjectID] {
        guard slot == nil else {
            return try source.value(of: self, in: object).reference.map { [$0] } ?? []
        }
        // What leads to a deleted object still does by this rule. A path does not go on beyond it.
        if relationship?.deleteRule == .noAction, try !source.exists(object) { return [] }
        return try source.members(of: self, in: object)
    }
}
