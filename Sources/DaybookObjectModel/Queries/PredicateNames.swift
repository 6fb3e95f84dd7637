/// What the names in a predicate stand for.
package struct PredicateNames: Sendable {
    let schema: Schema
    private let found: (@Sendable (String) throws(QueryError) -> ObjectID?)?

    /// Names as they are within one store: an object is `Country/17`.
    package init(in schema: Schema) {
        self.schema = schema
        found = nil
    }

    /// Names of which `object` knows the objects.
    ///
    /// - Parameters:
    ///   - schema: The entities and properties.
    ///   - object: The object of a name; nil when the text is no name. Throws where it is not clear
    ///     which object is meant.
    package init(
        in schema: Schema, object: @escaping @Sendable (String) throws(QueryError) -> ObjectID?
    ) {
        self.schema = schema
        found = object
    }

    /// The object that a name stands for; nil when the text is no name.
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
    /// Stands in a filter for an object that is not in the store: no object has the number.
    package static func elsewhere(_ entity: EntityNumber) -> ObjectID {
        ObjectID(entity: entity, number: 0)
    }
}
