/// The meaning of names in a predicate.
package struct PredicateNames: Sendable {
    let schema: Schema
    /// The columns that names stand for; nil where they are those of properties.
    let columns: [SchemaProperty]?
    private let found: (@Sendable (String) throws(QueryError) -> ObjectID?)?

    /// Names within one store: an object is `Country/17`.
    package init(in schema: Schema) {
        self.schema = schema
        columns = nil
        found = nil
    }

    /// Names whose objects the closure `object` finds.
    ///
    /// - Parameters:
    ///   - schema: The entities and properties.
    ///   - object: The object of a name; nil when the text is not a name. Throws for an ambiguous
    ///     name.
    package init(
        in schema: Schema, object: @escaping @Sendable (String) throws(QueryError) -> ObjectID?
    ) {
        self.schema = schema
        columns = nil
        found = object
    }

    /// Names of columns, such as `department.name` and `sum(salary)`.
    init(in schema: Schema, columns: [SchemaProperty]) {
        self.schema = schema
        self.columns = columns
        found = nil
    }

    /// The object of a name; nil when the text is not a name.
    func object(named text: String, at column: Int) throws(QueryError) -> ObjectID? {
        guard let found else { return schema.object(named: text) }
        do {
            return try found(text)
        } catch {
            throw QueryError(error.message, at: column)
        }
    }
}

extension ObjectID {
    /// Represents an object that is not in the store in a filter: no object has the number.
    package static func elsewhere(_ entity: EntityNumber) -> ObjectID {
        ObjectID(entity: entity, number: 0)
    }
}
