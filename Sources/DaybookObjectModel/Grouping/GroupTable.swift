// The room of grouping: groups of objects by encoded keys, what is worked out of each, and the rows of the result.
// It reads nothing; whoever has objects adds them.

/// Groups of objects with equal keys, and the aggregates of each.
///
/// A key is one or several values in their canonical form, one behind the other. Equal values have equal
/// bytes, so groups are found without decoding; null is a value like any other.
package struct GroupTable: Sendable {
    private let prototypes: [Aggregation]
    private var keys = KeyTable()
    /// How many objects each group has.
    private var counts: [Int] = []
    /// The aggregates of the first group, of the second, and so on.
    private var aggregations: [Aggregation] = []

    /// No groups yet.
    ///
    /// - Parameter aggregations: What to work out for each group, begun with no values.
    package init(_ aggregations: [Aggregation]) {
        prototypes = aggregations
    }

    /// A table for a part of the objects, to be joined in order with ``append(_:)``.
    package var beginning: GroupTable {
        GroupTable(prototypes.map(\.beginning))
    }

    /// The number of groups.
    package var count: Int { keys.count }

    /// Whether the order of the objects makes no difference.
    package var isOrderFree: Bool { prototypes.allSatisfy(\.isOrderFree) }

    /// The group with a key, without adding an object to it.
    package mutating func group(_ key: RawSpan) -> Int {
        let group = keys.index(of: key)
        if group == counts.count {
            counts.append(0)
            aggregations += prototypes
        }
        return group
    }

    /// Counts an object of a group.
    package mutating func addObject(to group: Int) {
        counts[group] += 1
    }

    /// Adds a value of an object to one of the aggregates of its group.
    package mutating func add(_ value: Value, to aggregate: Int, of group: Int) {
        aggregations[group * prototypes.count + aggregate].add(value)
    }

    /// Adds the value in a range of bytes, which is not empty.
    ///
    /// - Throws: ``DecodingFailure`` for bytes that are no value.
    package mutating func add(
        _ row: RawSpan, _ field: EncodedField, to aggregate: Int, of group: Int
    ) throws(DecodingFailure) {
        try aggregations[group * prototypes.count + aggregate].add(row, field)
    }

    /// Adds the groups of a part, whose objects follow those already added.
    package mutating func append(_ part: GroupTable) {
        for index in 0..<part.count {
            append(index, of: part, to: part.keys.withKey(index) { group($0) })
        }
    }

    /// Adds the groups of a part that come from one of several stores, where objects may have the same number.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - store: What is put before a key that has an object in it; null is put before any other.
    /// - Throws: ``DecodingFailure`` for a key that cannot be read.
    package mutating func append(
        _ part: GroupTable, fromStore store: Value
    ) throws(DecodingFailure) {
        for index in 0..<part.count {
            let hasObject = try part.key(of: index).contains { $0.reference != nil }
            var key = (hasObject ? store : .null).encoded
            part.keys.withKey(index) { own in
                key.append(own, EncodedField(start: 0, end: own.byteCount))
            }
            append(index, of: part, to: group(key.span.bytes))
        }
    }

    private mutating func append(_ index: Int, of part: GroupTable, to group: Int) {
        counts[group] += part.counts[index]
        for aggregate in prototypes.indices {
            aggregations[group * prototypes.count + aggregate]
                .append(part.aggregations[index * prototypes.count + aggregate])
        }
    }

    /// The values of a group's key.
    package func key(of group: Int) throws(DecodingFailure) -> [Value] {
        let read = keys.withKey(group) { key -> Swift.Result<[Value], DecodingFailure> in
            var values: [Value] = []
            var offset = 0
            while offset < key.byteCount {
                do throws(DecodingFailure) {
                    values.append(try key.readValue(at: &offset))
                } catch {
                    return .failure(error)
                }
            }
            return .success(values)
        }
        return try read.get()
    }

    /// How many objects a group has.
    package func objectCount(of group: Int) -> Int { counts[group] }

    /// An aggregate of a group; nil when its type cannot hold it.
    package func value(of aggregate: Int, in group: Int) -> Value? {
        aggregations[group * prototypes.count + aggregate].value
    }
}
