package import DaybookJournalLog
internal import DaybookLMDB

/// A place in a journal: after an entry, or before the first.
package struct JournalPlace: Sendable, Hashable {
    /// The entry; zero before the first.
    package let sequence: SequenceNumber
    /// Its digest, which shows whether the journal is still the same.
    package let digest: Digest

    /// A place.
    package init(_ sequence: SequenceNumber, _ digest: Digest) {
        self.sequence = sequence
        self.digest = digest
    }
}

extension Store {
    /// The place after an entry.
    ///
    /// The entry itself is not read, so it may be damaged.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``.
    /// - Complexity: O(log *n*) page reads.
    package func place(after sequence: SequenceNumber) throws -> JournalPlace {
        guard sequence > .zero else { return JournalPlace(.zero, .zero) }
        return try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            guard sequence <= head else { throw StoreError.noSuchEntry(sequence, head: head) }
            return JournalPlace(sequence, try parts.journal.digest(at: sequence, in: transaction))
        }
    }

    /// Whether the journal has the entry of a place, and not another one of its number.
    ///
    /// The entry itself is not read, so it may be damaged.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func has(_ place: JournalPlace) throws -> Bool {
        try reading { try parts.journal.has(place, in: $0) }
    }

    /// Refuses to go on after a place that is not one of the journal any more.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation``.
    /// - Complexity: O(log *n*) page reads.
    package func checkHas(_ place: JournalPlace) throws {
        guard try has(place) else { throw StoreError.journalLost(place.sequence) }
    }

    /// Runs `body`, all of whose errors are this store's.
    package func refusing<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch {
            throw StoreError(wrapping: error, path: path)
        }
    }
}

extension Journal {
    /// Whether the journal has the entry of a place, and not another one of its number. Where that cannot be read, it
    /// counts as being there: damage is told by whoever reads the entry, and by the check of the journal.
    func has(
        _ place: JournalPlace, in transaction: borrowing some Reading & ~Copyable
    ) throws -> Bool {
        guard place.sequence > .zero else { return true }
        do {
            guard try place.sequence <= last(in: transaction) else { return false }
            return try digest(at: place.sequence, in: transaction) == place.digest
        } catch is JournalError {
            return true
        }
    }
}

extension Snapshot {
    /// How often entries were cut off the end of the journal.
    ///
    /// - Complexity: O(1).
    package func rewinds() throws -> UInt64 {
        try StateFindings.rewinds(projection.tables, in: transaction)
    }

    /// The place after an entry; nil where that cannot be read. The entry itself is not read.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func place(after sequence: SequenceNumber) throws -> JournalPlace? {
        do {
            return JournalPlace(sequence, try journal.digest(at: sequence, in: transaction))
        } catch is JournalError {
            return nil
        }
    }

    /// Whether the journal has the entry of a place, as ``Store/has(_:)``.
    package func has(_ place: JournalPlace) throws -> Bool {
        try journal.has(place, in: transaction)
    }
}

/// Entries of a journal, read a page at a time as a reader gets to them.
///
/// Invariant: each entry follows the one before it, by number and digest, so none is skipped or passed twice.
package struct JournalPages: Sendable {
    private let store: Store
    /// How far has been read.
    package private(set) var reached: JournalPlace
    /// Why the entry after those that have been passed cannot be.
    private var failure: (any Error)?

    /// How many bytes of entries are read in one read transaction. An entry that is longer is read alone.
    private static let bytesMaximum = 256 << 10

    /// Begins after a place.
    package init(of store: Store, after place: JournalPlace) {
        self.store = store
        reached = place
    }

    /// The next entries; empty at the head, or at the end of the range.
    ///
    /// - Parameter last: The last entry to read; nil for the head.
    /// - Returns: The entries; those before a damaged one come, and the next call throws.
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation`` when the journal is not the one that was
    ///   read up to here: the file was overwritten with an earlier or another one, or entries were cut off; with
    ///   ``StoreError/Code/replaced`` when its path leads to another file; with
    ///   ``StoreError/Code/closed``; with ``StoreError/Code/corrupt``.
    /// - Complexity: O(log *n* + *b*) page reads, *b* the pages of the entries.
    package mutating func next(through last: SequenceNumber? = nil) throws -> [Entry] {
        if let failure { throw failure }
        try store.checkIsInPlace()
        let head = try store.head()
        let end = min(last ?? head, head)
        guard end > reached.sequence else {
            // No entry follows that would tell.
            try store.checkHas(reached)
            return []
        }
        let page = store.page(
            from: reached.sequence.next, through: end, bytes: Self.bytesMaximum)
        guard let first = page.entries.first, let newest = page.entries.last else {
            try store.checkHas(reached)
            if let failure = page.failure { throw failure }
            return []
        }
        guard first.previous == reached.digest else {
            throw StoreError.journalLost(reached.sequence)
        }
        reached = JournalPlace(newest.sequence, newest.digest)
        failure = page.failure
        return page.entries
    }
}

extension StoreError {
    fileprivate static func journalLost(_ sequence: SequenceNumber) -> StoreError {
        StoreError(
            .generation,
            "The journal was read up to entry \(sequence), which it does not have any more or has another "
                + "of. The store was restored to an earlier state, or is a different one; begin again."
        )
    }

    /// Why a state that was folded out of entries that are gone is of no use.
    static func stateLost(_ name: String, _ sequence: SequenceNumber) -> StoreError {
        StoreError(
            .generation,
            "The projection '\(name)' was folded up to entry \(sequence), which the journal does not have any "
                + "more or has another of. The store was restored to an earlier state, or entries were cut off; "
                + "rebuild the projection."
        )
    }
}
