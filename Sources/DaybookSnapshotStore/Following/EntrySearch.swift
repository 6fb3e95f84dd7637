package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

// How the entries of a selection are found: in the index of entries where the model in force has one and they are few,
// and else by reading all of the range, without the parts that have other times than are asked for. All give the same. What proves something, such as an export for an audit, and
// what must not miss an entry, such as a program that follows the store, reads all: a record that a damaged index lacks
// would leave its entry out, and nothing but 'verify' would tell.

/// The direction through a journal.
package enum EntryOrder: Sendable, Hashable {
    /// The first entry first.
    case oldestFirst
    /// The last entry first.
    case newestFirst
}

/// How the entries of a selection are found.
package enum EntryAccess: Sendable, Hashable {
    /// All of a range are read, so many.
    case walk(UInt64)
    /// Those that say something are looked up: about so many.
    case index(IndexedAttribution, about: Int)
    /// The parts of the range that have the times asked for are looked up.
    case times
}

extension Store {
    /// Passes the entries of a range that a selection may include to `body`: perhaps others as well, but all that it
    /// includes.
    ///
    /// - Parameters:
    ///   - selection: What is looked for; `body` tests it.
    ///   - first: The first entry of the range.
    ///   - last: The last one; entries after the head are left out.
    ///   - order: The direction.
    ///   - body: Says whether to go on; it runs outside of a transaction.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` at the first entry that is read and cannot be trusted;
    ///   what `body` throws.
    /// - Complexity: O(log *n* + *k*) page reads where the index serves, *k* the pages of the entries found by it; else
    ///   O(*b*), *b* those of the range, or of its parts with the times that are asked for.
    package func entries(
        selectedBy selection: HeaderSelection, from first: SequenceNumber,
        through last: SequenceNumber, _ order: EntryOrder, _ body: (Entry) throws -> WalkStep
    ) throws {
        let (first, last) = (max(first, SequenceNumber(1)), min(last, try head()))
        guard first <= last else { return }
        var rest: ClosedRange<SequenceNumber>? = first...last
        if var search = try search(for: selection, in: first...last, order) {
            while let portion = try search.next() {
                for entry in portion.entries {
                    if try body(try Entry(entry)) == .stop { return }
                }
                if let failure = portion.failure { throw failure }
            }
            // Where another program has dropped the index meanwhile, the rest is walked.
            rest = search.rest
        }
        guard let rest else { return }
        guard let times = selection.times else {
            _ = try walk(rest, order, body)
            return
        }
        try forEachPart(of: rest, with: times, order) { try walk($0, order, body) }
    }

    /// Passes the parts of a range of entries to `body` that have, as it seems, one of some times, in order.
    private func forEachPart(
        of range: ClosedRange<SequenceNumber>, with times: ClosedRange<Int64>, _ order: EntryOrder,
        _ body: (ClosedRange<SequenceNumber>) throws -> WalkStep
    ) throws {
        var rest: ClosedRange<SequenceNumber>? = range
        while let left = rest {
            let found = try unlessDamaged { () -> ClosedRange<SequenceNumber>?? in
                .some(
                    try reading { try parts.entries(of: times, in: left, order, in: $0) })
            }
            // Where the table of times is damaged, all entries are walked.
            guard let part = found ?? left else { return }
            guard try body(part) == .proceed else { return }
            rest = left.after(part, order)
        }
    }

    private func walk(
        _ range: ClosedRange<SequenceNumber>, _ order: EntryOrder,
        _ body: (Entry) throws -> WalkStep
    ) throws -> WalkStep {
        var step = WalkStep.proceed
        switch order {
        case .oldestFirst:
            try entries(from: range.lowerBound, through: range.upperBound) { entry in
                step = try body(entry)
                return step
            }
        case .newestFirst:
            var next = range.upperBound
            while next >= range.lowerBound, step == .proceed {
                step = try body(try entry(next))
                next = next.previous
            }
        }
        return step
    }

    /// How ``entries(selectedBy:from:through:_:_:)`` finds the entries.
    ///
    /// - Complexity: O(*t* log *n*) page reads, *t* the number of texts looked for.
    package func access(
        to selection: HeaderSelection, from first: SequenceNumber, through last: SequenceNumber
    ) throws -> EntryAccess {
        let (first, last) = (max(first, SequenceNumber(1)), min(last, try head()))
        guard first <= last else { return .walk(0) }
        guard let search = try search(for: selection, in: first...last, .oldestFirst) else {
            return selection.times == nil ? .walk(last.rawValue - first.rawValue + 1) : .times
        }
        return .index(search.attribution, about: search.estimate)
    }

    /// A search by the condition that the fewest entries meet; nil where the index does not serve, or finds so many
    /// that reading all is as fast.
    private func search(
        for selection: HeaderSelection, in range: ClosedRange<SequenceNumber>, _ order: EntryOrder
    ) throws -> EntrySearch? {
        let conditions = selection.indexable
        guard !conditions.isEmpty else { return nil }
        let found: [EntrySearch]? = try unlessDamaged {
            try reading { transaction in
                let inForce = try models.inForce(in: transaction).parts.projection
                return try conditions.compactMap { attribution, texts -> EntrySearch? in
                    guard inForce.indexes(attribution) else { return nil }
                    var search = EntrySearch(self, attribution, texts, in: range, order)
                    try search.estimate(in: transaction)
                    return search
                }
            }
        }
        guard let least = found?.min(by: { $0.estimate < $1.estimate }) else { return nil }
        let count = range.upperBound.rawValue - range.lowerBound.rawValue + 1
        return UInt64(least.estimate) < count / EntrySearch.dearness ? least : nil
    }
}

extension Store {
    /// What `body` returns; nil where a damaged record keeps it from an answer. The journal has what is looked for, and
    /// is read then; `verify` tells of the damage.
    fileprivate func unlessDamaged<R>(_ body: () throws -> R?) throws -> R? {
        do {
            return try body()
        } catch let error as StoreError where error.code == .corrupt {
            return nil
        }
    }
}

extension ClosedRange<SequenceNumber> {
    /// What follows a part of the range; nil at the end.
    fileprivate func after(_ part: Self, _ order: EntryOrder) -> Self? {
        switch order {
        case .oldestFirst:
            part.upperBound < upperBound ? part.upperBound.next...upperBound : nil
        case .newestFirst:
            part.lowerBound > lowerBound ? lowerBound...part.lowerBound.previous : nil
        }
    }
}

extension HeaderSelection {
    /// The times of the entries, where not all are included; nil for all, and for none.
    fileprivate var times: ClosedRange<Int64>? {
        guard earliest <= latest, earliest > .min || latest < .max else { return nil }
        return earliest...latest
    }

    /// The conditions that an index may serve: what entries must say, and which texts; any for an empty set.
    fileprivate var indexable: [(IndexedAttribution, Set<String>)] {
        var conditions: [(IndexedAttribution, Set<String>)] = []
        if !authors.isEmpty { conditions.append((.author, authors)) }
        for (key, texts) in info.sorted(by: { $0.key < $1.key }) {
            conditions.append((.info(key), texts))
        }
        // Letters that the settled tables do not have may be spelled in ways that the index keeps apart.
        return conditions.filter { attribution, texts in
            attribution.key.isSettled && texts.allSatisfy(\.isSettled)
                && texts.count <= EntrySearch.textsMaximum
        }
    }
}

extension Projection {
    /// Whether the table has an index of entries.
    func indexes(_ attribution: IndexedAttribution) -> Bool {
        guard !indexedAttribution.isEmpty else { return false }
        let sought = StoreKey.entries(by: attribution)
        return indexedAttribution.contains { StoreKey.entries(by: $0) == sought }
    }
}

/// A walk over the entries of a range that say something, portion by portion, each in a read transaction of its own.
///
/// Invariants:
/// - All such entries of the range outside ``rest`` have been passed, in order.
/// - The index is asked only in a state in which it is kept. An entry never changes, so what it said of one holds.
struct EntrySearch {
    /// Entries that were found, and why the next one is not among them.
    struct Portion {
        var entries: [JournalEntry] = []
        var failure: (any Error)?
    }

    let attribution: IndexedAttribution
    /// What remains of the range; nil at the end.
    private(set) var rest: ClosedRange<SequenceNumber>?
    /// About how many records are looked at.
    private(set) var estimate = 0
    private let store: Store
    private let order: EntryOrder
    /// Where the index has each text, or one place for all.
    private let places: [[UInt8]]
    private let isOfAnyText: Bool
    /// Numbers that were found and not passed yet, the next one last, where all are found at once.
    private var waiting: [SequenceNumber]?
    private var size = Self.firstSize

    /// An entry that is looked up costs about as much as so many that are read one after the other.
    static let dearness: UInt64 = 4
    /// With more texts the index is not asked.
    static let textsMaximum = 1024
    /// With more, all numbers are found at once, because each portion asks for every text.
    private static let textsInTurnMaximum = 16
    /// How many entries are read together: few at first, for a caller who wants few.
    private static let firstSize = 16
    private static let sizeMaximum = 256

    init(
        _ store: Store, _ attribution: IndexedAttribution, _ texts: Set<String>,
        in range: ClosedRange<SequenceNumber>, _ order: EntryOrder
    ) {
        self.store = store
        self.attribution = attribution
        self.order = order
        rest = range
        isOfAnyText = texts.isEmpty
        places =
            texts.isEmpty
            ? [StoreKey.entries(by: attribution)]
            : Array(Set(texts.map { StoreKey.entries(by: attribution, $0) }))
    }

    /// Finds out about how many records there are.
    mutating func estimate(in transaction: borrowing ReadTransaction) throws {
        guard let rest else { return }
        estimate = try places.reduce(0) { sum, place in
            let (lower, upper) = bounds(of: place, in: rest)
            return sum
                + (try transaction.estimatedCount(
                    table, from: lower.span.bytes, to: upper.span.bytes))
        }
    }

    /// The next entries; nil at the end, and when the index is not kept any more or is damaged, with something left in
    /// ``rest``.
    mutating func next() throws -> Portion? {
        guard rest != nil else { return nil }
        let before = self
        let found = try store.unlessDamaged {
            try store.reading { transaction in
                var search = before
                let portion = try search.next(in: transaction)
                return (search, portion)
            }
        }
        guard let (search, portion) = found else { return nil }
        self = search
        return portion
    }

    private mutating func next(in transaction: borrowing ReadTransaction) throws -> Portion? {
        guard let range = rest, var numbers = try numbers(in: range, transaction) else {
            return nil
        }
        size = min(2 * size, Self.sizeMaximum)
        var portion = Portion()
        var bytes = 0
        while let number = numbers.popLast() {
            do {
                guard let entry = try store.parts.journal.entry(at: number, in: transaction) else {
                    throw StoreError.corrupt("Entry \(number) is missing from the journal")
                }
                portion.entries.append(entry)
                bytes += entry.payload.count
                pass(number)
            } catch {
                portion.failure = StoreError(wrapping: error, path: store.path)
                return portion
            }
            guard bytes < StoreLayout.walkedBytesLimit, portion.entries.count < Self.sizeMaximum
            else { break }
        }
        if waiting != nil { waiting = numbers }
        if portion.entries.isEmpty { rest = nil }
        return portion.entries.isEmpty ? nil : portion
    }

    /// The next numbers, the first of them last; nil when the index is not kept.
    private mutating func numbers(
        in range: ClosedRange<SequenceNumber>, _ transaction: borrowing ReadTransaction
    ) throws -> [SequenceNumber]? {
        if let waiting { return waiting }
        guard try store.models.inForce(in: transaction).parts.projection.indexes(attribution)
        else { return nil }
        let isWhole = isOfAnyText || places.count > Self.textsInTurnMaximum
        var found: [SequenceNumber] = []
        for place in places {
            try collect(place, in: range, isWhole ? .max : size, &found, transaction)
        }
        found.sort(by: order == .oldestFirst ? { $0 > $1 } : { $0 < $1 })
        if isWhole {
            waiting = found
        } else {
            // Behind the portion, other texts may have more.
            found.removeFirst(max(0, found.count - size))
        }
        return found
    }

    /// Appends the numbers of the next entries at one place of the index.
    private func collect(
        _ place: [UInt8], in range: ClosedRange<SequenceNumber>, _ limit: Int,
        _ found: inout [SequenceNumber], _ transaction: borrowing ReadTransaction
    ) throws {
        let (lower, upper) = bounds(of: place, in: range)
        var count = 0
        try transaction.scan(
            table, from: lower.span.bytes, to: upper.span.bytes,
            order: order == .oldestFirst ? .ascending : .descending
        ) { key, _ in
            var reader = KeyReader(at: max(0, key.byteCount - StoreKey.sequenceSize))
            let number = try reader.sequence(key)
            guard range.contains(number) else { return .proceed }
            found.append(number)
            count += 1
            return count < limit ? .proceed : .stop
        }
    }

    /// The keys of the records at one place: of any text, those of all entries.
    private func bounds(
        of place: [UInt8], in range: ClosedRange<SequenceNumber>
    ) -> (lower: [UInt8], upper: [UInt8]) {
        isOfAnyText
            ? (place, StoreKey.end(of: place) ?? []) : StoreKey.bounds(at: place, in: range)
    }

    /// Leaves out everything up to an entry.
    private mutating func pass(_ number: SequenceNumber) {
        rest = rest?.after(number...number, order)
    }

    private var table: Table { store.parts.tables.index }
}
