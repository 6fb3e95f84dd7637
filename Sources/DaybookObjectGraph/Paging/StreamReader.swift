import DaybookObjectModel

/// Reads what a request finds page by page, all of it in the state of the stores in which it began.
///
/// Between two pages nothing is open: each is looked up behind the last object of the one before. Where that
/// would mean to look through all objects for each page, the identifiers are listed at the beginning.
///
/// Confined to the context's queue.
final class StreamReader<Object: ManagedObject> {
    private let context: ManagedObjectContext
    private let request: FetchRequest<Object>
    private let pageSize: Int
    private var rest = Rest.all

    /// What is still to be read.
    private enum Rest {
        case all
        /// What a query finds in a store, up to a number of objects.
        case behind(Query, PersistentStore, count: Int, ReadState)
        case listed(ArraySlice<GraphID>, ReadState)
        case nothing
    }

    init(_ request: FetchRequest<Object>, in context: ManagedObjectContext) {
        self.request = request
        self.context = context
        pageSize = request.fetchBatchSize > 0 ? request.fetchBatchSize : Self.usualPageSize
    }

    /// So many objects share the cost of finding the page.
    private static var usualPageSize: Int { 256 }

    /// The next objects; none at the end.
    ///
    /// Once it has thrown, there are no more.
    func nextPage() throws -> [Object] {
        context.requireQueue()
        let paths = try request.prefetchPaths(in: context.coordinator.model)
        let before = rest
        rest = .nothing
        var current = try begun(before)
        while let (ids, state, next) = try ids(of: current) {
            let objects = try read(ids, state, paths)
            // A page may be of objects that are all deleted here.
            if !objects.isEmpty {
                rest = next
                return objects
            }
            current = next
        }
        return []
    }

    /// Ends the reading: what was read was not handed out.
    func finish() { rest = .nothing }

    /// Decides how to read, with the first page.
    private func begun(_ rest: Rest) throws -> Rest {
        guard case .all = rest else { return rest }
        context.processPendingChanges()
        let state = try context.parentStore.stateToRead()
        if let (query, store) = try context.queryWithPlaces(of: request, state) {
            return .behind(query, store, count: query.limit ?? .max, state)
        }
        let ids = try context.parentStore.reading(state) { try context.objectIDs(request) }
        return .listed(ids[...], state)
    }

    /// The identifiers of the next page, and what is left then; nil at the end.
    private func ids(of rest: Rest) throws -> ([GraphID], ReadState, Rest)? {
        switch rest {
        case .all, .nothing: return nil
        case .listed(let ids, let state):
            let page = ids.prefix(pageSize)
            guard !page.isEmpty else { return nil }
            return (Array(page), state, .listed(ids.dropFirst(page.count), state))
        case .behind(var query, let store, let count, let state):
            guard count > 0 else { return nil }
            return try context.parentStore.reading(state) {
                // Too much may have changed since for an index of the past.
                let hasPlaces = try context.parentStore.rowFinder?.hasPlaces(query, in: store)
                query.limit = hasPlaces == true ? min(pageSize, count) : count
                let found = try context.parentStore.find(query, in: store)
                guard let last = found.last else { return nil }
                let ids = found.map { GraphID(store: store.number, object: $0) }
                guard hasPlaces == true else {
                    let page = ids.prefix(pageSize)
                    return (Array(page), state, .listed(ids[page.endIndex...], state))
                }
                let source = ContextSource(context: context, store: store, seesPending: false)
                query.offset = 0
                query.start = QueryPlace(
                    keys: try query.sortings.map { try $0.key(of: last, in: source) },
                    object: last)
                let isLast = found.count < min(pageSize, count)
                return (
                    ids, state,
                    isLast ? .nothing : .behind(query, store, count: count - found.count, state)
                )
            }
        }
    }

    /// The objects with their values; those that the context has deleted are left out.
    private func read(
        _ ids: [GraphID], _ state: ReadState, _ paths: [[String]]
    ) throws -> [Object] {
        let objects = context.registeredObjects(for: ids)
        if context.parentStore.mayHaveMerged(after: state) {
            // What has been merged must not be missing in objects that come later.
            try context.realize(objects)
        } else {
            try context.realize(objects, in: state)
        }
        try context.prefetch(paths, from: objects)
        return objects.compactMap { object in
            object.isFault || object.isDeleted ? nil : object as? Object
        }
    }
}

extension ManagedObjectContext {
    /// What to read page by page for a request; nil where a page cannot be found without the ones before it,
    /// or what is pending here counts.
    fileprivate func queryWithPlaces<Object>(
        of request: FetchRequest<Object>, _ state: ReadState
    ) throws -> (Query, PersistentStore)? {
        guard let finder = parentStore.rowFinder,
            journal.isAtBase || !request.includesPendingChanges
        else { return nil }
        let stores = try stores(for: request)
        guard stores.count == 1, let target = targets(stores).first, let store = target.store,
            case .query(let query) = try plan(request, for: target)
        else { return nil }
        let hasPlaces = try parentStore.reading(state) { try finder.hasPlaces(query, in: store) }
        return hasPlaces ? (query, store) : nil
    }
}
