// The room of fetching: requests, their conditions and aggregates, and the answers with what is pending laid
// over them. It asks the parent store for rows and the registry for objects, and changes nothing.

import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

extension ManagedObjectContext {
    /// The objects that meet a request, what is pending in this context included.
    ///
    /// A fetch never changes the values of an object that has been read or edited here, unless the
    /// request asks for it with ``FetchRequest/shouldRefreshRefetchedObjects``.
    ///
    /// - Throws: ``QueryError`` when the request does not fit the model; ``StoreError`` when the store
    ///   cannot be read.
    /// - Complexity: O(*m* log *n*) page reads when an index serves the condition, *m* the number of
    ///   matches and *n* of objects; otherwise O(*n*).
    @inlinable  // So the caller specializes the cast, otherwise half of a fetch.
    public func fetch<Object>(_ request: FetchRequest<Object>) throws -> [Object] {
        var objects: [Object] = []
        let readiness: Readiness
        do {
            readiness = try forEachFound(by: request) {
                if let object = $0 as? Object { objects.append(object) }
            }
        } catch {
            // Objects that were known before stay as they were.
            for object in objects { forgetPrepared(object) }
            throw error
        }
        // Awaking calls the program, which may save, so it must wait until the read has ended.
        guard readiness == .prepared else { return objects }
        let found = objects.span
        for index in found.indices { awakePrepared(found[index]) }
        return objects
    }

    // Generic code is called from other modules and so never specialized; what is done for each object
    // is not in it.

    /// What remains to be done with the objects that a fetch has handed out.
    @usableFromInline enum Readiness {
        /// Nothing.
        case ready
        /// Former faults have their rows, and awake with ``awakePrepared(_:)``.
        case prepared
    }

    /// Hands out the objects that meet a request. The callback must not use the context.
    @usableFromInline func forEachFound<Object>(
        by request: FetchRequest<Object>, _ body: (consuming ManagedObject) -> Void
    ) throws -> Readiness {
        let paths = try request.prefetchPaths(in: coordinator.model)
        guard let finder = parentStore.rowFinder,
            let (query, store) = try readOfRows(by: request)
        else {
            for object in try found(by: request, prefetching: paths) { body(object) }
            return .ready
        }
        let readiness = request.returnsObjectsAsFaults ? Readiness.ready : .prepared
        try forEachObjectWithRow(query, store, finder, readiness, body)
        return readiness
    }

    private func found<Object>(
        by request: FetchRequest<Object>, prefetching paths: [[String]]
    ) throws -> [ManagedObject] {
        try objects(for: try objectIDs(request), of: request, prefetching: paths)
    }

    /// The objects of identifiers, with what a request wants to be read of them.
    func objects<Object>(
        for ids: [GraphID], of request: FetchRequest<Object>, prefetching paths: [[String]]
    ) throws -> [ManagedObject] {
        let objects = registeredObjects(for: ids)
        if request.shouldRefreshRefetchedObjects { refreshRefetched(objects) }
        try prefetch(paths, from: objects)
        if !request.returnsObjectsAsFaults {
            try realize(objects)
        } else if request.includesPropertyValues {
            try readAhead(objects)
        } else if request.fetchBatchSize > 0 {
            registry.rememberBatches(of: objects, size: request.fetchBatchSize)
        }
        return objects
    }

    /// The instances for identifiers: registered ones, or new faults.
    func registeredObjects(for ids: [GraphID]) -> [ManagedObject] {
        registry.reserve(ids.count)
        return ids.map { object($0) }
    }

    /// What to read for a request that asks for values, when one read brings both the values and the
    /// objects; nil where one read is not enough.
    private func readOfRows<Object>(
        by request: FetchRequest<Object>
    ) throws -> (Query, PersistentStore)? {
        requireQueue()
        guard !request.returnsObjectsAsFaults || request.includesPropertyValues,
            !request.shouldRefreshRefetchedObjects,
            request.relationshipKeyPathsForPrefetching.isEmpty
        else { return nil }
        processPendingChanges()
        guard journal.isAtBase || !request.includesPendingChanges else { return nil }
        let stores = try stores(for: request)
        guard stores.count == 1, let target = targets(stores).first, let store = target.store,
            case .query(let query) = try plan(request, for: target)
        else { return nil }
        return (query, store)
    }

    /// Hands out the objects of a store that a query finds, with rows for those that are faults.
    private func forEachObjectWithRow(
        _ query: Query, _ store: PersistentStore, _ finder: any RowFinder,
        _ readiness: Readiness,
        _ body: (consuming ManagedObject) -> Void
    ) throws {
        let cache = parentStore.isHeld ? nil : coordinator.rows
        let ticket = coordinator.rows.ticket()
        let number = store.number
        try finder.forEachRows(of: query, in: store) { rows in
            let binding = binding(rows.entity)
            let batch =
                rows.count < RowPage.leastCount
                ? nil : cache.map { RowPage(rows, in: number, for: $0) }
            var isHeld = false
            // Each object is finished at once, while it is in the processor's cache.
            rows.forEach { object, row in
                let id = GraphID(store: number, object: object)
                let object = registry.object(id) { binding.makeFault(id) }
                if object.status.isFault {
                    if let batch {
                        object.holdRow(with: batch)
                        isHeld = true
                    } else {
                        share(row, of: object, ticket)
                    }
                    if readiness == .prepared { object.prepare(row) }
                }
                body(object)
            }
            if isHeld, let batch { cache?.hold(batch, ticket) }
        }
    }

    private func refreshRefetched(_ objects: [ManagedObject]) {
        for object in objects where !object.isFault && !object.status.isTemporary {
            refreshMerging(object)
            news.record(object, as: .refreshed)
        }
        postChanges()
    }

    /// How many objects meet a request.
    ///
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``.
    public func count<Object>(_ request: FetchRequest<Object>) throws -> Int {
        requireQueue()
        processPendingChanges()
        if let count = try parentStore.inOneTurn({ try countInStores(request) }) { return count }
        return try objectIDs(request).count
    }

    /// How a request will be carried out: which indexes serve it and about how many objects are looked at, or
    /// that the store is scanned, or that a Foundation predicate is evaluated in memory and why.
    ///
    /// The numbers are those of the stores at hand: each index is asked how much of it lies within a range. Where
    /// indexes would find more than about a fifth of all objects, these are walked instead.
    ///
    /// Where the condition or the order looks at related objects and some of these have pending changes
    /// in this context, all objects are read, until the changes are saved.
    ///
    /// - Throws: ``QueryError`` when the request does not fit the model.
    public func explain<Object>(_ request: FetchRequest<Object>) throws -> String {
        requireQueue()
        processPendingChanges()
        let targets = targets(try stores(for: request))
        let none = QueryTarget(model: coordinator.model, store: nil, stores: [])
        switch try plan(request, for: targets.first ?? none) {
        case .query(let query):
            let stores = targets.compactMap(\.store)
            if request.includesPendingChanges, !journal.isAtBase,
                !stores.allSatisfy({ isAnsweredBelow(query, $0) })
            {
                return "all objects are read: the request looks at related objects, and these have "
                    + "pending changes"
            }
            var explanations: [String] = []
            for target in targets {
                guard let store = target.store,
                    case .query(let own) = try plan(request, for: target)
                else { continue }
                let explanation = try parentStore.explanation(of: own, in: store)
                if !explanations.contains(explanation) { explanations.append(explanation) }
            }
            if explanations.isEmpty { return "nothing is read: no store has such objects" }
            return explanations.joined(separator: "; in another store: ")
        case .memory(let reason):
            return "Every object of '\(request.entityName)' is read and the predicate evaluated in "
                + "memory, because no filter stands for \(reason)."
        }
    }

    /// How a request is carried out.
    enum FetchPlan {
        case query(Query)
        case memory(reason: String)
    }

    func plan<Object>(
        _ request: FetchRequest<Object>, for target: QueryTarget
    ) throws -> FetchPlan {
        do {
            return .query(try request.query(for: target))
        } catch let error as NotLowerable {
            guard request.includesPendingChanges else {
                throw QueryError(
                    "The predicate is evaluated on the objects of the context, with what is pending of them, "
                        + "because no filter stands for \(error.expression). Leave "
                        + "'includesPendingChanges' on, or say it without that.")
            }
            return .memory(reason: error.expression)
        }
    }

    func objectIDs<Object>(_ request: FetchRequest<Object>) throws -> [GraphID] {
        requireQueue()
        return try parentStore.inOneTurn { try localObjectIDs(request) }
    }

    private func localObjectIDs<Object>(_ request: FetchRequest<Object>) throws -> [GraphID] {
        processPendingChanges()
        let stores = try stores(for: request)
        let targets = targets(stores)
        guard targets.count == 1 else { return try objectIDs(request, inAll: targets) }
        return try objectIDs(request, targets[0])
    }

    func objectIDs<Object>(
        _ request: FetchRequest<Object>, _ target: QueryTarget
    ) throws -> [GraphID] {
        guard let store = target.store else { return [] }
        let found: [ObjectID]
        switch try plan(request, for: target) {
        case .query(let query) where request.includesPendingChanges && !journal.isAtBase:
            found = try fetchOverPending(query, store)
        case .query(let query):
            found = try parentStore.find(query, in: store)
        case .memory:
            found = try fetchInMemory(request, target, store)
        }
        return found.map { GraphID(store: store.number, object: $0) }
    }

    /// Reads every object of the entity and evaluates the condition on it.
    private func fetchInMemory<Object>(
        _ request: FetchRequest<Object>, _ target: QueryTarget, _ store: PersistentStore
    ) throws -> [ObjectID] {
        let query = try request.queryForAll(in: coordinator.model)
        let entity = try request.entity(in: coordinator.model)
        var all = query
        all.limit = nil
        all.offset = 0
        let isOverlaid = request.includesPendingChanges && !journal.isAtBase
        let candidates =
            isOverlaid
            ? try fetchOverPending(all, store)
            : try parentStore.find(all, in: store)
        let source = ContextSource(
            context: self, store: store, seesPending: request.includesPendingChanges)
        let matches = try candidates.filter { id in
            guard let object = object(GraphID(store: store.number, object: id)) as? Object else {
                return false
            }
            return try request.condition?.holds(
                for: object, of: entity, for: target, source) ?? true
        }
        return try query.arranged(matches, in: source)
    }
}

/// Values as a context sees them: its own where it has edits, the store's elsewhere.
struct ContextSource: FilterSource {
    let context: ManagedObjectContext
    let store: PersistentStore
    /// Whether edits of the context count.
    var seesPending = true

    func value(of property: SchemaProperty, in object: ObjectID) throws -> Value {
        let id = GraphID(store: store.number, object: object)
        return seesPending
            ? try context.currentValue(of: property, in: id)
            : try context.parentStore.value(of: property, in: id)
    }

    func exists(_ object: ObjectID) throws -> Bool {
        let id = GraphID(store: store.number, object: object)
        return try seesPending ? context.isFound(id) : context.parentStore.isFound(id)
    }

    func holds(_ question: FilterPast, of object: ObjectID) throws -> Bool {
        try context.parentStore.holds(question, of: GraphID(store: store.number, object: object))
    }

    func members(of property: SchemaProperty, in object: ObjectID) throws -> [ObjectID] {
        if property.slot != nil {
            return try value(of: property, in: object).reference.map { [$0] } ?? []
        }
        let id = GraphID(store: store.number, object: object)
        guard seesPending else {
            let schema = context.coordinator.model.schema
            guard let own = schema.entity(object.entity)?.property(property.number) else {
                return []
            }
            return try context.parentStore.freshMembers(of: own, in: id).sorted
        }
        let schema = context.binding(object.entity).schema
        guard let own = schema.property(property.number) else { return [] }
        return try context.freshMembers(of: own, in: id).sorted
    }
}
