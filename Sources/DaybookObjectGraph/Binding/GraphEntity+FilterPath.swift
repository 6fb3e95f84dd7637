import DaybookObjectModel

extension GraphEntity {
    /// The properties that a key path leads along.
    func filterPath(_ path: ModelKeyPath, in schema: Schema) throws(QueryError) -> FilterPath {
        try filterPath(path.keyPath, in: schema)
    }

    /// The properties along a key path; if it ends in an identifier, those that lead to its object.
    ///
    /// - Throws: ``QueryError`` when the key path is not one of declared properties.
    func filterPath(_ keyPath: AnyKeyPath, in schema: Schema) throws(QueryError) -> FilterPath {
        switch meaning(of: keyPath) {
        case .properties(let names), .identifier(after: let names):
            return try filterPath(named: names, in: schema)
        case .composite(_, let elements):
            throw QueryError(
                "A key path of '\(self.schema.name)' leads to a composite attribute, so no condition or "
                    + "order can be made of it: go on to one of its elements, such as "
                    + "'\(elements.first?.name ?? "")'.")
        case .computed(reading: []):
            throw QueryError(
                "A key path of '\(self.schema.name)' leads to nothing in the model, so no "
                    + "condition or order can be made of it: \(remedy("it")).")
        case .computed(reading: let names):
            let unique = names.indices.filter { !names[..<$0].contains(names[$0]) }
            let list = unique.map { "'\(names[$0])'" }.joined(separator: ", ")
            throw QueryError(
                "A key path of '\(self.schema.name)' that reads \(list) leads to a computed property, "
                    + "or to one that a protocol requires, so no condition or order can be made of "
                    + "it: \(remedy(list)). Where a protocol requires an attribute, name it as text."
            )
        }
    }

    private func remedy(_ names: String) -> String {
        "filter or sort what is fetched with a closure, give the condition as a #Predicate, or keep the "
            + "value in an attribute that is set along with \(names)"
    }

    /// The properties that names lead along.
    ///
    /// - Throws: ``QueryError`` when an entity on the way has no property of that name.
    func filterPath(
        named names: [String], in schema: Schema
    ) throws(QueryError) -> FilterPath {
        var steps: [SchemaProperty] = []
        var current: SchemaEntity? = self.schema
        var rest = names[...]
        while let name = rest.first {
            guard let entity = current else {
                throw QueryError(
                    "'\(steps.last?.name ?? "")' is an attribute and has no property '\(name)'.")
            }
            guard let (property, count) = entity.property(at: rest) else {
                throw entity.unknownProperty(at: rest)
            }
            steps.append(property)
            current = property.end.flatMap { schema.entity($0.destination) }
            rest = rest.dropFirst(count)
        }
        return FilterPath(steps)
    }
}
