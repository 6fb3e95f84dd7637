internal import DaybookJournalLog
internal import DaybookLMDB

/// The times of entries, as a tree over their numbers, in a table of its own.
///
/// A record of level 1 has the times of 64 entries. One of the next level has the earliest time of
/// each of 64 such records, and so on. So the last entry that is not after some time is found from the
/// end: a record in which nothing is early enough is passed over with everything below it. Times need
/// not be in the order of the entries for that. A record is written by the last entry that it tells of,
/// and never again: the table only grows at its end.
struct TimeTree {
    let table: Table

    /// How many times a record has; a power of two.
    static let width = 1 << widthBits

    private static let widthBits = 6

    /// Stands for the time of an entry that could not be read when the others were written: later than
    /// any time that is looked for.
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
        var records: [(key: [UInt8], value: [UInt8])] = []
        var times = times
        for level in 1...Self.height(of: last) {
            if level > 1 {
                let earliest = times.min() ?? Self.unreadable
                let step = Self.span(of: level - 1)
                times = try (1..<UInt64(Self.width)).reversed().map { passed in
                    let sibling = SequenceNumber(last.rawValue - passed * step)
                    return try read(sibling, level - 1, in: transaction) { $0.min() }
                        ?? Self.unreadable
                }
                times.append(earliest)
            }
            var value = KeyWriter(capacity: Self.width * MemoryLayout<Int64>.size)
            for time in times { value.append(time) }
            records.append((StoreKey.time(last, level), value.bytes))
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

    /// The last entry whose time is not after `time`, of those up to `last`; nil when there is none.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a record is missing or does not
    ///   fit the others.
    /// - Complexity: O(log *n*) page reads: at most 64 records of each level.
    func last(
        notAfter time: Int64, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        var end = last.rawValue
        let first = Int(end % UInt64(Self.width))
        if first > 0 {
            end -= UInt64(first)
            let whole = SequenceNumber(end + UInt64(Self.width))
            let index = try read(whole, 1, in: transaction) { times in
                times[..<first].lastIndex { $0 <= time }
            }
            if let index { return SequenceNumber(end + UInt64(index) + 1) }
        }
        while end > 0 {
            let level = Self.height(of: SequenceNumber(end))
            if let found = try descend(from: SequenceNumber(end), level, to: time, in: transaction)
            {
                return found
            }
            end -= Self.span(of: level)
        }
        return nil
    }

    /// The last entry below a record whose time is not after `time`; nil when there is none.
    private func descend(
        from end: SequenceNumber, _ level: Int, to time: Int64,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber? {
        var (end, level) = (end, level)
        let top = level
        while level > 0 {
            let index = try read(end, level, in: transaction) { times in
                times.lastIndex { $0 <= time }
            }
            guard let index else {
                if level == top { return nil }
                throw StoreError.corrupt(
                    "The times of the entries up to \(end) do not fit those of all before and after"
                )
            }
            level -= 1
            end = SequenceNumber(
                end.rawValue - UInt64(Self.width - 1 - index) * Self.span(of: level))
        }
        return end
    }

    private func read<R>(
        _ last: SequenceNumber, _ level: Int, in transaction: borrowing some Reading & ~Copyable,
        _ body: ([Int64]) -> R
    ) throws -> R {
        let key = StoreKey.time(last, level)
        let times = try transaction.get(table, key.span.bytes) { value in
            var reader = KeyReader()
            return try (0..<Self.width).map { _ in try reader.int64(value) }
        }
        guard let times else {
            throw StoreError.corrupt("The times of the entries up to \(last) are missing")
        }
        return body(times)
    }

    /// The number of levels with a record that ends with an entry.
    private static func height(of last: SequenceNumber) -> Int {
        last.rawValue.trailingZeroBitCount / widthBits
    }

    /// How many entries a record of a level tells of; one below the first.
    private static func span(of level: Int) -> UInt64 { 1 << UInt64(level * widthBits) }
}
