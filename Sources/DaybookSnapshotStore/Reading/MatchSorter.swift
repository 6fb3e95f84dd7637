internal import DaybookObjectModel
internal import Foundation

/// Gathers the objects that match a query and puts them into its order, keeping no more of them than its
/// limit needs.
struct MatchSorter: Sendable {
    private struct Match: Sendable {
        let object: ObjectID
        let first: Value
        /// The keys of the other sortings.
        let others: [Value]
    }

    private let query: Query
    private let projection: Projection
    /// The sorting that decides first.
    private let leading: Sorting?
    /// Where its value is in rows; nil where it is not in the object's own row.
    private var leadingPlace: RowPlace?
    private var matches: [Match] = []
    /// How many matches are wanted; nil for all.
    private let window: Int?
    /// With as many matches, those that are too many are dropped.
    private let capacity: Int
    /// The first key of the last match that is in the window so far; nil while it has room.
    private var last: Value?

    init(_ query: Query, in projection: Projection) {
        self.query = query
        self.projection = projection
        leading = query.sortings.first
        leadingPlace = leading?.ownProperty.map(RowPlace.init)
        window = query.windowEnd
        let (double, isTooGreat) = (window ?? .max).multipliedReportingOverflow(by: 2)
        capacity = isTooGreat ? .max : max(double, 512)
    }

    /// Adds a match, unless it is before the place where the query begins.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - row: The layout of its row.
    ///   - bytes: Its row.
    ///   - snapshot: Where the values of related objects are looked up.
    /// - Returns: Whether it is behind that place.
    /// - Throws: ``StoreError`` when a value cannot be read.
    @discardableResult
    mutating func add(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in snapshot: borrowing Snapshot
    ) throws -> Bool {
        guard let leading else {
            guard query.isBehindStart(object, []) else { return false }
            matches.append(Match(object: object, first: .null, others: []))
            if matches.count >= capacity { prune() }
            return true
        }
        let first: Value
        if let slot = leadingPlace?.slot(in: object.entity, projection.schema) {
            let value = try projection.value(slot, of: object, row, bytes)
            first = leading.options.isEmpty ? value : leading.key(value)
        } else {
            first = try leading.key(of: object, in: snapshot)
        }
        if let last, leading.order(ofKeys: last, first) == .orderedAscending { return true }
        var others: [Value] = []
        for sorting in query.sortings.dropFirst() {
            others.append(try key(sorting, object, row, bytes, in: snapshot))
        }
        guard query.start == nil || query.isBehindStart(object, [first] + others) else {
            return false
        }
        matches.append(Match(object: object, first: first, others: others))
        if matches.count >= capacity { prune() }
        return true
    }

    /// A sorter for more matches, without any yet, that drops those which this one would.
    var beginning: MatchSorter {
        var other = self
        other.matches = []
        return other
    }

    /// Adds what another one has gathered.
    mutating func append(_ other: MatchSorter) {
        matches += other.matches
        if matches.count >= capacity { prune() }
    }

    /// The objects in the order of the query, within its offset and limit.
    var found: [ObjectID] {
        let cut = sorted.dropFirst(max(0, query.offset)).prefix(max(0, query.limit ?? .max))
        return cut.map(\.object)
    }

    private func key(
        _ sorting: Sorting, _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan,
        in snapshot: borrowing Snapshot
    ) throws -> Value {
        guard let number = sorting.ownProperty,
            let slot = projection.schema.entity(object.entity)?.slot(of: number)
        else { return try sorting.key(of: object, in: snapshot) }
        return sorting.key(try projection.value(slot, of: object, row, bytes))
    }

    private var sorted: [Match] {
        matches.sorted { left, right in
            for (index, sorting) in query.sortings.enumerated() {
                let order =
                    index == 0
                    ? sorting.order(ofKeys: left.first, right.first)
                    : sorting.order(ofKeys: left.others[index - 1], right.others[index - 1])
                if order != .orderedSame { return order == .orderedAscending }
            }
            return query.breaksTie(left.object, before: right.object)
        }
    }

    private mutating func prune() {
        guard let window, window > 0 else { return }
        matches = Array(sorted.prefix(window))
        if matches.count == window, leading != nil { last = matches.last?.first }
    }
}
