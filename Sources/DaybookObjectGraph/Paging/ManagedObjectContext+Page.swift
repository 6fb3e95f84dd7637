import DaybookJournalLog
import DaybookObjectModel
import Foundation

extension ManagedObjectContext {
    /// One page of what a request finds, what is pending in this context included.
    ///
    /// All of it is read in one state of the stores.
    ///
    /// - Parameter page: Which page.
    /// - Returns: The objects, and the cursors to the pages beside them.
    /// - Throws: As ``fetch(_:)-(FetchRequest<Object>)``. ``QueryError`` also when the cursor belongs to
    ///   another store or another order, when the size is not positive, and when the request has a limit or
    ///   an offset, which pages have none of.
    /// - Complexity: O(log *n* + *s*) page reads, *s* the size, where no index serves the condition, and the
    ///   request has no order or an index of the attribute that it is sorted by first; then also those of
    ///   the objects that share the first key of the cursor, when more is sorted by, the order is
    ///   descending, there are subentities, or the state is a past one. Otherwise as ``fetch(_:)-(FetchRequest<Object>)``, in O(*s*) memory.
    public func fetch<Object>(_ page: PageRequest<Object>) throws -> Page<Object> {
        requireQueue()
        processPendingChanges()
        var request = page.request
        guard page.size > 0, page.size < .max else {
            throw QueryError("A page of \(page.size) objects cannot be had. Give a positive size.")
        }
        guard request.limit ?? 0 == 0, request.offset == 0 else {
            throw QueryError(
                "A request with a limit or an offset has no pages. Leave them out: the size of the page "
                    + "limits it.")
        }
        let paths = try request.prefetchPaths(in: coordinator.model)
        // One more shows whether there is another page.
        request.limit = page.size + 1
        request.isReversed = page.isBackward
        let state = try parentStore.stateToRead()
        var found = try parentStore.reading(state) {
            try placed(request, at: page.cursor)
        }
        let isMore = found.count > page.size
        if isMore { found.removeLast() }
        if found.isEmpty, let cursor = page.cursor {
            return emptyPage(at: cursor, isBackward: page.isBackward, state)
        }
        let isFromCursor = page.cursor != nil && !found.isEmpty
        let hasNext = page.isBackward ? isFromCursor : isMore
        let hasPrevious = page.isBackward ? isMore : isFromCursor
        if page.isBackward { found.reverse() }
        let query = try page.request.queryForAll(in: coordinator.model)
        let next = hasNext ? found.last : nil
        let previous = hasPrevious ? found.first : nil
        let objects = try objects(
            for: found.map { GraphID(store: $0.store.number, object: $0.place.object) },
            of: request, prefetching: paths)
        return Page(
            objects: objects.compactMap { $0 as? Object },
            next: try next.map { try cursor(at: $0, of: query, state) },
            previous: try previous.map { try cursor(at: $0, of: query, state) })
    }

    /// An object that a request has found, and where.
    private struct PlacedObject {
        let store: PersistentStore
        let place: QueryPlace
    }

    /// What is left when all objects on one side of a cursor are gone.
    private func emptyPage<Object>(
        at cursor: PageCursor, isBackward: Bool, _ state: ReadState
    ) -> Page<Object> {
        let store = coordinator.persistentStores.first { $0.identifier == cursor.token.store }
        let sequence = store.flatMap { state.sequences[$0.number]?.rawValue } ?? 0
        let back = cursor.beyondItsObject(isBackward: isBackward, readAt: sequence)
        return Page(
            objects: [], next: isBackward ? back : nil, previous: isBackward ? nil : back)
    }

    private func cursor(
        at found: PlacedObject, of query: Query, _ state: ReadState
    ) throws -> PageCursor {
        PageCursor(
            try query.token(
                for: found.place, inStore: found.store.identifier,
                readAt: state.sequences[found.store.number]?.rawValue ?? 0))
    }

    /// The objects behind a cursor, up to the limit of the request.
    private func placed<Object>(
        _ request: FetchRequest<Object>, at cursor: PageCursor?
    ) throws -> [PlacedObject] {
        let stores = try stores(for: request)
        let query = try request.queryForAll(in: coordinator.model)
        let place = try cursor.map { try query.place(of: $0.token) }
        let index = cursor.flatMap { cursor in
            stores.firstIndex { $0.identifier == cursor.token.store }
        }
        guard index != nil || place == nil else {
            throw QueryError(
                "The cursor belongs to a store that the request does not search. Ask for the first page, "
                    + "and go on with the cursor that comes with it.")
        }
        var found: [(object: PlacedObject, rank: Int)] = []
        for (rank, target) in targets(stores).enumerated() {
            guard let store = target.store else { continue }
            var part = request
            part.start = place.map { place in
                guard let index, index != rank else { return place }
                // Among equals, those of a store that was added earlier come first.
                let isBehind = rank > index
                return QueryPlace(keys: place.keys, object: isBehind ? .first : .last)
            }
            let source = ContextSource(
                context: self, store: store, seesPending: request.includesPendingChanges)
            for id in try objectIDs(part, target) {
                let keys = try query.sortings.map { try $0.key(of: id.object, in: source) }
                let place = QueryPlace(keys: keys, object: id.object)
                found.append((PlacedObject(store: store, place: place), rank))
            }
        }
        if stores.count > 1 {
            found.sort { left, right in
                for (index, sorting) in query.sortings.enumerated() {
                    let order = sorting.order(
                        ofKeys: left.object.place.keys[index], right.object.place.keys[index])
                    if order != .orderedSame { return order == .orderedAscending }
                }
                if left.rank != right.rank {
                    return (left.rank < right.rank) != request.isReversed
                }
                return query.breaksTie(
                    left.object.place.object, before: right.object.place.object)
            }
        }
        return found.prefix(request.limit ?? .max).map(\.object)
    }
}

extension ObjectID {
    /// Before all objects.
    fileprivate static let first = ObjectID(entity: EntityNumber(rawValue: 0), number: 0)
    /// Behind all objects.
    fileprivate static let last = ObjectID(entity: EntityNumber(rawValue: .max), number: .max)
}
