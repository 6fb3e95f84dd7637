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
    /// Indexes serve the filter, and with a limit also the first sorting, whichever is cheaper. Filter and order
    /// are read from the bytes of the rows.
    ///
    /// - Complexity: O(*c* log *n*) page reads, *c* the number of objects that the indexes yield, or
    ///   of all; with a limit, O(*l*) memory, *l* the offset and the limit.
    package func fetch(_ query: Query) throws -> [ObjectID] {
        if query.limit.map({ $0 <= 0 }) == true { return [] }
        if let walk = query.walkToFirst,
            !isShared(SchemaIndex(of: walk.property), beyond: query.entities),
            try orderIndex(of: query) != nil
        {
            return try fetchInIndexOrder(query, walk)
        }
        let plan = try plan(query)
        switch try order(of: query, plan) {
        case .single(let walk): return try fetchInIndexOrder(query, walk)
        case .compound(let walk): if let found = try fetch(query, walk) { return found }
        case nil: break
        }
        let candidates = try candidates(query, plan)
        if candidates == nil, let found = try fetchInRowOrder(query) { return found }
        guard query.sortings.isEmpty, !query.isPart else {
            var sorter = MatchSorter(query, in: projection)
            try gather(query, among: candidates) {
                sorter.beginning
            } add: { part, object, row, bytes, snapshot in
                try part.add(object, row, bytes, in: snapshot)
                return .proceed
            } join: { part in
                sorter.append(part)
                return .proceed
            }
            return sorter.found
        }
        // The numbers of an entity and its subentities interleave, so only a single one may stop early.
        let isSingle = query.entities.count == 1
        let offset = max(0, query.offset)
        var found: [ObjectID] = []
        if isSingle, offset > 0 {
            try forEachMatch(of: query, among: candidates, skipping: offset) { object, _, _ in
                found.append(object)
                return found.count == query.limit ? .stop : .proceed
            }
            return found
        }
        let limit = isSingle ? query.limit ?? .max : .max
        try gather(query, among: candidates) {
            [ObjectID]()
        } add: { part, object, _, _, _ in
            part.append(object)
            return part.count == limit ? .stop : .proceed
        } join: { part in
            found += part.prefix(limit - found.count)
            return found.count == limit ? .stop : .proceed
        }
        if isSingle { return found }
        found.sort { ($0.number, $0.entity) < ($1.number, $1.entity) }
        return Array(found.dropFirst(offset).prefix(query.limit ?? .max))
    }

    /// Passes on the objects that match a query, in its order, each with its row.
    ///
    /// When the objects of one entity are requested in no particular order, the walk that finds them also
    /// reads their rows. Rows of neighbours come together.
    ///
    /// - Complexity: As ``fetch(_:)``, and O(*m* log *n*) page reads when the walk does not read
    ///   the rows, *m* the number of matches.
    package func forEachRows(
        of query: Query, _ body: (EncodedRows) throws -> Void
    ) throws {
        if let limit = query.limit, limit <= 0 { return }
        var collected = RowCollector()
        if query.sortings.isEmpty, !query.isPart, query.entities.count == 1 {
            let candidates = try candidates(query)
            if candidates == nil, query.limit == nil, query.offset <= 0 {
                return try gatherRows(of: query, body)
            }
            var passed = 0
            try forEachMatch(of: query, among: candidates, skipping: max(0, query.offset)) {
                object, layout, bytes in
                passed += 1
                try collect(object, layout, bytes, in: &collected, body)
                return passed == query.limit ? .stop : .proceed
            }
        } else {
            try collectRows(of: fetch(query), in: &collected, body)
        }
        if !collected.isEmpty { try body(collected.take()) }
    }

    /// The same where all objects of an entity are walked, and all matches are wanted.
    private func gatherRows(of query: Query, _ body: (EncodedRows) throws -> Void) throws {
        try gather(query, among: nil) {
            (rows: [EncodedRows](), collected: RowCollector())
        } add: { part, object, layout, bytes, snapshot in
            if !part.collected.isEmpty, !part.collected.hasRoom(for: object) {
                part.rows.append(part.collected.take())
            }
            try part.collected.append(object, layout, bytes, in: snapshot.projection)
            return .proceed
        } join: { part in
            var part = part
            for rows in part.rows { try body(rows) }
            if !part.collected.isEmpty { try body(part.collected.take()) }
            return .proceed
        } bytes: { part in
            part.rows.reduce(0) { $0 + $1.byteCount }
        }
    }

    /// Adds a row to those gathered, which are passed on first when the row is no neighbour of
    /// theirs.
    private func collect(
        _ object: ObjectID, _ layout: RowLayout, _ bytes: RawSpan, in collected: inout RowCollector,
        _ body: (EncodedRows) throws -> Void
    ) throws {
        if !collected.isEmpty, !collected.hasRoom(for: object) { try body(collected.take()) }
        try collected.append(object, layout, bytes, in: projection)
    }

    /// Passes on the rows of certain objects; those that did not exist are passed over. Rows of
    /// neighbours come together where these follow each other.
    ///
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of objects; fewer where they are in order.
    package func forEachRows(
        of objects: [ObjectID], _ body: (EncodedRows) throws -> Void
    ) throws {
        var collected = RowCollector()
        try collectRows(of: objects, in: &collected, body)
        if !collected.isEmpty { try body(collected.take()) }
    }

    private func collectRows(
        of objects: [ObjectID], in collected: inout RowCollector,
        _ body: (EncodedRows) throws -> Void
    ) throws {
        _ = try projection.walkRows(of: objects[...], at: sequence, in: transaction) {
            object, layout, bytes in
            try collect(object, layout, bytes, in: &collected, body)
            return .proceed
        }
    }

    /// How many objects match a query, within its offset and limit.
    package func count(_ query: Query) throws -> Int {
        let end = query.windowEnd ?? .max
        var count = 0
        if isLatest, query.asksForAll {
            for entity in query.entities where count < end {
                count += try projection.countRows(
                    of: entity, atMost: end - count, in: transaction)
            }
        } else {
            let plan = try plan(query)
            if let covered = plan.cover(of: query.filter),
                let found = try self.count(in: covered, of: query.entities, atMost: end)
            {
                return max(0, found - max(0, query.offset))
            }
            try gather(query, among: candidates(query, plan)) {
                0
            } add: { part, _, _, _, _ in
                part += 1
                return part >= end ? .stop : .proceed
            } join: { part in
                count += part
                return count >= end ? .stop : .proceed
            }
        }
        return max(0, min(count, end) - max(0, query.offset))
    }

    // MARK: - Index order

    /// The index of the first sorting; nil where there is none that has all objects.
    func orderIndex(of query: Query) throws -> StateIndex? {
        guard let property = query.indexedOrder,
            // The past may know objects without a value, of which a unique index has none.
            !property.isUnique || isLatest, let index = try index(of: property),
            try models.indexHasAll(of: property, in: transaction)
        else { return nil }
        return index
    }

    /// Walks an index instead of sorting all objects.
    ///
    /// All objects with the same value are gathered, so that the other sortings can arrange them.
    private func fetchInIndexOrder(_ query: Query, _ walk: OrderedWalk) throws -> [ObjectID] {
        guard let index = try index(of: walk.property) else { return [] }
        let order: ScanOrder = walk.isAscending ? .ascending : .descending
        if isLatest, query.asksForAll, query.sortings.count == 1, !query.isPart,
            let found = try fetchAllInIndexOrder(query, walk.property, order, walk.window)
        {
            return found
        }
        var programs: [EntityNumber: RowProgram] = [:]
        for number in query.entities {
            guard let entity = schema.entity(number) else { continue }
            programs[number] = try RowProgram(query.filter, for: entity, in: self)
        }
        let isExact = query.isInIndexOrder && index.former == nil
        var (lower, upper) = StoreKey.bounds(of: query, walk.property, order, isExact: isExact)
        if let range = walk.range {
            let (least, greatest) = StoreKey.bounds(of: range, walk.property.number)
            if lower.lexicographicallyPrecedes(least) { lower = least }
            if greatest.lexicographicallyPrecedes(upper) { upper = greatest }
            if !lower.lexicographicallyPrecedes(upper) { return [] }
        }
        var sorter = MatchSorter(query, in: projection)
        var found = 0
        var group: [UInt8] = []
        try scan(index, from: lower, to: upper, order: order) { value, object, age in
            if found >= walk.window {
                if isExact, value.byteCount < StoreKey.longIndexSize { return .stop }
                if !value.hasSameBytes(as: group.span.bytes) { return .stop }
            }
            guard let program = programs[object.entity] else { return .proceed }
            try withRow(of: object, age) { bytes, row in
                guard try accepts(object, row, bytes, program),
                    try sorter.add(object, row, bytes, in: self)
                else { return }
                found += 1
                if found >= walk.window { group = value.array }
            }
            return .proceed
        }
        return sorter.found
    }

    /// The first objects in the order of an index, of which no row is read; nil where the index does not know
    /// the whole order.
    private func fetchAllInIndexOrder(
        _ query: Query, _ property: SchemaProperty, _ order: ScanOrder, _ window: Int
    ) throws -> [ObjectID]? {
        let single = query.entities.count == 1 ? query.entities[0] : nil
        let entities = single == nil ? Set(query.entities) : []
        let lower = StoreKey.index(property.number)
        // Records of one entity with the same value come in the order of the numbers.
        var first = FirstObjects(
            window: window, comesInOrder: order == .ascending && single != nil)
        var isWhole = true
        try projection.scanIndex(
            from: lower, to: StoreKey.end(of: lower) ?? [], order: order, in: transaction
        ) { value, object in
            // Hashing is left out where there is nothing to choose from.
            let isWanted = single.map { $0 == object.entity } ?? entities.contains(object.entity)
            guard isWanted else { return .proceed }
            guard value.byteCount < 4 + StoreLayout.indexedBytesLimit else {
                isWhole = false
                return .stop
            }
            return first.add(object, under: value)
        }
        guard isWhole else { return nil }
        first.arrange()
        return Array(first.objects.dropFirst(max(0, query.offset)).prefix(query.limit ?? .max))
    }
}

/// The first objects of an index, from records that come value by value.
///
/// Objects with the same value are in the order of their numbers, of which the first are kept.
private struct FirstObjects {
    private(set) var objects: [ObjectID] = []
    private let window: Int
    /// Whether objects with the same value come in the order of their numbers.
    private let comesInOrder: Bool
    /// With so many objects those that are not wanted are let go of.
    private let capacity: Int
    /// The value of the last record.
    private var value = KeyWriter()
    /// Where the objects with that value begin.
    private var start = 0

    init(window: Int, comesInOrder: Bool) {
        self.window = window
        self.comesInOrder = comesInOrder
        let (double, isTooGreat) = window.multipliedReportingOverflow(by: 2)
        capacity = isTooGreat ? .max : max(double, 512)
        objects.reserveCapacity(min(window, 512))
    }

    /// Whether there are as many as are wanted.
    private var isFull: Bool { objects.count >= window }

    /// Adds the object of the next record, and says whether more are wanted.
    mutating func add(_ object: ObjectID, under value: RawSpan) -> WalkStep {
        if comesInOrder {
            objects.append(object)
            return isFull ? .stop : .proceed
        }
        if !value.hasSameBytes(as: self.value.bytes.span.bytes) {
            arrange()
            if isFull { return .stop }
            self.value.removeAll()
            self.value.append(bytes: value)
            start = objects.count
        }
        objects.append(object)
        if objects.count >= capacity { arrange() }
        return .proceed
    }

    /// Puts the objects with the last value in order, and lets go of those that are not wanted.
    mutating func arrange() {
        guard !comesInOrder, objects.count - start > 1 else { return }
        objects[start...].sort { ($0.number, $0.entity) < ($1.number, $1.entity) }
        objects.removeLast(max(0, objects.count - max(window, start)))
    }
}

extension Projection {
    /// Walks index records, each as the ordered part of the value and the object.
    func scanIndex(
        from lower: [UInt8], to upper: [UInt8], order: ScanOrder = .ascending,
        in transaction: borrowing some Reading & ~Copyable,
        _ body: (_ value: RawSpan, ObjectID) throws -> WalkStep
    ) throws {
        try transaction.scan(
            tables.index, from: lower.span.bytes, to: upper.span.bytes, order: order
        ) { key, _ in
            try Self.withParts(ofIndexKey: key, body) == .proceed ? .proceed : .stop
        }
    }

    /// Calls `body` with the ordered part of the value in the key of an index record, and the object.
    static func withParts<R>(
        ofIndexKey key: RawSpan, _ body: (_ value: RawSpan, ObjectID) throws -> R
    ) throws -> R {
        let valueEnd = key.byteCount - StoreKey.objectSize
        var reader = KeyReader(at: valueEnd)
        let object = try reader.object(key)
        let orderedEnd = min(valueEnd, 4 + StoreLayout.indexedBytesLimit)
        return try body(key.extracting(first: orderedEnd), object)
    }
}
