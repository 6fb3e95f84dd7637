internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Snapshot {
    /// Passes the objects that match a query to `body`, each with its row.
    ///
    /// An index or connections serve the filter, or all objects are walked. Objects of one entity come in the
    /// order of their numbers, those of several entity by entity. `body` may stop the walk.
    ///
    /// - Parameters:
    ///   - query: The query, whose order and limits are left to the caller.
    ///   - skipped: How many matches to pass over. Where all objects match, these are not read.
    ///   - body: Takes an object, its row and the layout of that. The bytes are valid only inside.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a row cannot be read; ``QueryError``
    ///   when a pattern takes too long; what `body` throws.
    /// - Complexity: O(*c* log *n*) page reads, *c* the number of objects that the index yields;
    ///   O(*n*) without one.
    func forEachMatch(
        of query: Query, skipping skipped: Int = 0,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws {
        try forEachMatch(of: query, among: candidates(query), skipping: skipped, body)
    }

    /// The same for objects that were looked up before; nil for all.
    func forEachMatch(
        of query: Query, among candidates: Candidates?, skipping skipped: Int = 0,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws {
        var skipped = skipped
        let filter = candidates?.rest(of: query.filter) ?? query.filter
        for number in query.entities.sorted() {
            guard let entity = schema.entity(number) else { continue }
            let step: WalkStep
            if isLatest, query.asksForAll {
                step = try projection.walkRows(
                    of: number, skipping: &skipped, in: transaction, body)
            } else {
                let program = try RowProgram(filter, for: entity, in: self)
                step = try walk(number, candidates?.objects) { object, row, bytes in
                    guard try accepts(object, row, bytes, program) else { return .proceed }
                    guard skipped == 0 else {
                        skipped -= 1
                        return .proceed
                    }
                    return try body(object, row, bytes)
                }
            }
            if step == .stop { return }
        }
    }

    private func walk(
        _ entity: EntityNumber, _ candidates: [ObjectID]?,
        _ body: (ObjectID, RowLayout, RawSpan) throws -> WalkStep
    ) throws -> WalkStep {
        guard let candidates else {
            return try projection.walk(
                entity, at: sequence, isLatest: isLatest, in: transaction, body)
        }
        // They are in order, so those of an entity lie side by side.
        let begin = candidates.firstIndex { $0.entity == entity } ?? candidates.endIndex
        let end = candidates[begin...].lastIndex { $0.entity == entity }.map { $0 + 1 } ?? begin
        return try projection.walkRows(
            of: candidates[begin..<end], at: sequence, in: transaction, body)
    }

    func accepts(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, _ program: RowProgram
    ) throws -> Bool {
        do {
            return try program.accepts(object, row, bytes, in: self)
        } catch let failure as DecodingFailure {
            throw projection.unreadable(object, failure)
        }
    }

    /// Objects that include all matches of a query.
    struct Candidates {
        /// The objects, in order.
        let objects: [ObjectID]
        /// The conditions on the past that all of them meet, and that need not be tried again.
        fileprivate let met: [FilterChange]

        /// What has yet to be tried of a filter.
        fileprivate func rest(of filter: Filter) -> Filter {
            switch filter {
            case .past(let path, .change(let change))
            where path == FilterPath() && met.contains(change): .constant(true)
            case .and(let filters) where !met.isEmpty: .and(filters.map(rest))
            default: filter
            }
        }
    }

    /// Objects that include all matches; nil when all must be walked.
    func candidates(_ query: Query) throws -> Candidates? {
        try candidates(query, plan(query))
    }

    /// The same by a plan that was made before.
    func candidates(_ query: Query, _ plan: FilterPlan) throws -> Candidates? {
        if let objects = try objects(by: plan, query.entities) {
            return Candidates(objects: objects, met: plan.met)
        }
        if case .scan = plan.access { return nil }
        // More were found through a relationship, or have changed since, than was expected.
        let other = try self.plan(query, joins: .avoided)
        return try objects(by: other, query.entities).map {
            Candidates(objects: $0, met: other.met)
        }
    }

    /// The objects that a plan finds, in order; nil when all must be walked.
    private func objects(by plan: FilterPlan, _ entities: [EntityNumber]) throws -> [ObjectID]? {
        switch plan.access {
        case .objects(let objects): return objects.sorted()
        case .referrers(let property, let object):
            return try projection.referrers(
                to: object, property.number, at: sequence, in: transaction)
        case .index(let property, let ranges):
            guard let index = try index(of: property) else { return nil }
            var objects: [ObjectID] = []
            for range in ranges {
                let (lower, upper) = StoreKey.bounds(of: range, property.number)
                try scan(index, from: lower, to: upper) { _, object, _ in
                    objects.append(object)
                    return .proceed
                }
            }
            return objects.inOrder
        case .compound(let compound):
            guard let index = try index(of: compound.index) else { return nil }
            var objects: [ObjectID] = []
            for range in compound.ranges {
                let (lower, upper) = StoreKey.bounds(of: range, in: compound.index)
                guard lower.lexicographicallyPrecedes(upper) else { continue }
                try scan(index, from: lower, to: upper) { _, object, _ in
                    objects.append(object)
                    return .proceed
                }
            }
            return objects.inOrder
        case .join(let property, let condition):
            return try connected(through: property, with: condition)
        case .union(let plans):
            var all: [ObjectID] = []
            for plan in plans {
                guard let objects = try objects(by: plan, entities) else { return nil }
                all += objects
            }
            return all.inOrder
        case .intersection(let plans):
            var common: [ObjectID]?
            for plan in plans {
                guard let objects = try objects(by: plan, entities) else { return nil }
                common = common?.common(with: objects) ?? objects
            }
            return common
        case .changes(let change):
            let (first, last) = try entries(since: change.since, until: change.until)
            guard first <= last else { return [] }
            return try changedObjects(of: entities, after: first.previous, through: last)
        case .changeIndex(let change, let isByAuthor):
            return try indexedChanges(of: change, byAuthor: isByAuthor)
        case .everIndex(let property, let ranges):
            return try objects(everWith: property, in: ranges)
        case .scan: return nil
        }
    }

    // MARK: - Joins

    /// The objects that a relationship leads from to one that meets a condition, in order; nil where it is
    /// cheaper to find them in another way.
    ///
    /// - Parameters:
    ///   - property: The relationship.
    ///   - condition: The condition on what it leads to.
    /// - Returns: The objects, perhaps with others of entities that are not asked for.
    /// - Throws: As ``forEachMatch(of:_:)``.
    private func connected(
        through property: SchemaProperty, with condition: Filter
    ) throws -> [ObjectID]? {
        guard let end = property.end, let destination = schema.entity(end.destination) else {
            return nil
        }
        // Of very many it is faster to walk all than to look each up.
        let limit = try transaction.count(projection.tables.rows) / 4
        var found: [ObjectID] = []
        try forEachMatch(of: Query(destination, filter: condition)) { object, _, _ in
            found += try owners(of: object, property, end)
            return found.count > limit ? .stop : .proceed
        }
        return found.count > limit ? nil : found.inOrder
    }

    /// The objects that a relationship leads from to another.
    private func owners(
        of object: ObjectID, _ property: SchemaProperty, _ end: RelationshipEnd
    ) throws -> [ObjectID] {
        if end.isStored {
            return try projection.referrers(
                to: object, property.number, at: sequence, in: transaction)
        }
        guard let inverse = end.inverse, let own = schema.entity(object.entity)?.property(inverse)
        else { return [] }
        return try members(of: own, in: object)
    }
}

extension [ObjectID] {
    /// Each object once, by number within each entity.
    fileprivate var inOrder: [ObjectID] {
        // The records of one value are in this order.
        var isOrdered = true
        for index in indices.dropFirst() where self[index - 1] >= self[index] {
            isOrdered = false
            break
        }
        if isOrdered { return self }
        var sorted = sorted()
        var kept = 1
        for index in sorted.indices.dropFirst() where sorted[index] != sorted[kept - 1] {
            sorted[kept] = sorted[index]
            kept += 1
        }
        sorted.removeLast(sorted.count - kept)
        return sorted
    }

    /// The objects that are in both; both are in order.
    fileprivate func common(with others: [ObjectID]) -> [ObjectID] {
        var found: [ObjectID] = []
        var next = others.startIndex
        for object in self {
            while next < others.endIndex, others[next] < object { next += 1 }
            guard next < others.endIndex else { break }
            if others[next] == object { found.append(object) }
        }
        return found
    }
}
