internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Folds entries that were found in a shared journal into a file, after all checks that loading an export
/// makes.
struct ForeignEntries: Sendable {
    private let models: ModelsInForce
    private let parts: StoreParts
    private let options: StoreOptions
    /// Where the large data of the entries are.
    let chunks: ChunkTable
    /// Large data that nobody has any more: entries that refer to them are folded all the same.
    var forgone: Set<LargeData> = []

    /// Folds by whichever model is in force.
    init(
        _ models: ModelsInForce, _ parts: StoreParts, _ chunks: ChunkTable, _ options: StoreOptions
    ) {
        self.models = models
        self.parts = parts
        self.chunks = chunks
        self.options = options
    }

    /// How far a page was folded.
    struct Folded: Sendable {
        /// The entries that were missing; nil when there were none.
        let missing: ClosedRange<SequenceNumber>?
        /// The last entry of the journal then.
        let head: SequenceNumber
        /// The place in the page of the first entry that was not folded.
        let end: Int
        /// The large data that must be in the file before that one is.
        let lacking: [LargeData]
    }

    /// The reason why an entry of a page was not folded.
    struct Misfit: Error {
        /// Its place in the page.
        let index: Int
        let entry: SharedEntry
        let cause: StoreError
    }

    /// Where the journal of the file ends.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable`` when another program has unlinked the file.
    func head(in transaction: borrowing some Reading & ~Copyable) throws -> SharedHead {
        try checkIsLinked(in: transaction)
        let head = try JournalHead(of: parts.journal, in: transaction)
        return SharedHead(head.sequence, head.digest)
    }

    /// Folds entries that follow each other, of which the file may have the first ones, up to one that refers to large
    /// data that the file lacks.
    ///
    /// - Returns: How far it came.
    /// - Throws: ``Misfit`` for the first that does not fit; ``SharedJournalError`` with
    ///   ``SharedJournalError/Code/diverged`` when the file has another entry in the place of one; as ``head(in:)``. The
    ///   transaction must not be committed then.
    func fold(
        _ entries: ArraySlice<SharedEntry>, in transaction: borrowing WriteTransaction
    ) throws -> Folded {
        // Without a gate the entries come from elsewhere, into a file that is being made.
        if transaction.gate != .none { try checkIsLinked(in: transaction) }
        var repeated = try RepeatedEntries(models, options, in: transaction)
        let first = repeated.head.sequence.next
        var (end, lacking): (Int, [LargeData]) = (entries.endIndex, [])
        for (index, entry) in zip(entries.indices, entries) {
            if entry.sequence <= repeated.head.sequence {
                try checkIsHere(entry, in: transaction)
                continue
            }
            do {
                lacking = try fold(entry, by: &repeated, in: transaction)
            } catch let error as LMDBError {
                throw error
            } catch {
                throw Misfit(
                    index: index, entry: entry,
                    cause: StoreError(wrapping: error, path: "the store"))
            }
            guard lacking.isEmpty else {
                end = index
                break
            }
        }
        try repeated.finish(in: transaction)
        let head = repeated.head.sequence
        return Folded(
            missing: head < first ? nil : first...head, head: head, end: end, lacking: lacking)
    }

    /// Another program may have unlinked the file since it was opened.
    private func checkIsLinked(in transaction: borrowing some Reading & ~Copyable) throws {
        guard try StoreMetadata.link(parts.tables.meta, in: transaction) != nil else {
            throw StoreError.unlinkedMeanwhile()
        }
    }

    /// Another process of this node may have folded it meanwhile.
    private func checkIsHere(
        _ entry: SharedEntry, in transaction: borrowing WriteTransaction
    ) throws {
        guard try parts.journal.digest(at: entry.sequence, in: transaction) == entry.digest else {
            throw SharedJournalError.diverged(at: entry.sequence)
        }
    }

    /// Folds an entry, unless it refers to large data that the file lacks.
    ///
    /// - Returns: The large data that are lacking; none when it was folded.
    private func fold(
        _ found: SharedEntry, by repeated: inout RepeatedEntries,
        in transaction: borrowing WriteTransaction
    ) throws -> [LargeData] {
        guard found.sequence == repeated.head.sequence.next else {
            throw StoreError.digestMismatch(found.sequence, repeated.head.sequence.next)
        }
        let stated = JournalEntry(
            sequence: found.sequence, recordedAt: found.recordedAt,
            previous: repeated.head.digest, payload: found.payload, digest: found.digest)
        do {
            let entry = try Entry(stated)
            var lacking = try chunks.lacking(entry.changes, in: transaction)
            lacking.removeAll { forgone.contains($0.detached) }
            guard lacking.isEmpty else {
                try checkDigest(of: stated)
                return lacking
            }
            // It has to come out with its digest.
            _ = try repeated.append(entry, in: transaction)
            return []
        } catch {
            // Whatever is wrong with other bytes than those that were saved, that they are others comes first.
            try checkDigest(of: stated)
            throw error
        }
    }

    /// Its own digest says that these are the bytes that were appended after the entry before.
    private func checkDigest(of stated: JournalEntry) throws {
        let found = JournalEntry(
            sequence: stated.sequence, recordedAt: stated.recordedAt, previous: stated.previous,
            payload: stated.payload)
        guard found.digest == stated.digest else {
            throw StoreError.digestMismatch(stated.sequence, stated.sequence)
        }
    }
}
