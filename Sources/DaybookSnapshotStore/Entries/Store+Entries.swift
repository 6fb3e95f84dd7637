package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// An entry, with its digest checked.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with
    ///   ``StoreError/Code/corrupt`` when it differs from what was written.
    /// - Complexity: O(log *n* + *b*) page reads, *b* the number of the entry's pages.
    package func entry(_ sequence: SequenceNumber) throws -> Entry {
        let found = try reading { transaction in
            guard let entry = try parts.journal.entry(at: sequence, in: transaction) else {
                let head = try parts.journal.head(in: transaction)
                throw StoreError.noSuchEntry(sequence, head: head)
            }
            return entry
        }
        return try Entry(found)
    }

    /// The author, note and time of an entry; its digest is checked, and its changes are not
    /// decoded.
    ///
    /// - Throws: As ``entry(_:)``.
    package func heading(of sequence: SequenceNumber) throws -> EntryHeading {
        try reading { transaction in
            guard let heading = try parts.heading(of: sequence, in: transaction) else {
                let head = try parts.journal.head(in: transaction)
                throw StoreError.noSuchEntry(sequence, head: head)
            }
            return heading
        }
    }

    /// Passes entries in order to `body`, each one checked.
    ///
    /// Entries are read a few megabytes at a time, each time in a read transaction of its own, and
    /// `body` runs outside of it: it may take long, and it may save to this store.
    ///
    /// - Parameters:
    ///   - first: The first entry.
    ///   - last: The last one; nil for the head as it is when the walk begins.
    ///   - body: Says whether to go on.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` at the first entry that cannot be
    ///   trusted; what `body` throws.
    package func entries(
        from first: SequenceNumber = SequenceNumber(1), through last: SequenceNumber? = nil,
        _ body: (Entry) throws -> WalkStep
    ) throws {
        try journalEntries(from: first, through: try last ?? head()) { try body(try Entry($0)) }
    }

    /// The same with undecoded entries.
    func journalEntries(
        from first: SequenceNumber, through last: SequenceNumber,
        _ body: (JournalEntry) throws -> WalkStep
    ) throws {
        var next = max(first, SequenceNumber(1))
        while next <= last {
            let batch = batch(
                from: next, through: last, bytes: StoreLayout.walkedBytesLimit)
            for entry in batch.entries {
                if try body(entry) == .stop { return }
            }
            if let failure = batch.failure { throw failure }
            guard let reached = batch.entries.last?.sequence else { return }
            next = reached.next
        }
    }

    /// Entries in order, each one checked, until they have so many bytes together.
    ///
    /// - Returns: The entries before the first that cannot be trusted, and why that one cannot be.
    func page(
        from first: SequenceNumber, through last: SequenceNumber, bytes: Int
    ) -> (entries: [Entry], failure: (any Error)?) {
        let batch = batch(from: first, through: last, bytes: bytes)
        var entries: [Entry] = []
        for entry in batch.entries {
            do {
                entries.append(try Entry(entry))
            } catch {
                return (entries, error)
            }
        }
        return (entries, batch.failure)
    }

    /// Entries read in one transaction. A damaged one does not take those before it with it.
    private func batch(
        from first: SequenceNumber, through last: SequenceNumber, bytes: Int
    ) -> (entries: [JournalEntry], failure: (any Error)?) {
        var entries: [JournalEntry] = []
        do {
            try reading { transaction in
                entries = []
                var size = 0
                try parts.journal.entries(from: first, through: last, in: transaction) { entry in
                    entries.append(entry)
                    size += entry.payload.count
                    return size < bytes ? .proceed : .stop
                }
            }
        } catch {
            return (entries, error)
        }
        return (entries, nil)
    }
}

extension Store {
    /// Passes what is made of entries to `body`, in order. Where they are many, other cores read and make ahead.
    ///
    /// Each few entries are read in a read transaction of their own, and `body` runs outside of it.
    ///
    /// - Parameters:
    ///   - first: The first entry.
    ///   - last: The last one.
    ///   - cores: Who reads ahead.
    ///   - make: Makes something of an entry, on any thread.
    ///   - body: Takes it on the calling thread, and says whether to go on.
    /// - Throws: As ``entries(from:through:_:)``, and what `make` throws; `body` has taken what was made of all
    ///   entries before then.
    package func entries<Made: Sendable>(
        from first: SequenceNumber, through last: SequenceNumber, on cores: OtherCores = .all,
        making make: @escaping @Sendable (Entry) throws -> Made,
        _ body: (Made) throws -> WalkStep
    ) throws {
        guard first <= last else { return }
        // Another thread might have to wait for this one's read to end.
        let isReading = try openEnvironment().isReadingOnThisThread
        let read: EntriesAhead<Made>.Read = { [self] range in piece(range, make) }
        let ahead = EntriesAhead(
            max(first, SequenceNumber(1))...last, on: isReading ? .none : cores, read: read)
        try ahead.forEach(
            readHere: read,
            checkChain: { older, newer in
                try wrapping {
                    try Journal.checkChain(
                        from: older.sequence, older.digest, to: newer.sequence,
                        carrying: newer.digest)
                }
            }, body)
    }

    private func piece<Made: Sendable>(
        _ range: ClosedRange<SequenceNumber>, _ make: (Entry) throws -> Made
    ) -> EntryPiece<Made> {
        let batch = batch(
            from: range.lowerBound, through: range.upperBound,
            bytes: EntriesAhead<Made>.pieceBytesLimit)
        var piece = EntryPiece<Made>(failure: batch.failure)
        for entry in batch.entries {
            do {
                piece.made.append(try make(try Entry(entry)))
            } catch {
                piece.failure = error
                break
            }
            if piece.first == nil { piece.first = JournalPlace(entry.sequence, entry.previous) }
            piece.last = JournalPlace(entry.sequence, entry.digest)
            piece.byteCount += entry.payload.count
        }
        return piece
    }
}
