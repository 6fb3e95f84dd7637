package import DaybookJournalLog

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

    /// Runs `body`, all of whose errors are this store's.
    package func refusing<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch {
            throw StoreError(wrapping: error, path: path)
        }
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
    ///   read up to here: the file was overwritten with an earlier or another one; with
    ///   ``StoreError/Code/replaced`` when its path leads to another file; with
    ///   ``StoreError/Code/closed``; with ``StoreError/Code/corrupt``.
    /// - Complexity: O(log *n* + *b*) page reads, *b* the pages of the entries.
    package mutating func next(through last: SequenceNumber? = nil) throws -> [Entry] {
        if let failure { throw failure }
        try store.checkIsInPlace()
        let head = try store.head()
        guard head >= reached.sequence else { throw StoreError.journalLost(reached.sequence) }
        let end = min(last ?? head, head)
        guard end > reached.sequence else { return [] }
        let page = store.page(
            from: reached.sequence.next, through: end, bytes: Self.bytesMaximum)
        guard let first = page.entries.first, let newest = page.entries.last else {
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
}
