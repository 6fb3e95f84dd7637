package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// The times of entries are in a table of their own: see `TimeTree`. A record for each would cost
// every save a page or two, so those of short entries are written for many together: the table has
// all up to the last one whose number is a multiple of `TimeTree.width`, and the few short ones after
// it are read one by one. A long entry writes its own time: its save writes pages of its own anyway,
// and checking it later would mean reading all of it.

extension Store {
    /// The last entry of the journal whose time is not after `time`; zero when there is none.
    ///
    /// An entry's time is when it happened, if that is stated, or else when it was recorded. So later
    /// times never lead to earlier entries, whatever times are stated, and a time after all of them
    /// leads to the newest entry. An entry that was already damaged when its time was to be written is
    /// skipped; verifying the store reports it.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one of the last entries,
    ///   whose times are not written yet, cannot be trusted.
    /// - Complexity: O(log *n*) page reads, and at most 63 times as many for long entries among the
    ///   last.
    package func sequence(atTime time: Int64) throws -> SequenceNumber {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            return try parts.sequence(atTime: time, through: head, in: transaction)
        }
    }
}

extension StoreParts {
    private var timeTree: TimeTree { TimeTree(table: tables.times) }

    /// The last entry whose time is not after `time`, of those up to `last`; zero when there is none.
    func sequence(
        atTime time: Int64, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        let written = try lastWrittenTime(in: transaction)
        let recent = try unwrittenTimes(from: written.next, through: last, in: transaction)
        if let found = recent.last(where: { $0.time <= time }) { return found.sequence }
        return try timeTree.last(of: .min...time, through: min(last, written), in: transaction)
            ?? .zero
    }

    /// The next entries of a range among which some have one of some times, as it seems; nil when there
    /// are no more.
    ///
    /// - Parameters:
    ///   - times: The times, in microseconds since 1970.
    ///   - range: The entries.
    ///   - order: From which end the entries are looked for.
    ///   - transaction: The state to read.
    /// - Returns: At most ``TimeTree/width`` entries. Those before them, in that order, have other times.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a record is missing.
    /// - Complexity: As ``TimeTree/last(of:through:in:)``.
    func entries(
        of times: ClosedRange<Int64>, in range: ClosedRange<SequenceNumber>, _ order: EntryOrder,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> ClosedRange<SequenceNumber>? {
        let written = try lastWrittenTime(in: transaction)
        let width = UInt64(TimeTree.width)
        // The times of the last few are in the entries only.
        let recent = max(written.next, range.lowerBound)
        switch order {
        case .newestFirst:
            if recent <= range.upperBound { return recent...range.upperBound }
            let last = try timeTree.last(of: times, through: range.upperBound, in: transaction)
            guard let last, last >= range.lowerBound else { return nil }
            let first = SequenceNumber((last.rawValue - 1) / width * width + 1)
            return max(first, range.lowerBound)...last
        case .oldestFirst:
            let first = try timeTree.first(
                of: times, from: range.lowerBound, through: written, in: transaction)
            if let first {
                guard first <= range.upperBound else { return nil }
                let last = SequenceNumber((first.rawValue - 1) / width * width + width)
                return first...min(last, range.upperBound)
            }
            return recent <= range.upperBound ? recent...range.upperBound : nil
        }
    }

    /// The last entry whose time the table has with those of others.
    private func lastWrittenTime(
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        let head = try journal.head(in: transaction)
        return SequenceNumber(head.rawValue - head.rawValue % UInt64(TimeTree.width))
    }

    /// The times in a range of entries whose times are not in the table yet, but for those of long ones.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``, or ``JournalError``, at the first
    ///   entry that is missing or cannot be trusted.
    fileprivate func unwrittenTimes(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [(time: Int64, sequence: SequenceNumber)] {
        try times(from: first, through: last, in: transaction).enumerated().map { index, time in
            let sequence = SequenceNumber(first.rawValue + UInt64(index))
            return (try time ?? checkedTime(of: sequence, in: transaction), sequence)
        }
    }

    /// The records that an entry for which ``SequenceNumber/writesTimes`` holds writes for many.
    ///
    /// An entry that cannot be trusted is left out of the table: one entry damaged long ago must not
    /// prevent saving. Verifying reports it, and folding the journal stops at it.
    ///
    /// - Complexity: O((1 + *l*) log *n*) page reads, *l* the number of long entries among them.
    func timeRecords(
        through last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [(key: [UInt8], value: [UInt8])] {
        let first = SequenceNumber(last.rawValue - UInt64(TimeTree.width) + 1)
        let times = try times(from: first, through: last, in: transaction)
        return try timeTree.records(
            through: last, times.map { $0 ?? TimeTree.unreadable }, in: transaction)
    }

    /// The times of the entries in a range; nil for one that cannot be trusted.
    private func times(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64?] {
        guard first <= last else { return [] }
        var times = [Int64?](repeating: nil, count: Int(last.rawValue - first.rawValue) + 1)
        try journal.shortEntries(from: first, through: last, in: transaction) {
            sequence, recordedAt, payload in
            let index = Int(sequence.rawValue - first.rawValue)
            do throws(DecodingFailure) {
                times[index] = try EntryPayload.occurredAt(in: payload) ?? recordedAt
            } catch {
                // A caller that needs the time reads the entry, which reports the fault.
                times[index] = nil
            }
        }
        for (index, time) in times.enumerated() where time == nil {
            let sequence = SequenceNumber(first.rawValue + UInt64(index))
            guard try journal.isLong(sequence, in: transaction) else { continue }
            times[index] = try timeTree.time(ofLong: sequence, in: transaction)
        }
        return times
    }

    private func checkedTime(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Int64 {
        guard let heading = try heading(of: sequence, in: transaction) else {
            throw StoreError.corrupt("Entry \(sequence) is missing from the journal")
        }
        return heading.time
    }
}

extension SequenceNumber {
    /// Whether the times of the entries up to this one are written with it.
    var writesTimes: Bool { rawValue > 0 && rawValue % UInt64(TimeTree.width) == 0 }
}
