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
    /// when it happened, if that was told, and else when it was recorded.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when one of the last entries cannot be
    ///   read.
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

    /// The times of entries in a row: when they happened, or else were recorded. A digest is checked only
    /// where the time cannot be told from the first bytes.
    fileprivate func times(
        from first: SequenceNumber, through last: SequenceNumber,
        in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64] {
        guard first <= last else { return [] }
        var told = [Int64?](repeating: nil, count: Int(last.rawValue - first.rawValue) + 1)
        try journal.beginnings(from: first, through: last, in: transaction) {
            sequence, recordedAt, payload in
            let place = Int(sequence.rawValue - first.rawValue)
            do throws(DecodingFailure) {
                told[place] = try EntryPayload.occurredAt(in: payload) ?? recordedAt
            } catch {
                // A long note, or damage: the whole entry is read and checked below.
                told[place] = nil
            }
        }
        var times: [Int64] = []
        times.reserveCapacity(told.count)
        for (place, time) in told.enumerated() {
            let sequence = SequenceNumber(first.rawValue + UInt64(place))
            times.append(try time ?? checkedTime(of: sequence, in: transaction))
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

    /// The times of the entries whose records the last of them writes.
    func times(
        through last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64] {
        let first = SequenceNumber(last.rawValue - StoreLayout.timesTogether + 1)
        return try times(from: first, through: last, in: transaction)
    }
}

extension SequenceNumber {
    /// Whether the times of the entries up to this one are written with it.
    var writesTimes: Bool { rawValue > 0 && rawValue % StoreLayout.timesTogether == 0 }
}
