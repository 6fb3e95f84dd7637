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
    /// Whether objects of sub-entities are included.
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

    /// Sorts matching objects and applies offset and limit.
    ///
    /// - Complexity: O(*n* log *n*) comparisons, and *n* reads for each sorting.
    package func arranged<Source: FilterSource & ~Copyable>(
        _ objects: [ObjectID], in source: borrowing Source
    ) throws -> [ObjectID] {
        var keyed: [(object: ObjectID, keys: [Value])] = []
        keyed.reserveCapacity(objects.count)
        for object in objects {
            var keys: [Value] = []
            keys.reserveCapacity(sortings.count)
            for sorting in sortings { keys.append(try sorting.key(of: object, in: source)) }
            keyed.append((object, keys))
        }
        keyed.sort { left, right in
            for (index, sorting) in sortings.enumerated() {
                switch sorting.order(ofKeys: left.keys[index], right.keys[index]) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return (left.object.number, left.object.entity)
                < (right.object.number, right.object.entity)
        }
        let cut = keyed.dropFirst(max(0, offset)).prefix(max(0, limit ?? .max))
        return cut.map(\.object)
    }
}
