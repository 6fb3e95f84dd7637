internal import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

extension Snapshot: FilterSource {
    /// The objects at the other end of a relationship of any kind, in its order.
    ///
    /// The form that returns members is preferred where the types leave both open.
    @_disfavoredOverload
    package func members(of property: SchemaProperty, in object: ObjectID) throws -> [ObjectID] {
        let members: [Member] = try members(of: property, in: object)
        return members.map(\.object)
    }
}

extension Snapshot {
    /// The objects that match a query, in its order.
    ///
    /// At the head an index serves the filter, and with a limit also the first sorting; in the
    /// past, objects are found by their connections or by walking all of them.
    ///
    /// - Complexity: O(*c* log *n*) page reads, *c* the number of objects that the index yields, or
    ///   of all.
    package func fetch(_ query: Query) throws -> [ObjectID] {
        if query.limit == 0 { return [] }
        if let found = try fetchInIndexOrder(query) { return found }
        let window = query.sortings.isEmpty ? query.windowEnd : nil
        var found: [ObjectID] = []
        try forEachMatch(of: query) { object in
            found.append(object)
            // One entity is walked in the order of object numbers, which is the requested order.
            return window == found.count ? .stop : .proceed
        }
        return try query.arranged(found, in: self)
    }

    /// Passes on the objects that match a query, in its order, each with its row.
    ///
    /// When all objects of one entity are requested, the walk that finds them also reads their
    /// rows. Rows of neighbours come together.
    ///
    /// - Complexity: As ``fetch(_:)``, and O(*m* log *n*) page reads when the walk does not read
    ///   the rows, *m* the number of matches.
    package func forEachRows(
        of query: Query, _ body: (EncodedRows) throws -> Void
    ) throws {
        if let limit = query.limit, limit <= 0 { return }
        var collected = RowCollector()
        if isLatest, query.isForAll, query.entities.count == 1, let entity = query.entities.first {
            var passed = 0
            let offset = max(0, query.offset)
            _ = try projection.walkRows(of: entity, in: transaction) { object, layout, bytes in
                passed += 1
                guard passed > offset else { return .proceed }
                try collect(object, layout, bytes, in: &collected, body)
                return passed - offset == query.limit ? .stop : .proceed
            }
        } else {
            for object in try fetch(query) {
                _ = try projection.withRow(of: object, at: sequence, in: transaction) {
                    bytes, layout in
                    try collect(object, layout, bytes, in: &collected, body)
                }
            }
        }
        if !collected.isEmpty { try body(collected.take()) }
    }

    /// Adds a row to those gathered, which are passed on first when the row is no neighbour of
    /// theirs.
    private func collect(
        _ object: ObjectID, _ layout: RowLayout, _ bytes: RawSpan, in collected: inout RowCollector,
        _ body: (EncodedRows) throws -> Void
    ) throws {
        if !collected.isEmpty, !collected.hasRoom(for: object) { try body(collected.take()) }
        try projection.withFitted(object, layout, bytes) { bytes in
            collected.append(object, bytes)
        }
    }

    /// How many objects match a query, within its offset and limit.
    package func count(_ query: Query) throws -> Int {
        var count = 0
        try forEachMatch(of: query) { _ in
            count += 1
            return .proceed
        }
        return min(max(0, count - max(0, query.offset)), max(0, query.limit ?? .max))
    }

    // MARK: - Candidates

    private func forEachMatch(
        of query: Query, _ body: (ObjectID) throws -> WalkStep
    ) throws {
        let takesAll = query.filter == .constant(true)
        guard let candidates = try candidates(query.filter) else {
            return try objects(of: query.entities) { object in
                guard try takesAll || query.filter.matches(object, in: self) else {
                    return .proceed
                }
                // The numbers of an entity and its subentities interleave, so only a single entity
                // may stop early.
                let step = try body(object)
                return query.entities.count == 1 ? step : .proceed
            }
        }
        for object in candidates
        where try exists(object) && query.matches(object, in: self) {
            if try body(object) == .stop, query.entities.count == 1 { return }
        }
    }

    /// Objects that include all matches of a filter, by number; nil when all must be walked.
    private func candidates(_ filter: Filter) throws -> [ObjectID]? {
        switch FilterPlan(filter).access {
        case .objects(let objects): return objects.sorted()
        case .referrers(let property, let object):
            return try projection.referrers(
                to: object, property.number, at: sequence, in: transaction)
        case .index(let property, let ranges):
            guard isLatest, try models.hasIndex(of: property, in: transaction) else { return nil }
            var objects: Set<ObjectID> = []
            for range in ranges {
                let (lower, upper) = StoreKey.bounds(of: range, property.number)
                try projection.scanIndex(from: lower, to: upper, in: transaction) { _, object in
                    objects.insert(object)
                    return .proceed
                }
            }
            return objects.sorted()
        case .scan: return nil
        }
    }

    // MARK: - Index order

    /// Walks the index of the first sorting instead of sorting all objects, when only the first few
    /// are requested.
    ///
    /// All objects with the same value are gathered, so that the other sortings can arrange them.
    private func fetchInIndexOrder(_ query: Query) throws -> [ObjectID]? {
        guard isLatest, let window = query.windowEnd, let first = query.sortings.first,
            first.options.isEmpty, first.path.scope == 0, first.path.steps.count == 1,
            let property = first.path.steps.first, property.isIndexed,
            !property.isUnique || property.attribute?.isOptional == false,
            case .scan = FilterPlan(query.filter).access,
            try models.hasIndex(of: property, in: transaction)
        else { return nil }
        let lower = StoreKey.index(property.number)
        var found: [ObjectID] = []
        var group: [UInt8] = []
        try projection.scanIndex(
            from: lower, to: StoreKey.end(of: lower) ?? [],
            order: first.isAscending ? .ascending : .descending, in: transaction
        ) { value, object in
            if found.count >= window, value != group { return .stop }
            if try query.matches(object, in: self) {
                found.append(object)
                group = value
            }
            return .proceed
        }
        return try query.arranged(found, in: self)
    }
}

extension Query {
    /// Whether the query has no condition and no order.
    fileprivate var isForAll: Bool { sortings.isEmpty && filter == .constant(true) }

    /// How many objects must be found to satisfy limit and offset.
    fileprivate var windowEnd: Int? {
        limit.map { limit in
            let (end, isTooGreat) = max(0, offset).addingReportingOverflow(max(0, limit))
            return isTooGreat ? .max : end
        }
    }
}

extension StoreKey {
    /// Keys that enclose all index records within a range, and perhaps a few more.
    static func bounds(
        of range: IndexRange, _ property: PropertyNumber
    ) -> (lower: [UInt8], upper: [UInt8]) {
        let prefix = index(property)
        switch range {
        case .exactly(let value):
            let key = index(property, value)
            return (key, end(of: key) ?? [])
        case .between(let lower, let upper):
            // Tag 0 is null; the byte after the property is the tag.
            let start = lower.map { truncatedIndex(property, $0.value) }
            let stop = upper.map { truncatedIndex(property, $0.value) }
            let kind = (start ?? stop)?.dropFirst(prefix.count).first
            return (
                start ?? prefix + [kind ?? 1],
                end(of: stop ?? kind.map { prefix + [$0] } ?? prefix) ?? []
            )
        case .prefix(let text):
            // Without the two zero bytes that end a text.
            var key = truncatedIndex(property, .string(text))
            if key.count < prefix.count + StoreLayout.indexedBytesLimit { key.removeLast(2) }
            return (key, end(of: key) ?? [])
        }
    }

    /// The part of an index key that is in the order of the values.
    private static func truncatedIndex(_ property: PropertyNumber, _ value: Value) -> [UInt8] {
        Array(index(property, value).prefix(4 + StoreLayout.indexedBytesLimit))
    }
}

extension Projection {
    /// Walks index records, each as the ordered part of the value and the object.
    func scanIndex(
        from lower: [UInt8], to upper: [UInt8], order: ScanOrder = .ascending,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (_ value: [UInt8], ObjectID) throws -> WalkStep
    ) throws {
        try transaction.scan(
            tables.index, from: lower.span.bytes, to: upper.span.bytes, order: order
        ) { key, _ in
            let valueEnd = key.byteCount - StoreKey.objectSize
            var reader = KeyReader(at: valueEnd)
            let object = try reader.object(key)
            let orderedEnd = min(valueEnd, 4 + StoreLayout.indexedBytesLimit)
            let value = key.extracting(first: orderedEnd).array
            return try body(value, object) == .proceed ? .proceed : .stop
        }
    }
}
