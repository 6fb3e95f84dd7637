package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// The times of entries are in a table of their own, sorted. A record at a random position would
// cost every save a page or two, so those of short entries are written for many together: the table
// has all up to the last one whose number is a multiple of `StoreLayout.timesTogether`, and the few
// short ones after it are read one by one. A long entry writes its own time: its save writes pages
// of its own anyway, and checking it later would mean reading all of it.

extension Store {
    /// The last entry whose time is not after `time`; zero before the first.
    ///
    /// Of entries with the same time, the one with the highest number counts. An entry's time is
    /// when it happened, if that is stated, or else when it was recorded. An entry that was already
    /// damaged when its time was to be written is skipped; verifying the store reports it.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one of the last entries,
    ///   whose times are not written yet, cannot be trusted.
    /// - Complexity: O(log *n*) page reads, and at most 63 times as many for long entries among the
    ///   last.
    package func sequence(atTime time: Int64) throws -> SequenceNumber {
        try reading { try parts.sequence(atTime: time, in: $0) }
    }
}

extension StoreParts {
    /// The last entry whose time is not after `time`; zero before the first.
    func sequence(
        atTime time: Int64, in transaction: borrowing some Reading & ~Copyable
    ) throws -> SequenceNumber {
        let head = try journal.head(in: transaction)
        let written = head.rawValue / StoreLayout.timesTogether * StoreLayout.timesTogether
        var found = try unwrittenTimes(
            from: SequenceNumber(written + 1), through: head, in: transaction)
        found.removeAll { $0.time > time }
        if let last = try writtenTime(notAfter: time, in: transaction) { found.append(last) }
        // Of entries with the same time the one with the highest number counts.
        return found.max { ($0.time, $0.sequence) < ($1.time, $1.sequence) }?.sequence ?? .zero
    }

    /// The last time in the table that is not after `time`, and its last entry.
    fileprivate func writtenTime(
        notAfter time: Int64, in transaction: borrowing some Reading & ~Copyable
    ) throws -> (time: Int64, sequence: SequenceNumber)? {
        func read(_ key: RawSpan) throws -> (Int64, SequenceNumber) {
            var reader = KeyReader()
            return (try reader.int64(key), try reader.sequence(key))
        }
        guard time < .max else {
            return try transaction.seek(tables.times, before: nil) { key, _ in try read(key) }
        }
        let end = StoreKey.time(time + 1, .zero)
        return try transaction.seek(tables.times, before: end.span.bytes) { key, _ in try read(key)
        }
    }

    /// The times of the short entries in a range whose times are not in the table yet.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``, or ``JournalError``, at the first
    ///   entry that is missing or cannot be trusted.
    fileprivate func unwrittenTimes(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [(time: Int64, sequence: SequenceNumber)] {
        var found: [(time: Int64, sequence: SequenceNumber)] = []
        for (index, time) in try shortTimes(from: first, through: last, in: transaction)
            .enumerated()
        {
            let sequence = SequenceNumber(first.rawValue + UInt64(index))
            if let time {
                found.append((time, sequence))
            } else if try !journal.isLong(sequence, in: transaction) {
                found.append((try checkedTime(of: sequence, in: transaction), sequence))
            }
        }
        return found
    }

    /// The times of the entries that the last of them writes; nil for a long one, which has written
    /// its own, and for one that cannot be trusted.
    ///
    /// Such an entry is left out of the table: one entry damaged long ago must not prevent saving.
    /// Verifying reports it, and folding the journal stops at it.
    ///
    /// - Complexity: O((1 + *l*) log *n*) page reads, *l* the number of long entries among them.
    func timesWritten(
        by last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64?] {
        let first = SequenceNumber(last.rawValue - StoreLayout.timesTogether + 1)
        return try shortTimes(from: first, through: last, in: transaction)
    }

    /// The times of the entries in a range; nil for one that has more than one record or cannot be
    /// trusted.
    private func shortTimes(
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
    /// Whether the times of the short entries up to this one are written with it.
    var writesTimes: Bool { rawValue > 0 && rawValue % StoreLayout.timesTogether == 0 }
}
