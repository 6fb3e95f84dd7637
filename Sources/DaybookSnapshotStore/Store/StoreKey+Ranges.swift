internal import DaybookLMDB
internal import DaybookObjectModel

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
            // Without the two zero bytes that end a text, of which the key may have one or none where it is cut off.
            let key = (prefix + orderedKey(of: .string(text)).dropLast(2)).prefix(longIndexSize)
            return (Array(key), end(of: Array(key)) ?? [])
        }
    }

    /// Keys that enclose all former values of a property within a range, and perhaps a few more.
    static func formerBounds(
        of range: IndexRange, _ property: PropertyNumber
    ) -> (lower: [UInt8], upper: [UInt8]) {
        let (lower, upper) = bounds(of: range, property)
        let (prefix, former) = (index(property), former(of: property))
        func moved(_ key: [UInt8]) -> [UInt8]? {
            key.starts(with: prefix) ? former + key.dropFirst(prefix.count) : nil
        }
        return (moved(lower) ?? former, moved(upper) ?? end(of: former) ?? [])
    }

    /// The part of an index key that is in the order of the values.
    static func truncatedIndex(_ property: PropertyNumber, _ value: Value) -> [UInt8] {
        Array(index(property, value).prefix(4 + StoreLayout.indexedBytesLimit))
    }

    /// Keys of so many bytes, without the object, may stand for several values.
    static let longIndexSize = 4 + StoreLayout.indexedBytesLimit

    /// Keys that enclose the index records behind the place where a query begins, and those of objects with
    /// the same value.
    ///
    /// - Parameters:
    ///   - query: A query that is sorted by the property first.
    ///   - property: The property.
    ///   - order: The direction in which the index is walked.
    ///   - isExact: Whether the records come in the order of the query, so that those before the place are
    ///     left out even where they have the same value.
    /// - Returns: The first key, and the key behind the last.
    static func bounds(
        of query: Query, _ property: SchemaProperty, _ order: ScanOrder, isExact: Bool
    ) -> (lower: [UInt8], upper: [UInt8]) {
        let all = index(property.number)
        let end = end(of: all) ?? []
        guard let start = query.start, let key = start.keys.first else { return (all, end) }
        let value = index(property.number, key)
        let isLong = value.count >= longIndexSize
        let place =
            isExact && !isLong
            ? index(property.number, key, start.object) : truncatedIndex(property.number, key)
        return order == .ascending ? (place, end) : (all, Self.end(of: place) ?? end)
    }

    // MARK: - Several properties

    /// Keys that enclose all index records within a range of an index, and no others while they are short enough to be
    /// whole.
    static func bounds(
        of range: CompoundRange, in index: SchemaIndex
    ) -> (lower: [UInt8], upper: [UInt8]) {
        let start = self.index(index, range.equals)
        guard let next = range.next, range.equals.count < index.elements.count else {
            return (least(start), greatest(start))
        }
        let edges = edges(of: next)
        guard index.elements[range.equals.count].isAscending else {
            return (
                least(start + edges.last.bytes.map { ~$0 }, isIncluded: edges.last.isIncluded),
                greatest(start + edges.first.bytes.map { ~$0 }, isIncluded: edges.first.isIncluded)
            )
        }
        return (
            least(start + edges.first.bytes, isIncluded: edges.first.isIncluded),
            greatest(start + edges.last.bytes, isIncluded: edges.last.isIncluded)
        )
    }

    /// The prefix of the index records of objects with these values of the first properties of an index.
    static func index(_ index: SchemaIndex, _ values: [Value]) -> [UInt8] {
        var writer = IndexKeyWriter()
        writer.set(index, values)
        return writer.bytes
    }

    private typealias Edge = (bytes: [UInt8], isIncluded: Bool)

    /// What the first and the last values of a range begin with.
    private static func edges(of range: IndexRange) -> (first: Edge, last: Edge) {
        switch range {
        case .exactly(let value):
            let key = orderedKey(of: value)
            return ((key, true), (key, true))
        case .between(let lower, let upper):
            let first = lower.map { (orderedKey(of: $0.value), $0.isIncluded) }
            let last = upper.map { (orderedKey(of: $0.value), $0.isIncluded) }
            // The first byte is the kind of the value; 0 is null.
            let kind = Array((first ?? last)?.0.prefix(1) ?? [1])
            return (first ?? (kind, true), last ?? (kind, true))
        case .prefix(let text):
            // Without the two zero bytes that end a text.
            let key = Array(orderedKey(of: .string(text)).dropLast(2))
            return ((key, true), (key, true))
        }
    }

    private static func orderedKey(of value: Value) -> [UInt8] {
        var writer = ByteWriter(capacity: 32)
        value.appendOrderedKey(to: &writer)
        return writer.bytes
    }

    /// The least key that begins with a prefix, or that comes behind all of these.
    private static func least(_ prefix: [UInt8], isIncluded: Bool = true) -> [UInt8] {
        guard prefix.count < longIndexSize else { return Array(prefix.prefix(longIndexSize)) }
        return isIncluded ? prefix : end(of: prefix) ?? prefix
    }

    /// A key behind all that begin with a prefix, or the least of these.
    private static func greatest(_ prefix: [UInt8], isIncluded: Bool = true) -> [UInt8] {
        guard prefix.count < longIndexSize else {
            return end(of: Array(prefix.prefix(longIndexSize))) ?? []
        }
        return isIncluded ? end(of: prefix) ?? [] : prefix
    }
}
