import DaybookObjectModel

/// A request within the condition of another: a condition on objects that a relationship leads to.
struct InnerRequest: Sendable {
    private let entityName: String
    /// Why the request cannot stand within another; nil when it can.
    private let objection: String?
    private let lowered: @Sendable (GraphEntity, QueryTarget) throws -> Filter

    init<Object>(_ request: FetchRequest<Object>) {
        entityName = request.entityName
        objection =
            if request.limit ?? 0 != 0 || request.offset != 0 {
                "has a limit or an offset: fetch its objects first, and give these"
            } else if request.affectedStores != nil || !request.includesSubentities {
                "names stores or leaves out subentities: say so in the outer request"
            } else {
                nil
            }
        let condition = request.condition
        lowered = { try condition?.filter(of: $0, for: $1) ?? .constant(true) }
    }

    /// The condition for objects at the end of a path.
    ///
    /// - Throws: ``QueryError`` when the request is about other objects, or cannot stand within another.
    func filter(atEndOf path: FilterPath, for target: QueryTarget) throws -> Filter {
        if let objection { throw QueryError("The inner request for '\(entityName)' \(objection).") }
        guard let destination = path.steps.last?.end?.destination else { return .constant(false) }
        let entity = target.model.entity(destination)
        guard entity.schema.name == entityName else {
            throw QueryError(
                "The inner request is for objects of '\(entityName)', and the relationship "
                    + "'\(path.steps.last?.name ?? "")' leads to '\(entity.schema.name)'.")
        }
        do {
            return try lowered(entity, target)
        } catch let error as NotLowerable {
            throw QueryError(
                "The inner request for '\(entityName)' has a predicate that the store cannot evaluate "
                    + "(\(error.expression)): fetch its objects first, and give these.")
        }
    }
}
