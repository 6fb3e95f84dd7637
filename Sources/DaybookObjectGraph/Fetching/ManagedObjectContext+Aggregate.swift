import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    /// Works out a value of the objects that meet a request, what is pending in this context included.
    ///
    /// ```swift
    /// let payroll = try context.fetch(.sum(\Employee.salary))
    /// ```
    ///
    /// No object is made: the store reads the one field of each row, on all of the processor's cores where the
    /// rows are many. With an offset or a limit, with pending changes, and where the condition has to be
    /// evaluated in memory, the objects are found first and their values read one by one; what other
    /// processes save between these reads may count.
    ///
    /// - Parameters:
    ///   - aggregate: The value to work out.
    ///   - request: The objects; all of the entity by default.
    /// - Returns: The value.
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``; ``QueryError`` also when the value does not fit the attribute's type.
    /// - Complexity: As ``fetch(_:)-(FetchRequest<Object>)``.
    public func fetch<Object, Result>(
        _ aggregate: Aggregate<Object, Result>, of request: FetchRequest<Object> = FetchRequest()
    ) throws -> Result {
        requireQueue()
        processPendingChanges()
        let entity = try request.entity(in: coordinator.model)
        let function = aggregate.term.function
        guard let path = try aggregate.term.path(of: entity, in: coordinator.model.schema) else {
            let count = Value.int(Int64(try count(request)))
            guard let result = aggregate.result(count) else {
                throw function.misfit("objects", .int64)
            }
            return result
        }
        let attribute = try path.attribute(for: function, of: entity.schema)
        guard let property = path.steps.last else {
            throw function.misfit(path.text, attribute.type)
        }
        var values = Aggregation(function, of: attribute.type)
        let isInRow = path.steps.count == 1 && property.isPersistent
        if try !isInRow || !aggregateInStores(&values, of: property, request) {
            var found = values
            try parentStore.inOneTurn { try addValues(at: path, of: request, to: &found) }
            values = found
        }
        guard let value = values.value, let result = aggregate.result(value) else {
            throw function.misfit(
                "'\(property.name)' of '\(entity.schema.name)'", attribute.type)
        }
        return result
    }

    /// Has the stores work out an aggregate.
    ///
    /// - Returns: Whether they could.
    private func aggregateInStores<Object>(
        _ values: inout Aggregation, of property: SchemaProperty, _ request: FetchRequest<Object>
    ) throws -> Bool {
        guard !request.includesPendingChanges || journal.isAtBase, request.limit == nil,
            request.offset <= 0, let finder = parentStore.rowFinder
        else { return false }
        var queries: [(Query, PersistentStore)] = []
        for target in targets(try stores(for: request)) {
            guard let store = target.store,
                case .query(let query) = try plan(request, for: target)
            else { return false }
            queries.append((query, store))
        }
        for (query, store) in queries {
            try finder.aggregate(&values, of: property, query, in: store)
        }
        return true
    }

    /// Finds the objects of a request and adds their values.
    private func addValues<Object>(
        at path: FilterPath, of request: FetchRequest<Object>, to values: inout Aggregation
    ) throws {
        let stores = Dictionary(
            coordinator.persistentStores.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for id in try objectIDs(request) {
            guard let store = stores[id.store] else { continue }
            let source = ContextSource(
                context: self, store: store, seesPending: request.includesPendingChanges)
            values.add(try Sorting(path).key(of: id.object, in: source))
        }
    }
}
