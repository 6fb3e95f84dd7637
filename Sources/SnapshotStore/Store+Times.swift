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
    /// - Complexity: O(log *n*) page reads, for the table and for each of at most 63 entries.
    package func sequence(atTime time: Int64) throws -> SequenceNumber {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            var found = try parts.notedTime(notAfter: time, in: transaction)
            let tail = head.rawValue / StoreLayout.timesTogether * StoreLayout.timesTogether
            for number in tail..<head.rawValue {
                let sequence = SequenceNumber(number + 1)
                let other = try parts.time(of: sequence, in: transaction)
                // Of two entries with the same time the later one counts, and those of the table are earlier.
                if other <= time, other >= found?.time ?? .min { found = (other, sequence) }
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

    /// When an entry happened, or else was recorded. Its digest is not checked, where that can be told from
    /// its first bytes.
    fileprivate func time(
        of sequence: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Int64 {
        let told: Int64?? = try journal.withBeginning(of: sequence, in: transaction) {
            recordedAt, payload in
            do throws(DecodingFailure) {
                return try EntryPayload.header(of: payload).occurredAt ?? recordedAt
            } catch {
                return nil
            }
        }
        if case let time?? = told { return time }
        // A long note, or damage: then the whole entry is read and checked.
        guard let heading = try heading(of: sequence, in: transaction) else {
            throw StoreError.corrupt("Entry \(sequence) is missing from the journal")
        }
        return heading.time
    }

    /// The times of the entries whose records the last of them writes.
    func times(
        through last: SequenceNumber, in transaction: borrowing some Reading & ~Copyable
    ) throws -> [Int64] {
        var times: [Int64] = []
        times.reserveCapacity(Int(StoreLayout.timesTogether))
        for number in (last.rawValue - StoreLayout.timesTogether)..<last.rawValue {
            times.append(try time(of: SequenceNumber(number + 1), in: transaction))
        }
        return times
    }
}

extension SequenceNumber {
    /// Whether the times of the entries up to this one are written with it.
    var writesTimes: Bool { rawValue > 0 && rawValue % StoreLayout.timesTogether == 0 }
}
