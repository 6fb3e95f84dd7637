import DaybookObjectModel
public import Foundation

/// Which objects of a class to fetch, in which order, and how many.
///
/// ```swift
/// var request = FetchRequest<Employee>(where: \Employee.lastName == "Lovelace")
/// request.order = [.ascending(\Employee.firstName)]
/// request.limit = 10
/// let employees = try context.fetch(request)
/// ```
///
/// Where a fetch reads values along, neighbouring objects share the memory of their records, at most
/// about 16 KB at a time, which goes when none of them needs it any more: one object that is kept may
/// keep it all, until it has been saved with changes or is turned into a fault.
///
/// A request is a value and may cross threads.
public struct FetchRequest<Object: ManagedObject>: Sendable {
    /// The name of the entity.
    public var entityName: String
    /// The condition the objects meet; nil for all.
    public var condition: Condition<Object>?
    /// What to sort by: the first decides, the next among equals. Without any, and among equals in
    /// all, objects come in the order in which they were made.
    public var order: [FetchOrder<Object>] = []
    /// How many objects at most; nil or 0 for all. A request with a limit below 0 is refused.
    public var limit: Int?
    /// How many of the first ones to leave out.
    public var offset = 0
    /// Whether what has changed in the context counts, or only what is in the store.
    public var includesPendingChanges = true
    /// Whether objects of sub-entities are meant, too.
    public var includesSubentities = true
    /// The stores to look into; nil for all that hold the entity.
    public var affectedStores: [PersistentStore]?
    /// Whether what is found stays faults until a property is asked for. When false, what is found is
    /// read by the read of the store that finds it: the fastest way to many objects' values.
    public var returnsObjectsAsFaults = true
    /// Whether the rows of what is found are read along, so that the faults fire without reading the
    /// store. Off by default: a fetch then costs what it finds, and a row is read when it is needed.
    /// Without effect in a child and in a context that is held to a query generation.
    public var includesPropertyValues = false
    /// How many faults are read together as soon as one of them fires; 0 for each by itself.
    public var fetchBatchSize = 0
    /// Relationships to follow from what is found, as names joined by dots: what is found and what
    /// they lead to is read in one read of the store.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// Whether objects that have been read before take the values that the store has now, under what
    /// is pending for them. When false, a fetch changes no object that has been read.
    public var shouldRefreshRefetchedObjects = false

    /// A request for objects of a class.
    public init(where condition: Condition<Object>? = nil) {
        entityName = Object.entityName
        self.condition = condition
    }

    /// A request for the objects of a class that meet a Foundation predicate.
    public init(where predicate: Predicate<Object>) {
        self.init(where: Condition(predicate))
    }

    /// A request for objects of an entity by its name, with or without a class of its own.
    public init(entityName: String, where condition: Condition<Object>? = nil) {
        self.entityName = entityName
        self.condition = condition
    }
}

/// One order by which a fetch sorts.
public struct FetchOrder<Object: ManagedObject>: Sendable {
    enum Place: Sendable {
        case keyPath(ModelKeyPath)
        case name(String)
    }

    let place: Place
    let isAscending: Bool

    /// From the least to the greatest; objects without a value first.
    public static func ascending(
        _ keyPath: KeyPath<Object, some AttributeValue>
    ) -> FetchOrder<Object> {
        FetchOrder(place: .keyPath(ModelKeyPath(keyPath: keyPath)), isAscending: true)
    }

    /// From the greatest to the least; objects without a value last.
    public static func descending(
        _ keyPath: KeyPath<Object, some AttributeValue>
    ) -> FetchOrder<Object> {
        FetchOrder(place: .keyPath(ModelKeyPath(keyPath: keyPath)), isAscending: false)
    }

    /// By a property, or a path of to-one relationships to one, by name: from the least.
    public static func ascending(_ name: String) -> FetchOrder<Object> {
        FetchOrder(place: .name(name), isAscending: true)
    }

    /// By a property, or a path of to-one relationships to one, by name: from the greatest.
    public static func descending(_ name: String) -> FetchOrder<Object> {
        FetchOrder(place: .name(name), isAscending: false)
    }

    /// - Throws: ``QueryError`` when the path does not fit the model, or leads to many values.
    func sorting(of entity: GraphEntity, in schema: Schema) throws(QueryError) -> Sorting {
        let path: FilterPath
        switch place {
        case .keyPath(let keyPath): path = try entity.filterPath(keyPath, in: schema)
        case .name(let name):
            let names = name.split(separator: ".", omittingEmptySubsequences: false)
            path = try entity.filterPath(named: names.map(String.init), in: schema)
        }
        if let step = path.steps.first(where: { $0.relationship?.isToMany == true }) {
            throw QueryError(
                "'\(entity.schema.name)' cannot be sorted by a path through '\(step.name)', which leads "
                    + "to many objects. Sort by an attribute, or one that to-one relationships lead "
                    + "to.")
        }
        return Sorting(path, isAscending: isAscending)
    }
}

extension FetchRequest {
    func entity(in model: GraphModel) throws(QueryError) -> GraphEntity {
        guard let entity = model.entity(named: entityName) else {
            guard entityName != ManagedObject.entityName else {
                throw QueryError(
                    "The request does not say which entity it is about. Name the class, as in "
                        + "'FetchRequest<Person>(where: …)', or the entity, as in "
                        + "'FetchRequest(entityName: \"Person\", where: …)'.")
            }
            let names = model.schema.entities.map(\.name)
            throw QueryError(
                "The model has no entity '\(entityName)'.\(entityName.suggestion(among: names))")
        }
        return entity
    }

    /// The query that the request is lowered to.
    ///
    /// - Throws: ``QueryError`` when the request does not fit the model; ``NotLowerable`` when its
    ///   condition has to be evaluated in memory.
    func query(for target: QueryTarget) throws -> Query {
        var query = try queryForAll(in: target.model)
        if let condition {
            query.filter = try condition.filter(of: entity(in: target.model), for: target)
        }
        return query
    }

    /// How many objects at most; nil for all.
    func countMaximum() throws(QueryError) -> Int? {
        guard let limit, limit != 0 else { return nil }
        guard limit > 0 else {
            throw QueryError(
                "A limit of \(limit) finds nothing. Give the greatest number of objects, or 0 or "
                    + "nil for all.")
        }
        return limit
    }

    /// The paths to prefetch, step by step.
    ///
    /// - Throws: ``QueryError`` when one does not lead along relationships.
    func prefetchPaths(in model: GraphModel) throws(QueryError) -> [[String]] {
        var paths: [[String]] = []
        for text in relationshipKeyPathsForPrefetching {
            var current: SchemaEntity? = try entity(in: model).schema
            let names = text.split(separator: ".").map(String.init)
            for name in names {
                guard let entity = current, let property = entity.property(named: name),
                    property.relationship != nil
                else {
                    throw QueryError("'\(text)' does not lead along relationships.")
                }
                current = property.end.flatMap { model.schema.entity($0.destination) }
            }
            paths.append(names)
        }
        return paths
    }

    /// The query without the condition.
    func queryForAll(in model: GraphModel) throws(QueryError) -> Query {
        let entity = try entity(in: model)
        var query = Query(entity.schema, includesSubentities: includesSubentities)
        for order in order {
            query.sortings.append(try order.sorting(of: entity, in: model.schema))
        }
        query.limit = try countMaximum()
        query.offset = offset
        return query
    }
}
