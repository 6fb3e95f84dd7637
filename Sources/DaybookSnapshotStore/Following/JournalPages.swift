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
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``.
    package func place(after sequence: SequenceNumber) throws -> JournalPlace {
        guard sequence > .zero else { return JournalPlace(.zero, .zero) }
        return JournalPlace(sequence, try entry(sequence).digest)
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

    /// How many bytes of entries are read in one read transaction. An entry that is longer is read alone.
    private static let bytesMaximum = 256 << 10

    /// Begins after a place.
    package init(of store: Store, after place: JournalPlace) {
        self.store = store
        reached = place
    }

    /// The next entries; empty at the head.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/generation`` when the journal is not the one that was
    ///   read up to here: the file was overwritten with an earlier or another one; with
    ///   ``StoreError/Code/replaced`` when its path leads to another file; with
    ///   ``StoreError/Code/closed``; with ``StoreError/Code/corrupt``.
    /// - Complexity: O(log *n* + *b*) page reads, *b* the pages of the entries.
    package mutating func next() throws -> [Entry] {
        try store.checkIsInPlace()
        let head = try store.head()
        guard head >= reached.sequence else { throw StoreError.journalLost(reached.sequence) }
        guard head > reached.sequence else { return [] }
        let page = try store.page(
            from: reached.sequence.next, through: head, bytes: Self.bytesMaximum)
        guard let first = page.first, let last = page.last else { return [] }
        guard first.previous == reached.digest else {
            throw StoreError.journalLost(reached.sequence)
        }
        reached = JournalPlace(last.sequence, last.digest)
        return page
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
