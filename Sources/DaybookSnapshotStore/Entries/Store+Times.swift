package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

// The times of entries stand in a table of their own, sorted. A record at a random place would cost
// every save a page or two, so those of short entries are put there for many together: the table
// has all up to the last one whose number is a multiple of `StoreLayout.timesTogether`, and the
// short ones behind it, which are few, are asked one by one. A long entry puts its own time there:
// its save writes pages of its own anyway, and whoever had to trust it later would have to read all
// of it.

extension Store {
    /// The last entry whose time is not after a point in time; zero before the first.
    ///
    /// Of entries with the same time the one with the highest number counts. An entry's time is
    /// when it happened, if that was told, and else when it was recorded. An entry that was damaged
    /// already when its time was to be noted is passed over; verifying the store names it.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one of the last entries, of which
    ///   the times are not noted yet, cannot be trusted.
    /// - Complexity: O(log *n*) page reads, and at most 63 times as many for long entries among the
    ///   last.
    package func sequence(atTime time: Int64) throws -> SequenceNumber {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            let noted = head.rawValue / StoreLayout.timesTogether * StoreLayout.timesTogether
            var found = try parts.timesNotNoted(
                from: SequenceNumber(noted + 1), through: head, in: transaction)
            found.removeAll { $0.time > time }
            if let last = try parts.notedTime(notAfter: time, in: transaction) {
                found.append(last)
            }
            // Of entries with the same time the one with the highest number counts.
            return found.max { ($0.time, $0.sequence) < ($1.time, $1.sequence) }?.sequence ?? .zero
        }
    }
}

extension StoreParts {
    /// The last time in the table that is not after another, and its last entry.
    fileprivate func notedTime(
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

    /// The times of the short ones of entries in a row: when they happened, or else were recorded.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``, or ``JournalError``, at the first one
    ///   that is missing or cannot be trusted.
    fileprivate func timesNotNoted(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [(time: Int64, sequence: SequenceNumber)] {
        var found: [(time: Int64, sequence: SequenceNumber)] = []
        for (place, time) in try shortTimes(from: first, through: last, in: transaction)
            .enumerated()
        {
            let sequence = SequenceNumber(first.rawValue + UInt64(place))
            if let time {
                found.append((time, sequence))
            } else if try !journal.isLong(sequence, in: transaction) {
                found.append((try checkedTime(of: sequence, in: transaction), sequence))
            }
        }
        return found
    }

    /// The times of the entries whose records the last of them writes; nil for a long one, which
    /// has written its own, and for one that cannot be trusted.
    ///
    /// That is left out of the table: one entry damaged long ago must not keep anybody from saving.
    /// Verifying names it, and folding the journal stops at it.
    ///
    /// - Complexity: O((1 + *l*) log *n*) page reads, *l* the number of long entries among them.
    func timesWritten(
        by last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64?] {
        let first = SequenceNumber(last.rawValue - StoreLayout.timesTogether + 1)
        return try shortTimes(from: first, through: last, in: transaction)
    }

    /// The times of entries in a row, as far as they stand in one record each and can be trusted.
    private func shortTimes(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64?] {
        guard first <= last else { return [] }
        var told = [Int64?](repeating: nil, count: Int(last.rawValue - first.rawValue) + 1)
        try journal.shortEntries(from: first, through: last, in: transaction) {
            sequence, recordedAt, payload in
            let place = Int(sequence.rawValue - first.rawValue)
            do throws(DecodingFailure) {
                told[place] = try EntryPayload.occurredAt(in: payload) ?? recordedAt
            } catch {
                // Whoever has to know it reads the entry, and is told what is wrong.
                told[place] = nil
            }
        }
        return told
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
