package import Foundation

/// One order by which objects are sorted. Null comes first when ascending, last when descending.
package struct Sorting: Sendable, Hashable {
    /// The path to the value, with to-one steps only.
    package var path: FilterPath
    /// Whether the least comes first.
    package var isAscending: Bool
    /// The differences to ignore when comparing text.
    package var options: TextOptions

    /// Sorts by the value at the end of a path.
    package init(_ path: FilterPath, isAscending: Bool = true, options: TextOptions = []) {
        self.path = path
        self.isAscending = isAscending
        self.options = options
    }

    /// The sort key of an object.
    package func key<Source: FilterSource & ~Copyable>(
        of object: ObjectID, in source: borrowing Source
    ) throws -> Value {
        key(try path.value(FilterScope(object: object), source))
    }

    /// The sort key for a value.
    package func key(_ value: Value) -> Value {
        guard !options.isEmpty, case .string(let text) = value else { return value }
        return .string(text.folded(options))
    }

    /// The order of two objects by this sorting alone.
    package func order<Source: FilterSource & ~Copyable>(
        _ left: ObjectID, _ right: ObjectID, in source: borrowing Source
    ) throws -> ComparisonResult {
        order(ofKeys: try key(of: left, in: source), try key(of: right, in: source))
    }

    /// The order of two keys.
    package func order(ofKeys left: Value, _ right: Value) -> ComparisonResult {
        isAscending ? left.order(to: right) : right.order(to: left)
    }
}

/// A selection of objects, with an order, an offset and a limit.
package struct Query: Sendable {
    /// The entity of the objects.
    package var entity: SchemaEntity
    /// Whether objects of subentities are included.
    package var includesSubentities: Bool
    /// The condition they meet.
    package var filter: Filter
    /// Their order: the first sorting decides, the next one among equals, and finally the object
    /// number.
    package var sortings: [Sorting]
    /// Their maximal number; nil for all.
    package var limit: Int?
    /// The number of objects to skip.
    package var offset: Int
    /// The place behind which the objects are; nil for all.
    package var start: QueryPlace?
    /// Whether objects that are equal in all sortings come in descending order of their numbers.
    package var descendsAmongEquals = false

    /// A query for all objects of an entity, to be narrowed down.
    package init(
        _ entity: SchemaEntity, includesSubentities: Bool = true,
        filter: Filter = .constant(true), sortings: [Sorting] = [], limit: Int? = nil,
        offset: Int = 0
    ) {
        self.entity = entity
        self.includesSubentities = includesSubentities
        self.filter = filter
        self.sortings = sortings
        self.limit = limit
        self.offset = offset
    }

    /// The entities of the objects.
    package var entities: [EntityNumber] {
        includesSubentities ? entity.family : [entity.number]
    }

    /// Whether the object is of a requested entity and meets the condition.
    package func matches<Source: FilterSource & ~Copyable>(
        _ object: ObjectID, in source: borrowing Source
    ) throws -> Bool {
        guard
            object.entity == entity.number
                || (includesSubentities && entity.family.contains(object.entity))
        else { return false }
        return try filter.matches(object, in: source)
    }

    /// Sorts matching objects that are behind the start, and applies offset and limit.
    ///
    /// - Complexity: O(*n* log *n*) comparisons, and *n* reads for each sorting.
    package func arranged<Source: FilterSource & ~Copyable>(
        _ objects: [ObjectID], in source: borrowing Source
    ) throws -> [ObjectID] {
        windowed(try sorted(objects) { try keys(of: $0, in: source) }.map(\.object))
    }

    /// Puts matching objects between others that are in order, and applies offset and limit.
    ///
    /// - Parameters:
    ///   - objects: The objects, in no order.
    ///   - others: Other objects, in the order of the query.
    ///   - source: The source of the values by which they are sorted.
    /// - Returns: All of them in order, within the window.
    /// - Throws: What the source throws.
    /// - Complexity: O(*k* log *n*) reads for each sorting, *k* the number of objects and *n* that of the
    ///   others.
    package func arranged<Source: FilterSource & ~Copyable>(
        _ objects: [ObjectID], among others: [ObjectID], in source: borrowing Source
    ) throws -> [ObjectID] {
        try arranged(objects, among: others) { try keys(of: $0, in: source) }
    }

    /// The same where the keys by which objects are sorted are known otherwise.
    package func arranged(
        _ objects: [ObjectID], among others: [ObjectID], by keys: (ObjectID) throws -> [Value]
    ) throws -> [ObjectID] {
        var known: [Int: Keyed] = [:]
        var all: [ObjectID] = []
        all.reserveCapacity(objects.count + others.count)
        var start = 0
        for object in try sorted(objects, by: keys) {
            var (lower, upper) = (start, others.count)
            while lower < upper {
                let middle = (lower + upper) / 2
                let other =
                    try known[middle]
                    ?? Keyed(object: others[middle], keys: keys(others[middle]))
                known[middle] = other
                if precedes(other, object) {
                    lower = middle + 1
                } else {
                    upper = middle
                }
            }
            all += others[start..<lower]
            all.append(object.object)
            start = lower
        }
        all += others[start...]
        return windowed(all)
    }

    /// An object and the keys by which it is sorted.
    private struct Keyed {
        let object: ObjectID
        let keys: [Value]
    }

    /// The keys by which an object is sorted, one for each sorting.
    package func keys<Source: FilterSource & ~Copyable>(
        of object: ObjectID, in source: borrowing Source
    ) throws -> [Value] {
        var keys: [Value] = []
        keys.reserveCapacity(sortings.count)
        for sorting in sortings { keys.append(try sorting.key(of: object, in: source)) }
        return keys
    }

    private func sorted(
        _ objects: [ObjectID], by keys: (ObjectID) throws -> [Value]
    ) throws -> [Keyed] {
        var all: [Keyed] = []
        all.reserveCapacity(objects.count)
        for object in objects {
            let keyed = Keyed(object: object, keys: try keys(object))
            if isBehindStart(object, keyed.keys) { all.append(keyed) }
        }
        all.sort(by: precedes)
        return all
    }

    private func precedes(_ left: Keyed, _ right: Keyed) -> Bool {
        for (index, sorting) in sortings.enumerated() {
            switch sorting.order(ofKeys: left.keys[index], right.keys[index]) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return breaksTie(left.object, before: right.object)
    }

    private func windowed(_ objects: [ObjectID]) -> [ObjectID] {
        Array(objects.dropFirst(max(0, offset)).prefix(max(0, limit ?? .max)))
    }

    /// How many objects must be found to satisfy limit and offset; nil for all.
    package var windowEnd: Int? {
        limit.map { limit in
            let (end, isTooGreat) = max(0, offset).addingReportingOverflow(max(0, limit))
            return isTooGreat ? .max : end
        }
    }
}
