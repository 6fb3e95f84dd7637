internal import DaybookJournalLog
internal import DaybookLMDB

/// The times of entries, as a tree over their numbers, in a table of its own.
///
/// A record of level 1 has the times of 64 entries. One of the next level has the earliest and the latest
/// time of each of 64 such records, and so on. So the next entry of a range of times is found, from either
/// end: a record in which there is none is passed over with everything below it. Times need not be in the
/// order of the entries for that. A record is written by the last entry that it tells of, and never again:
/// the table only grows at its end.
struct TimeTree {
    let table: Table

    /// How many times, or records of the level below, a record tells of; a power of two.
    static let width = 1 << widthBits

    private static let widthBits = 6

    /// Stands for the time of an entry that could not be read when the others were written.
    static let unreadable = Int64.max

    // MARK: - Writing

    /// The records that an entry completes, in the order of their keys.
    ///
    /// - Parameters:
    ///   - last: The entry; its number is a multiple of ``width``.
    ///   - times: Its time and those of the entries before it, ``width`` in all.
    ///   - transaction: The state to read, with the records of the entries before these.
    /// - Returns: A record of each level that ends with the entry.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one of them is missing.
    /// - Complexity: One record for 64 entries, and 64 reads for each level above.
    func records(
        through last: SequenceNumber, _ times: [Int64],
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [(key: [UInt8], value: [UInt8])] {
        var value = KeyWriter(capacity: Self.width * MemoryLayout<Int64>.size)
        for time in times { value.append(time) }
        var records = [(key: StoreKey.time(last, 1), value: value.bytes)]
        var spans = times.map { $0...$0 }
        for level in 1..<Self.height(of: last) {
            let step = Self.count(of: level)
            let own = Self.hull(of: spans)
            spans = try (1..<UInt64(Self.width)).reversed().map { passed in
                let sibling = SequenceNumber(last.rawValue - passed * step)
                return Self.hull(of: try read(sibling, level, in: transaction))
            }
            spans.append(own)
            var value = KeyWriter(capacity: 2 * Self.width * MemoryLayout<Int64>.size)
            for span in spans {
                value.append(span.lowerBound)
                value.append(span.upperBound)
            }
            records.append((StoreKey.time(last, level + 1), value.bytes))
        }
        return records
    }

    /// The record of an entry whose time is not read together with others, as it is too long.
    static func record(
        ofLong entry: SequenceNumber, _ time: Int64
    ) -> (key: [UInt8], value: [UInt8]) {
        var value = KeyWriter(capacity: MemoryLayout<Int64>.size)
        value.append(time)
        return (StoreKey.time(entry, 0), value.bytes)
    }

    // MARK: - Reading

    /// The time of a long entry; nil when it has not written one.
    func time(
        ofLong entry: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Int64? {
        let key = StoreKey.time(entry, 0)
        return try transaction.get(table, key.span.bytes) { value in
            var reader = KeyReader()
            return try reader.int64(value)
        }
    }

    /// The last entry of some times, of those up to `last`; nil when there is none.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a record is missing.
    /// - Complexity: O(log *n*) page reads where the range of times is open at one end, at most 64 records
    ///   of each level; otherwise those of all blocks, too, that have times on both sides of the range.
    func last(
        of times: ClosedRange<Int64>, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        var end = last.rawValue
        let rest = Int(end % UInt64(Self.width))
        if rest > 0 {
            end -= UInt64(rest)
            let spans = try read(SequenceNumber(end + UInt64(Self.width)), 1, in: transaction)
            if let index = spans[..<rest].lastIndex(where: { $0.overlaps(times) }) {
                return SequenceNumber(end + UInt64(index) + 1)
            }
        }
        while end > 0 {
            let level = Self.height(of: SequenceNumber(end))
            let found = try entry(
                of: times, under: SequenceNumber(end), level, .newestFirst, in: transaction)
            if let found { return found }
            end -= Self.count(of: level)
        }
        return nil
    }

    /// The first entry of some times, of those from `first` through `last`, which is a multiple of
    /// ``width``; nil when there is none.
    ///
    /// - Throws: As ``last(of:through:in:)``.
    /// - Complexity: As ``last(of:through:in:)``.
    func first(
        of times: ClosedRange<Int64>, from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        guard first <= last else { return nil }
        var passed = first.rawValue - 1
        let before = Int(passed % UInt64(Self.width))
        if before > 0 {
            passed -= UInt64(before)
            let spans = try read(SequenceNumber(passed + UInt64(Self.width)), 1, in: transaction)
            if let index = spans[before...].firstIndex(where: { $0.overlaps(times) }) {
                return SequenceNumber(passed + UInt64(index) + 1)
            }
            passed += UInt64(Self.width)
        }
        while passed < last.rawValue {
            var level = 1
            while level < Self.levelMaximum, passed % Self.count(of: level + 1) == 0,
                passed + Self.count(of: level + 1) <= last.rawValue
            {
                level += 1
            }
            passed += Self.count(of: level)
            let found = try entry(
                of: times, under: SequenceNumber(passed), level, .oldestFirst, in: transaction)
            if let found { return found }
        }
        return nil
    }

    /// The first or the last entry of some times below a record; nil when there is none.
    private func entry(
        of times: ClosedRange<Int64>, under last: SequenceNumber, _ level: Int, _ order: EntryOrder,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        let spans = try read(last, level, in: transaction)
        for passed in 0..<Self.width {
            let index = order == .oldestFirst ? passed : Self.width - 1 - passed
            guard spans[index].overlaps(times) else { continue }
            let below = SequenceNumber(
                last.rawValue - UInt64(Self.width - 1 - index) * Self.count(of: level - 1))
            if level == 1 { return below }
            if let found = try entry(of: times, under: below, level - 1, order, in: transaction) {
                return found
            }
        }
        return nil
    }

    /// What a record says: the earliest and the latest time of each part.
    private func read(
        _ last: SequenceNumber, _ level: Int, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [ClosedRange<Int64>] {
        let key = StoreKey.time(last, level)
        let spans = try transaction.get(table, key.span.bytes) { value in
            var reader = KeyReader()
            return try (0..<Self.width).map { _ in
                let earliest = try reader.int64(value)
                let latest = level == 1 ? earliest : try reader.int64(value)
                guard earliest <= latest else { throw Self.damage(to: last) }
                return earliest...latest
            }
        }
        guard let spans else { throw Self.damage(to: last) }
        return spans
    }

    private static func damage(to last: SequenceNumber) -> StoreError {
        .corrupt("The times of the entries up to \(last) are missing, or no times")
    }

    private static func hull(of spans: [ClosedRange<Int64>]) -> ClosedRange<Int64> {
        spans.dropFirst().reduce(spans[0]) { hull, span in
            min(hull.lowerBound, span.lowerBound)...max(hull.upperBound, span.upperBound)
        }
    }

    /// The number of levels with a record that ends with an entry.
    private static func height(of last: SequenceNumber) -> Int {
        last.rawValue.trailingZeroBitCount / widthBits
    }

    /// The greatest level whose entries can be counted.
    private static let levelMaximum = (UInt64.bitWidth - 1) / widthBits

    /// How many entries a record of a level tells of; one below the first.
    private static func count(of level: Int) -> UInt64 { 1 << UInt64(level * widthBits) }
}
