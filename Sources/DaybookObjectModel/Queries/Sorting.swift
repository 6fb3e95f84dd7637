package import Foundation

/// One order by which objects are sorted. Null comes first when ascending, last when descending.
package struct Sorting: Sendable, Hashable {
    /// The way to the value: to-one steps only.
    package var path: FilterPath
    /// Whether the least comes first.
    package var isAscending: Bool
    /// What is overlooked when text is compared.
    package var options: TextOptions

    /// Sorts by the value at the end of a path.
    package init(_ path: FilterPath, isAscending: Bool = true, options: TextOptions = []) {
        self.path = path
        self.isAscending = isAscending
        self.options = options
    }

    /// What stands for an object when it is compared with others.
    package func key<Source: FilterSource & ~Copyable>(
        of object: ObjectID, in source: borrowing Source
    ) throws -> Value {
        let value = try path.value(FilterScope(object: object), source)
        guard !options.isEmpty, case .string(let text) = value else { return value }
        return .string(text.folded(options))
    }

    /// Which of two objects comes first, by this order alone.
    package func order<Source: FilterSource & ~Copyable>(
        _ left: ObjectID, _ right: ObjectID, in source: borrowing Source
    ) throws -> ComparisonResult {
        order(ofKeys: try key(of: left, in: source), try key(of: right, in: source))
    }

    /// Which of two keys comes first.
    package func order(ofKeys left: Value, _ right: Value) -> ComparisonResult {
        isAscending ? left.order(to: right) : right.order(to: left)
    }
}

/// Which objects, in which order, from where to where.
package struct Query: Sendable {
    /// The entity of the objects.
    package var entity: SchemaEntity
    /// Whether objects of sub-entities are meant, too.
    package var includesSubentities: Bool
    /// The condition they meet.
    package var filter: Filter
    /// Their order: the first one decides, the next one among equals; at last the object number.
    package var sortings: [Sorting]
    /// How many of them at most; nil for all.
    package var limit: Int?
    /// How many of the first ones to leave out.
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

    /// Whether the object is of a kind that is asked for and meets the condition.
    package func matches<Source: FilterSource & ~Copyable>(
        _ object: ObjectID, in source: borrowing Source
    ) throws -> Bool {
        guard
            object.entity == entity.number
                || (includesSubentities && entity.family.contains(object.entity))
        else { return false }
        return try filter.matches(object, in: source)
    }

    /// Puts objects that match in order and cuts offset and limit.
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
