// What a filter looks at, found by one walk over all its parts.

/// A part of a filter that looks at objects, and where it stands.
struct FilterUse {
    enum Kind {
        /// The value at the end of a path.
        case value
        /// The objects at the end of a path of relationships, or an aggregate of what they have.
        case members
    }

    let path: FilterPath
    let kind: Kind
    /// The paths of the quantifiers and subqueries around it, the innermost first.
    let members: [FilterPath]
    /// What it asks about the past; nil when it looks at the present.
    var past: FilterPast?

    /// Whether it starts from an object that the filter as a whole is not about.
    var looksOutward: Bool { path.scope > members.count }
}

extension Filter {
    /// All paths of the filter.
    var uses: [FilterUse] {
        var uses: [FilterUse] = []
        collect(in: [], &uses)
        return uses
    }

    fileprivate func collect(in members: [FilterPath], _ uses: inout [FilterUse]) {
        switch self {
        case .constant: break
        case .comparison(let comparison):
            comparison.left.collect(in: members, &uses)
            comparison.right.collect(in: members, &uses)
        case .between(let value, let lower, let upper):
            for expression in [value, lower, upper] { expression.collect(in: members, &uses) }
        case .membership(let value, _, _): value.collect(in: members, &uses)
        case .and(let filters), .or(let filters):
            for filter in filters { filter.collect(in: members, &uses) }
        case .not(let filter): filter.collect(in: members, &uses)
        case .quantified(_, let path, let filter):
            uses.append(FilterUse(path: path, kind: .members, members: members))
            filter.collect(in: [path] + members, &uses)
        case .past(let path, let past):
            uses.append(past.use(path, in: members))
            past.condition?.collect(in: members, &uses)
        }
    }

    /// The same filter from inside one more quantifier: what starts outside of it starts one further out.
    fileprivate func movedInside(from depth: Int) -> Filter {
        func moved(_ expression: FilterExpression) -> FilterExpression {
            expression.movedInside(from: depth)
        }
        switch self {
        case .constant: return self
        case .comparison(let comparison):
            return .comparison(
                FilterComparison(
                    moved(comparison.left), comparison.operator, moved(comparison.right),
                    comparison.options))
        case .between(let value, let lower, let upper):
            return .between(moved(value), moved(lower), moved(upper))
        case .membership(let value, let values, let options):
            return .membership(moved(value), values, options)
        case .and(let filters): return .and(filters.map { $0.movedInside(from: depth) })
        case .or(let filters): return .or(filters.map { $0.movedInside(from: depth) })
        case .not(let filter): return .not(filter.movedInside(from: depth))
        case .quantified(let quantifier, let path, let filter):
            return .quantified(
                quantifier, path.movedInside(from: depth), filter.movedInside(from: depth + 1))
        case .past(let path, let past):
            // The condition in it does not look outside.
            return .past(path.movedInside(from: depth), past)
        }
    }
}

extension FilterPast {
    /// What the question looks at, apart from the condition in it.
    fileprivate func use(_ path: FilterPath, in members: [FilterPath]) -> FilterUse {
        guard case .change(let change) = self else {
            return FilterUse(path: path, kind: .value, members: members, past: self)
        }
        return FilterUse(
            path: FilterPath(path.steps + [change.property], scope: path.scope),
            kind: change.property.slot == nil ? .members : .value, members: members, past: self)
    }
}

extension FilterExpression {
    /// All paths of the expression.
    var uses: [FilterUse] {
        var uses: [FilterUse] = []
        collect(in: [], &uses)
        return uses
    }

    fileprivate func collect(in members: [FilterPath], _ uses: inout [FilterUse]) {
        switch self {
        case .constant: break
        case .path(let path): uses.append(FilterUse(path: path, kind: .value, members: members))
        case .aggregate(_, let path):
            uses.append(FilterUse(path: path, kind: .members, members: members))
        case .subquery(let subquery):
            uses.append(FilterUse(path: subquery.members, kind: .members, members: members))
            let inside = [subquery.members] + members
            subquery.condition.collect(in: inside, &uses)
            uses.append(FilterUse(path: subquery.values, kind: .value, members: inside))
        case .function(_, let arguments):
            for argument in arguments { argument.collect(in: members, &uses) }
        case .cast(let value, _): value.collect(in: members, &uses)
        case .conditional(let condition, let first, let second):
            condition.collect(in: members, &uses)
            first.collect(in: members, &uses)
            second.collect(in: members, &uses)
        }
    }

    /// The same expression from inside one more quantifier.
    package var fromInside: FilterExpression { movedInside(from: 0) }

    fileprivate func movedInside(from depth: Int) -> FilterExpression {
        switch self {
        case .constant: return self
        case .path(let path): return .path(path.movedInside(from: depth))
        case .aggregate(let aggregate, let path):
            return .aggregate(aggregate, path.movedInside(from: depth))
        case .subquery(var subquery):
            subquery.members = subquery.members.movedInside(from: depth)
            subquery.condition = subquery.condition.movedInside(from: depth + 1)
            subquery.values = subquery.values.movedInside(from: depth + 1)
            return .subquery(subquery)
        case .function(let function, let arguments):
            return .function(function, arguments.map { $0.movedInside(from: depth) })
        case .cast(let value, let type): return .cast(value.movedInside(from: depth), type)
        case .conditional(let condition, let first, let second):
            return .conditional(
                condition.movedInside(from: depth), first.movedInside(from: depth),
                second.movedInside(from: depth))
        }
    }
}

extension FilterPath {
    /// The same path where it starts at an object that is one further out.
    fileprivate func movedInside(from depth: Int) -> FilterPath {
        scope >= depth ? fromInside : self
    }
}
