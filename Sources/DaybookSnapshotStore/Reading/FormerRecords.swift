internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// The index records that a property had at a moment for the objects that have changed since.
///
/// Those of the other objects stand in the index of the present. Both together are the index as it was at
/// the moment.
///
/// Invariants:
/// - The keys are in order, and no two are the same.
/// - What has changed up to the entry in ``through`` is in it, and nothing that was not so at the moment.
struct FormerRecords: Sendable {
    /// How the objects that have changed were found.
    enum Source: Sendable {
        case entries
        case versions
    }

    /// The last entry whose changes are taken into account.
    private(set) var through: SequenceNumber
    let source: Source
    private var bytes: [UInt8] = []
    private var places: [Range<Int>] = []

    /// Those of no object yet.
    init(through moment: SequenceNumber, from source: Source) {
        through = moment
        self.source = source
    }

    var count: Int { places.count }

    /// The number of records up to which they are inserted one by one.
    private static let fewRecords = 32

    /// Adds the records of objects that have changed up to an entry; those that are there count once.
    mutating func add(_ keys: [[UInt8]], through last: SequenceNumber) {
        through = last
        if keys.count <= Self.fewRecords {
            for key in keys { insert(key) }
            return
        }
        for key in keys { append(key) }
        let bytes = bytes
        let all = bytes.span.bytes
        places.sort { all.extracting($0).precedes(all.extracting($1)) }
        var kept = 0
        for place in places {
            if kept > 0, all.extracting(places[kept - 1]).hasSameBytes(as: all.extracting(place)) {
                continue
            }
            places[kept] = place
            kept += 1
        }
        places.removeLast(places.count - kept)
    }

    private mutating func append(_ key: [UInt8]) {
        places.append(bytes.count..<bytes.count + key.count)
        bytes += key
    }

    private mutating func insert(_ key: [UInt8]) {
        let index = index(of: key)
        if index < places.count,
            bytes.span.bytes.extracting(places[index]).hasSameBytes(as: key.span.bytes)
        {
            return
        }
        places.insert(bytes.count..<bytes.count + key.count, at: index)
        bytes += key
    }

    /// The records with `lower <= key < upper`, as indices.
    func indices(from lower: [UInt8], to upper: [UInt8]) -> Range<Int> {
        let start = index(of: lower)
        return start..<max(start, index(of: upper))
    }

    /// The index of the first record that does not come before a key.
    private func index(of key: [UInt8]) -> Int {
        let all = bytes.span.bytes
        var (lower, upper) = (0, places.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if all.extracting(places[middle]).precedes(key.span.bytes) {
                lower = middle + 1
            } else {
                upper = middle
            }
        }
        return lower
    }

    /// Calls `body` with the key of a record.
    func withKey<R>(at index: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
        try body(bytes.span.bytes.extracting(places[index]))
    }
}
