import DaybookObjectModel

/// A predicate and its entity, as a command line gives them: `Country: name == 'Fiji'`.
struct EntityCondition: Equatable, Sendable {
    let entity: String
    let predicate: String
    /// The number of characters before the predicate.
    private let offset: Int

    init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].filter { !$0.isWhitespace }
        let rest = text[text.index(after: colon)...]
        guard !name.isEmpty, rest.contains(where: { !$0.isWhitespace }) else { return nil }
        entity = String(name)
        predicate = String(rest)
        offset = text.count - rest.count
    }

    /// The filter, by the names of a model.
    ///
    /// - Parameters:
    ///   - option: The option it came from.
    ///   - schema: The model.
    /// - Returns: The entity and the filter of its objects.
    /// - Throws: ``ToolError`` when the model has no such names, or the predicate cannot be understood.
    func resolved(
        for option: String, in schema: Schema
    ) throws -> (entity: SchemaEntity, filter: Filter) {
        let found = try StoreReading.entity(entity, in: schema)
        do {
            return (found, try Filter(parsing: predicate, for: found, in: schema))
        } catch {
            // Columns are those of the option's text.
            let mistake = QueryError(error.message, at: error.column.map { $0 + offset })
            throw ToolError.usage("'\(option)' cannot be understood: \(mistake.description)")
        }
    }
}

extension ValueParser where Value == EntityCondition {
    /// A predicate about the objects of an entity.
    static var condition: ValueParser {
        ValueParser("an entity and a predicate such as \"Country: name BEGINSWITH 'F'\"") {
            EntityCondition($0)
        }
    }
}
