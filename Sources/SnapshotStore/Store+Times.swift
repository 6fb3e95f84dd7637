package import JournalLog
internal import LMDB
internal import ObjectModel

// The times of entries stand in a table of their own, sorted. A record at a random place would cost every
// save a page or two, so they are put there for many entries together: the table has the entries up to the
// last one whose number is a multiple of `StoreLayout.timesTogether`, and those behind it, which are few,
// are asked one by one.

extension Store {
    /// The last entry whose time is not after a point in time; zero before the first.
    ///
    /// Of entries with the same time the one with the highest number counts. An entry's time is
    /// when it happened, if that was told, and else when it was recorded. An entry that was damaged
    /// already when its time was to be noted is passed over; verifying the store names it.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one of the last entries, of which
    ///   the times are not noted yet, cannot be trusted.
    /// - Complexity: O(log *n*) page reads, and those of at most 63 entries.
    package func sequence(atTime time: Int64) throws -> SequenceNumber {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            var found = try parts.notedTime(notAfter: time, in: transaction)
            let noted = head.rawValue / StoreLayout.timesTogether * StoreLayout.timesTogether
            let first = SequenceNumber(noted + 1)
            let last = try parts.times(from: first, through: head, in: transaction)
            for (place, other) in last.enumerated() where other <= time {
                // Of two entries with the same time the later one counts, and those of the table are earlier.
                guard other >= found?.time ?? .min else { continue }
                found = (other, SequenceNumber(first.rawValue + UInt64(place)))
            }
            return found?.sequence ?? .zero
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

    /// The times of entries in a row: when they happened, or else were recorded.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt``, or ``JournalError``, at the first one
    ///   that is missing or cannot be trusted.
    fileprivate func times(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64] {
        var times: [Int64] = []
        for (place, time) in try shortTimes(from: first, through: last, in: transaction)
            .enumerated()
        {
            let sequence = SequenceNumber(first.rawValue + UInt64(place))
            times.append(try time ?? checkedTime(of: sequence, in: transaction))
        }
        return times
    }

    /// The times of the entries whose records the last of them writes; nil for those that cannot be read.
    ///
    /// Those are left out of the table: one entry damaged long ago must not keep anybody from saving.
    /// Verifying names it, and folding the journal stops at it.
    ///
    /// - Complexity: O((1 + *l*) log *n* + *b*) page reads, *l* the number of entries above 2,000 bytes
    ///   among them and *b* the number of pages of all.
    func times(
        through last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64?] {
        let first = SequenceNumber(last.rawValue - StoreLayout.timesTogether + 1)
        var times = try shortTimes(from: first, through: last, in: transaction)
        for place in times.indices where times[place] == nil {
            let sequence = SequenceNumber(first.rawValue + UInt64(place))
            do {
                times[place] = try checkedTime(of: sequence, in: transaction)
            } catch let error as JournalError where error.code == .entryBroken {
                times[place] = nil
            } catch let error as StoreError where error.code == .corrupt {
                times[place] = nil
            }
        }
        return times
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
                // Whoever asks for it reads all of it, and is told what is wrong.
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
    /// Whether the times of the entries up to this one are written with it.
    var writesTimes: Bool { rawValue > 0 && rawValue % StoreLayout.timesTogether == 0 }
}
