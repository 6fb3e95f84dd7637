internal import DaybookLMDB
package import DaybookObjectModel

// Queries that begin at a place: one page of what a query finds, without the pages before it.

extension Snapshot {
    /// Whether a page of a query is found without a look at those before it: no index serves the condition, and
    /// the order is that of the rows, or exactly that of the records of an index.
    ///
    /// Where many objects share a value, the records of an index that is walked in any other way do not tell where
    /// among them a page begins. Nor do the rows of several entities, each of which may have to be walked far for
    /// one match.
    package func hasPlaces(_ query: Query) throws -> Bool {
        let plan = try plan(query)
        if isLatest {
            // A page has a limit, whatever the query has.
            var page = query
            page.limit = 1
            if let walk = try CompoundWalk(page, plan, self), walk.servesFilter,
                walk.isExact(query)
            {
                return true
            }
        }
        guard case .scan = plan.access else { return false }
        if query.sortings.isEmpty { return query.entities.count == 1 || query.asksForAll }
        return try isLatest && query.isInIndexOrder && orderIndex(of: query) != nil
    }

    /// The objects of a query without sortings that begins at a place, in the order of their numbers; nil for
    /// another query.
    ///
    /// - Complexity: O(log *n* + *r*) page reads, *r* the number of rows from the place to the last one that
    ///   is found; O(*n*) backwards in the past.
    func fetchInRowOrder(_ query: Query) throws -> [ObjectID]? {
        guard query.isPart, query.sortings.isEmpty, isLatest || !query.descendsAmongEquals else {
            return nil
        }
        let window = query.windowEnd ?? .max
        var found: [ObjectID] = []
        for number in query.entities.sorted() {
            guard let entity = schema.entity(number) else { continue }
            let program = try RowProgram(query.filter, for: entity, in: self)
            var count = 0
            try walkRows(of: number, from: query) { object, row, bytes in
                guard query.isBehindStart(object, []),
                    try accepts(object, row, bytes, program)
                else { return .proceed }
                found.append(object)
                count += 1
                return count == window ? .stop : .proceed
            }
        }
        // The numbers of an entity and its subentities interleave.
        if query.entities.count > 1 { found.sort(by: query.breaksTie(_:before:)) }
        return Array(found.prefix(window).dropFirst(max(0, query.offset)))
    }

    private func walkRows(
        of entity: EntityNumber, from query: Query,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws {
        let place = query.start.map {
            StoreKey.object(ObjectID(entity: entity, number: $0.object.number))
        }
        if query.descendsAmongEquals {
            let end = place.flatMap(StoreKey.end(of:)) ?? StoreKey.end(of: entity)
            _ = try projection.walkRows(
                from: StoreKey.entity(entity), to: end, order: .descending, in: transaction, body)
        } else if isLatest {
            _ = try projection.walkRows(
                from: place ?? StoreKey.entity(entity), to: StoreKey.end(of: entity),
                in: transaction, body)
        } else {
            _ = try projection.walkPast(
                from: place ?? StoreKey.entity(entity), to: StoreKey.end(of: entity),
                at: sequence, in: transaction, body)
        }
    }
}

extension Query {
    /// Whether the records of the index of the only sorting come in the order of the query.
    var isInIndexOrder: Bool {
        sortings.count == 1 && entities.count == 1
            && sortings[0].isAscending != descendsAmongEquals
    }
}
