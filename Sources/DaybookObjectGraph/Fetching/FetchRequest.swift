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
/// When a fetch also reads values, neighbouring objects share the memory of their records, at most about
/// 16 KB at a time, which is freed when none of them needs it any more: one object that is kept may keep
/// all of it, until it is saved with changes or turned into a fault.
///
/// A request is a value and may cross threads.
public struct FetchRequest<Object: ManagedObject>: Sendable {
    /// The name of the entity.
    public var entityName: String
    /// The condition the objects meet; nil for all.
    public var condition: Condition<Object>?
    /// What to sort by: the first decides, the next among equals. Without any, and among objects equal
    /// in all, objects come in the order in which they were made.
    public var order: [FetchOrder<Object>] = []
    /// The largest number of objects; nil or 0 for all. A request with a limit below 0 is refused.
    public var limit: Int?
    /// How many objects to skip at the start.
    public var offset = 0
    /// Whether pending changes of the context count, or only what is in the store. A `#Predicate` that is
    /// evaluated in memory sees them in any case, and is refused when they are not to count.
    public var includesPendingChanges = true
    /// Whether to include objects of subentities.
    public var includesSubentities = true
    /// The stores to search; nil for all that hold the entity.
    public var affectedStores: [PersistentStore]?
    /// Whether the objects stay faults until a property is read. When false, the read of the store that
    /// finds the objects also reads their values: the fastest way to the values of many objects.
    public var returnsObjectsAsFaults = true
    /// Whether the rows of the objects are read as well, so that the faults fire without reading the
    /// store. Off by default: a fetch then only finds objects, and a row is read when it is needed. Has
    /// no effect in a child and in a context that is held to a query generation.
    public var includesPropertyValues = false
    /// How many faults are read together as soon as one of them fires; 0 reads each by itself.
    public var fetchBatchSize = 0
    /// Relationships to follow from the objects found, as names joined by dots: one read of the store
    /// reads the objects and those that the relationships lead to.
    public var relationshipKeyPathsForPrefetching: [String] = []
    /// Whether objects that have been read before take the values that the store has now, under their
    /// pending changes. When false, a fetch changes no object that has been read.
    public var shouldRefreshRefetchedObjects = false
    /// The place behind which the objects are; nil for all.
    var start: QueryPlace?
    /// Whether the objects come in the opposite order.
    var isReversed = false

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

/// A property that a request names, or a path to one.
enum RequestKey: Sendable {
    case keyPath(ModelKeyPath)
    case name(String)

    /// - Throws: ``QueryError`` when the path does not fit the model.
    func path(of entity: GraphEntity, in schema: Schema) throws(QueryError) -> FilterPath {
        switch self {
        case .keyPath(let keyPath): return try entity.filterPath(keyPath, in: schema)
        case .name(let name):
            let names = name.split(separator: ".", omittingEmptySubsequences: false)
            return try entity.filterPath(named: names.map(String.init), in: schema)
        }
    }
}

/// What is sorted by.
enum OrderTerm: Sendable {
    case key(RequestKey)
    case aggregate(AggregateTerm)
}

/// A sort order of a fetch.
public struct FetchOrder<Object: ManagedObject>: Sendable {
    let term: OrderTerm
    let isAscending: Bool

    /// From the smallest to the largest; objects without a value first.
    public static func ascending(
        _ keyPath: KeyPath<Object, some AttributeValue>
    ) -> FetchOrder<Object> {
        FetchOrder(term: .key(.keyPath(ModelKeyPath(keyPath: keyPath))), isAscending: true)
    }

    /// From the largest to the smallest; objects without a value last.
    public static func descending(
        _ keyPath: KeyPath<Object, some AttributeValue>
    ) -> FetchOrder<Object> {
        FetchOrder(term: .key(.keyPath(ModelKeyPath(keyPath: keyPath))), isAscending: false)
    }

    /// By a property, or a path of to-one relationships to one, by name: from the smallest.
    public static func ascending(_ name: String) -> FetchOrder<Object> {
        FetchOrder(term: .key(.name(name)), isAscending: true)
    }

    /// By a property, or a path of to-one relationships to one, by name: from the largest.
    public static func descending(_ name: String) -> FetchOrder<Object> {
        FetchOrder(term: .key(.name(name)), isAscending: false)
    }

    /// By what is worked out of each group, from the smallest: for a ``Selection``.
    public static func ascending(
        _ aggregate: Aggregate<Object, some Sendable>
    ) -> FetchOrder<Object> {
        FetchOrder(term: .aggregate(aggregate.term), isAscending: true)
    }

    /// By what is worked out of each group, from the largest: for a ``Selection``.
    public static func descending(
        _ aggregate: Aggregate<Object, some Sendable>
    ) -> FetchOrder<Object> {
        FetchOrder(term: .aggregate(aggregate.term), isAscending: false)
    }

    /// - Throws: ``QueryError`` when the path does not fit the model, or leads to many values.
    func sorting(of entity: GraphEntity, in schema: Schema) throws(QueryError) -> Sorting {
        guard case .key(let key) = term else {
            throw QueryError(
                "Objects of '\(entity.schema.name)' cannot be sorted by an aggregate. Select columns and "
                    + "group by one of them, or sort by an attribute.")
        }
        let path = try key.path(of: entity, in: schema)
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
            if target.stores.count > 1, query.filter.namesEntries {
                throw QueryError(
                    "An entry, a tag or the head is another moment in each of \(target.stores.count) stores. "
                        + "Give a date, or set 'affectedStores' to one store.")
            }
        }
        return query
    }

    /// The largest number of objects; nil for all.
    func countMaximum() throws(QueryError) -> Int? {
        guard let limit, limit != 0 else { return nil }
        guard limit > 0 else {
            throw QueryError(
                "A limit of \(limit) finds nothing. Give the largest number of objects, or 0 or "
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
        if isReversed { query = query.reversed }
        query.start = start
        return query
    }
}
