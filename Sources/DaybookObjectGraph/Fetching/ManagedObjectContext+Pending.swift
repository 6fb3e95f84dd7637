import DaybookObjectModel
import DaybookSnapshotStore

// What is pending in a context is laid over what lies under it. What lies there answers for all objects that have
// not changed here, in order and within limits, so only the changed ones are looked at.

extension ManagedObjectContext {
    /// Applies pending changes to what lies under the context: condition, order, limit and offset apply
    /// to the whole.
    ///
    /// - Complexity: As for the query under the context, and O(*p* log *m*) reads, *p* the number of objects
    ///   with pending changes and *m* that of the matches within the limit; O(*n*) reads, *n* the number of
    ///   all objects, when related objects have changed on which condition or order depend.
    func fetchOverPending(_ query: Query, _ store: PersistentStore) throws -> [ObjectID] {
        let source = ContextSource(context: self, store: store)
        guard isAnsweredBelow(query, store) else {
            return try query.arranged(matchesHere(query, store), in: source)
        }
        if let overlay = try overlay(query, store) {
            return try overlay.laid(over: parentStore.find(overlay.below, in: store)) {
                try query.keys(of: $0, in: source)
            }
        }
        var wanted = query
        wanted.offset = 0
        wanted.sortings = []
        wanted.limit = nil
        wanted.start = nil
        let stored = try parentStore.find(wanted, in: store).filter {
            journal.overlay(of: GraphID(store: store.number, object: $0)) == nil
        }
        let matches = try pendingMatches(query, store, source)
        return try query.arranged(stored + matches, in: source)
    }

    /// What is pending as a query that is answered below sees it; nil where what lies below does not know the
    /// order of the query.
    func overlay(_ query: Query, _ store: PersistentStore) throws -> PendingOverlay? {
        guard query.sortings.allSatisfy({ $0.path.steps.allSatisfy(\.isPersistent) }) else {
            return nil
        }
        let source = ContextSource(context: self, store: store)
        var keys: [ObjectID: [Value]] = [:]
        for object in try pendingMatches(query, store, source) {
            keys[object] = try query.keys(of: object, in: source)
        }
        return PendingOverlay(query, changed: Set(changedObjects(of: query, store)), keys)
    }

    /// How many objects a query finds with what is pending, whatever its offset and limit.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - others: Objects that do not count.
    ///   - store: The store.
    /// - Returns: Their number.
    /// - Throws: As ``fetchOverPending(_:_:)``.
    func countOverPending(
        _ query: Query, without others: [ObjectID], _ store: PersistentStore
    ) throws -> Int {
        let others = Set(others)
        var query = query
        query.sortings = []
        guard isAnsweredBelow(query, store) else {
            return try matchesHere(query, store).count { !others.contains($0) }
        }
        let changed = others.union(changedObjects(of: query, store))
        let source = ContextSource(context: self, store: store)
        let matches = try pendingMatches(query, store, source)
        return try parentStore.count(query, without: changed.sorted(), in: store)
            + matches.count { !others.contains($0) }
    }

    /// Whether what lies under the context is right about every object that has not changed here.
    func isAnsweredBelow(_ query: Query, _ store: PersistentStore) -> Bool {
        let schema = coordinator.model.schema
        let related = query.destinations.flatMap { schema.entity($0)?.family ?? [] }
        return !journal.net(of: Set(related).sorted()).contains {
            $0.object.graphID.store == store.number
        }
    }

    /// The objects with pending changes that a query may be about.
    func changedObjects(of query: Query, _ store: PersistentStore) -> [ObjectID] {
        journal.net(of: query.entities).lazy
            .filter { !$0.isAnnihilated && $0.object.graphID.store == store.number }
            .map(\.object.graphID.object)
    }

    /// The objects with pending changes that meet a query as they are here.
    func pendingMatches(_ query: Query, _ store: PersistentStore) throws -> [ObjectID] {
        try pendingMatches(query, store, ContextSource(context: self, store: store))
    }

    private func pendingMatches(
        _ query: Query, _ store: PersistentStore, _ source: ContextSource
    ) throws -> [ObjectID] {
        var matches: [ObjectID] = []
        for item in journal.net(of: query.entities) {
            let id = item.object.graphID
            guard id.store == store.number, !item.object.isDeleted, !item.isAnnihilated,
                try query.matches(id.object, in: source)
            else { continue }
            matches.append(id.object)
        }
        return matches
    }

    /// All objects that meet a query, each evaluated as it is here.
    ///
    /// A condition on related objects may depend on a pending change to one of those, so what lies under the
    /// context cannot answer it.
    private func matchesHere(_ query: Query, _ store: PersistentStore) throws -> [ObjectID] {
        let source = ContextSource(context: self, store: store)
        let all = Query(query.entity, includesSubentities: query.includesSubentities)
        var matches: [ObjectID] = []
        for id in try parentStore.find(all, in: store)
        where journal.overlay(of: GraphID(store: store.number, object: id)) == nil {
            if try query.matches(id, in: source) { matches.append(id) }
        }
        return try matches + pendingMatches(query, store, source)
    }
}

/// What is pending in a context as a query sees it, to be laid over what lies below.
struct PendingOverlay: Sendable {
    /// What to ask below: as many more as may have to be left out.
    let below: Query
    private let query: Query
    /// The objects with pending changes.
    private let changed: Set<ObjectID>
    /// Those of them that match, with the keys by which they are sorted.
    private let keys: [ObjectID: [Value]]

    init(_ query: Query, changed: Set<ObjectID>, _ keys: [ObjectID: [Value]]) {
        (self.query, self.changed, self.keys) = (query, changed, keys)
        var below = query
        below.offset = 0
        below.limit = query.windowEnd.map { end in
            let (limit, isTooGreat) = end.addingReportingOverflow(changed.count)
            return isTooGreat ? .max : limit
        }
        self.below = below
    }

    /// The objects of the query, in its order and within its limits.
    ///
    /// - Parameters:
    ///   - stored: What was found below, in order.
    ///   - storedKeys: The keys by which one of these is sorted.
    /// - Returns: The objects.
    /// - Throws: What `storedKeys` throws.
    func laid(
        over stored: [ObjectID], by storedKeys: (ObjectID) throws -> [Value]
    ) throws -> [ObjectID] {
        let unchanged = stored.filter { !changed.contains($0) }
        return try query.arranged(Array(keys.keys), among: unchanged) {
            try keys[$0] ?? storedKeys($0)
        }
    }
}
