/// Something that a query reads: a property of the object at hand or of one that relationships lead to.
package struct QueryDependency: Sendable, Hashable {
    /// The relationships that lead from the object at hand; none for that object itself.
    package let path: FilterPath
    /// What is read there; nil for no more than that there is an object.
    package let property: SchemaProperty?

    /// Whether both read the same.
    package static func == (left: QueryDependency, right: QueryDependency) -> Bool {
        left.path == right.path && left.property?.number == right.property?.number
    }

    /// Hashes what equality compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        hasher.combine(property?.number)
    }
}

extension Query {
    /// Everything on which condition and order of one object depend, each once.
    package var dependencies: [QueryDependency] {
        var found = DependencyCollector()
        found.collect(filter, in: [[]])
        for sorting in sortings { found.collect(sorting.path, in: [[]]) }
        return found.dependencies
    }
}

/// Gathers what a query reads, following its paths step by step.
private struct DependencyCollector {
    private(set) var dependencies: [QueryDependency] = []
    private var known: Set<QueryDependency> = []

    /// Gathers what a condition reads.
    ///
    /// - Parameters:
    ///   - filter: The condition.
    ///   - scopes: How the object of each scope is reached, the innermost first.
    mutating func collect(_ filter: Filter, in scopes: [[SchemaProperty]]) {
        switch filter {
        case .constant: break
        case .comparison(let comparison):
            collect(comparison.left, in: scopes)
            collect(comparison.right, in: scopes)
        case .between(let value, let lower, let upper):
            for expression in [value, lower, upper] { collect(expression, in: scopes) }
        case .membership(let value, _, _): collect(value, in: scopes)
        case .and(let filters), .or(let filters):
            for filter in filters { collect(filter, in: scopes) }
        case .not(let filter): collect(filter, in: scopes)
        case .quantified(_, let path, let filter):
            guard let members = collect(path, in: scopes) else { return }
            add(members, nil)
            collect(filter, in: [members] + scopes)
        }
    }

    private mutating func collect(_ expression: FilterExpression, in scopes: [[SchemaProperty]]) {
        switch expression {
        case .constant: break
        case .path(let path), .aggregate(_, let path): collect(path, in: scopes)
        case .subquery(let subquery):
            guard let members = collect(subquery.members, in: scopes) else { return }
            add(members, nil)
            collect(subquery.condition, in: [members] + scopes)
            collect(subquery.values, in: [members] + scopes)
        case .function(_, let arguments):
            for argument in arguments { collect(argument, in: scopes) }
        case .cast(let value, _): collect(value, in: scopes)
        case .conditional(let condition, let first, let second):
            collect(condition, in: scopes)
            collect(first, in: scopes)
            collect(second, in: scopes)
        }
    }

    /// Gathers what a path reads on its way.
    ///
    /// - Returns: How its end is reached; nil for a path that starts nowhere.
    @discardableResult
    mutating func collect(_ path: FilterPath, in scopes: [[SchemaProperty]]) -> [SchemaProperty]? {
        guard scopes.indices.contains(path.scope) else { return nil }
        var way = scopes[path.scope]
        for step in path.steps {
            add(way, step)
            way.append(step)
        }
        if let last = path.steps.last, last.slot == nil { add(way, nil) }
        return way
    }

    private mutating func add(_ way: [SchemaProperty], _ property: SchemaProperty?) {
        let dependency = QueryDependency(path: FilterPath(way), property: property)
        if known.insert(dependency).inserted { dependencies.append(dependency) }
    }
}
