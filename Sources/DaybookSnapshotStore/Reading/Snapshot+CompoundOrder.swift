internal import DaybookLMDB
internal import DaybookObjectModel

// Queries whose order an index over several properties has.

extension Snapshot {
    /// Walks an index until enough objects are found, instead of finding and sorting all.
    ///
    /// All objects with the same values of the properties that sort are gathered, so that other sortings, and the
    /// objects' numbers, can arrange them.
    ///
    /// - Complexity: O(*l* log *n*) page reads, *l* the offset and the limit, and objects with equal values; more
    ///   where the filter has other conditions. Where it has none, no row is read.
    /// - Returns: The objects; nil when so much has changed since that the index does not tell the past any more.
    func fetch(_ query: Query, _ walk: CompoundWalk) throws -> [ObjectID]? {
        guard let index = try index(of: walk.index) else { return nil }
        if isLatest, walk.servesFilter, walk.isWholeOrder, !query.isPart,
            let found = try fetchFromRecords(query, walk)
        {
            return found
        }
        var programs: [EntityNumber: RowProgram] = [:]
        for number in query.entities {
            guard let entity = schema.entity(number) else { continue }
            programs[number] = try RowProgram(query.filter, for: entity, in: self)
        }
        let isExact = walk.isExact(query) && index.former == nil
        let (lower, upper) = bounds(of: walk, from: query.start, isExact: isExact)
        guard lower.lexicographicallyPrecedes(upper) else { return [] }
        var sorter = MatchSorter(query, in: projection)
        var found = 0
        var group: [UInt8] = []
        try scan(index, from: lower, to: upper, order: walk.order) { value, object, age in
            if found >= walk.window {
                if isExact, value.byteCount < StoreKey.longIndexSize { return .stop }
                if !value.starts(with: group) { return .stop }
            }
            guard let program = programs[object.entity] else { return .proceed }
            try withRow(of: object, age) { bytes, row in
                guard try accepts(object, row, bytes, program),
                    try sorter.add(object, row, bytes, in: self)
                else { return }
                found += 1
                if found >= walk.window { group = walk.group(of: value) }
            }
            return .proceed
        }
        return sorter.found
    }

    /// The first objects in the order of an index, which tells all that is asked; nil where a record is cut off.
    private func fetchFromRecords(_ query: Query, _ walk: CompoundWalk) throws -> [ObjectID]? {
        let entities = Set(query.entities)
        let (lower, upper) = bounds(of: walk, from: nil, isExact: false)
        guard lower.lexicographicallyPrecedes(upper) else { return [] }
        let isExact = walk.isExact(query)
        var found: [ObjectID] = []
        // Objects with the same values are in the order of their numbers, of which the first are kept.
        var group: (value: [UInt8], start: Int) = ([], 0)
        let (double, isTooGreat) = walk.window.multipliedReportingOverflow(by: 2)
        let capacity = isTooGreat ? .max : max(double, 512)
        func arrange() {
            found[group.start...].sort { ($0.number, $0.entity) < ($1.number, $1.entity) }
            found.removeLast(max(0, found.count - max(walk.window, group.start)))
        }
        var isWhole = true
        try projection.scanIndex(from: lower, to: upper, order: walk.order, in: transaction) {
            value, object in
            guard entities.contains(object.entity) else { return .proceed }
            guard value.byteCount < StoreKey.longIndexSize else {
                isWhole = false
                return .stop
            }
            if group.value.isEmpty || !value.starts(with: group.value) {
                arrange()
                if found.count >= walk.window { return .stop }
                group = (walk.group(of: value), found.count)
            }
            found.append(object)
            if isExact, found.count >= walk.window { return .stop }
            if found.count >= capacity { arrange() }
            return .proceed
        }
        guard isWhole else { return nil }
        arrange()
        return Array(found.dropFirst(max(0, query.offset)).prefix(query.limit ?? .max))
    }

    /// The keys among which the records are, behind the place where a query begins: from its object on where the
    /// records come in the order of the query, and otherwise from the first with the same values.
    private func bounds(
        of walk: CompoundWalk, from place: QueryPlace?, isExact: Bool
    ) -> (lower: [UInt8], upper: [UInt8]) {
        var (lower, upper) = StoreKey.bounds(of: walk.range, in: walk.index)
        guard let place else { return (lower, upper) }
        let keys = walk.sortings.map { place.keys[$0] }
        let values = walk.range.equals + keys
        var behind = StoreKey.bounds(of: CompoundRange(equals: values), in: walk.index)
        if isExact, behind.lower.count < StoreKey.longIndexSize {
            let record = StoreKey.index(walk.index, values, place.object)
            behind = (record, StoreKey.end(of: record) ?? behind.upper)
        }
        switch walk.order {
        case .ascending where lower.lexicographicallyPrecedes(behind.lower): lower = behind.lower
        case .descending where behind.upper.lexicographicallyPrecedes(upper): upper = behind.upper
        default: break
        }
        return (lower, upper)
    }
}

extension CompoundWalk {
    fileprivate var order: ScanOrder { isAscending ? .ascending : .descending }

    /// What the records begin with of the objects that the order of the index does not tell apart; of a record that is
    /// cut off before, all that there is.
    fileprivate func group(of value: RawSpan) -> [UInt8] {
        var end = 4
        for element in index.elements.prefix(range.equals.count + sortings.count) {
            guard let next = value.orderedKeyEnd(at: end, isAscending: element.isAscending) else {
                return value.array
            }
            end = next
        }
        return value.extracting(first: end).array
    }
}
