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
        for use in filter.uses { found.collect(use) }
        for sorting in sortings {
            found.collect(FilterUse(path: sorting.path, kind: .value, members: []))
        }
        return found.dependencies
    }
}

/// Gathers what a query reads, following its paths step by step.
private struct DependencyCollector {
    private(set) var dependencies: [QueryDependency] = []
    private var known: Set<QueryDependency> = []

    /// Gathers what a path reads on its way.
    mutating func collect(_ use: FilterUse) {
        guard var way = start(of: use.path, in: use.members[...]) else { return }
        for step in use.path.steps {
            add(way, step)
            way.append(step)
        }
        guard let last = use.path.steps.last, last.end != nil else { return }
        if use.kind == .members || last.slot == nil { add(way, nil) }
    }

    /// How the object is reached from which a path starts; nil where there is none.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - members: The paths of the quantifiers around it, the innermost first.
    /// - Returns: The steps from the object of the request to that one.
    private func start(
        of path: FilterPath, in members: ArraySlice<FilterPath>
    ) -> [SchemaProperty]? {
        guard path.scope < members.count else { return path.scope == members.count ? [] : nil }
        let outside = members.dropFirst(path.scope)
        guard let member = outside.first else { return nil }
        return start(of: member, in: outside.dropFirst()).map { $0 + member.steps }
    }

    private mutating func add(_ way: [SchemaProperty], _ property: SchemaProperty?) {
        let dependency = QueryDependency(path: FilterPath(way), property: property)
        if known.insert(dependency).inserted { dependencies.append(dependency) }
    }
}
