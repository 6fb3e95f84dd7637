internal import DaybookObjectModel
internal import Foundation

/// Gathers the objects that match a query and puts them into its order, keeping no more of them than its
/// limit needs.
struct MatchSorter {
    private struct Match {
        let object: ObjectID
        let first: Value
        /// The keys of the other sortings.
        let others: [Value]
    }

    private let query: Query
    private let projection: Projection
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
        window = query.windowEnd
        let (double, isTooGreat) = (window ?? .max).multipliedReportingOverflow(by: 2)
        capacity = isTooGreat ? .max : max(double, 512)
    }

    /// Adds a match.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - row: The layout of its row.
    ///   - bytes: Its row.
    ///   - snapshot: Where the values of related objects are looked up.
    /// - Throws: ``StoreError`` when a value cannot be read.
    mutating func add(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in snapshot: borrowing Snapshot
    ) throws {
        var first = Value.null
        var others: [Value] = []
        if let sorting = query.sortings.first {
            first = try key(sorting, object, row, bytes, in: snapshot)
            if let last, sorting.order(ofKeys: last, first) == .orderedAscending { return }
            for sorting in query.sortings.dropFirst() {
                others.append(try key(sorting, object, row, bytes, in: snapshot))
            }
        }
        matches.append(Match(object: object, first: first, others: others))
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
        guard sorting.path.scope == 0, sorting.path.steps.count == 1,
            let slot = projection.schema.entity(object.entity)?
                .slot(of: sorting.path.steps[0].number)
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
            return (left.object.number, left.object.entity)
                < (right.object.number, right.object.entity)
        }
    }

    private mutating func prune() {
        guard let window, window > 0 else { return }
        matches = Array(sorted.prefix(window))
        if matches.count == window { last = matches.last?.first }
    }
}
