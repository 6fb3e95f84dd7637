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
    func head(in transaction: borrowing some Reading & ~Copyable) throws -> SharedHead {
        let head = try JournalHead(of: parts.journal, in: transaction)
        return SharedHead(head.sequence, head.digest)
    }

    /// Folds entries that follow each other, of which the file may have the first ones, up to one that refers to large
    /// data that the file lacks.
    ///
    /// - Returns: How far it came.
    /// - Throws: ``Misfit`` for the first that does not fit; ``SharedJournalError`` with
    ///   ``SharedJournalError/Code/diverged`` when the file has another entry in the place of one. The
    ///   transaction must not be committed then.
    func fold(
        _ entries: ArraySlice<SharedEntry>, in transaction: borrowing WriteTransaction
    ) throws -> Folded {
        var head = try head(in: transaction)
        let first = head.sequence.next
        func folded(upTo end: Int, lacking: [LargeData] = []) -> Folded {
            Folded(
                missing: head.sequence < first ? nil : first...head.sequence, head: head.sequence,
                end: end, lacking: lacking)
        }
        for (index, entry) in zip(entries.indices, entries) {
            if entry.sequence <= head.sequence {
                try checkIsHere(entry, in: transaction)
                continue
            }
            do {
                let lacking = try fold(entry, after: head, in: transaction)
                guard lacking.isEmpty else { return folded(upTo: index, lacking: lacking) }
            } catch let error as LMDBError {
                throw error
            } catch {
                throw Misfit(
                    index: index, entry: entry,
                    cause: StoreError(wrapping: error, path: "the store"))
            }
            head = SharedHead(entry.sequence, entry.digest)
        }
        return folded(upTo: entries.endIndex)
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
        _ found: SharedEntry, after head: SharedHead, in transaction: borrowing WriteTransaction
    ) throws -> [LargeData] {
        guard found.sequence == head.sequence.next else {
            throw StoreError.digestMismatch(found.sequence, head.sequence.next)
        }
        let entry = JournalEntry(
            sequence: found.sequence, recordedAt: found.recordedAt, previous: head.digest,
            payload: found.payload)
        // Its own digest says that these are the bytes that were appended after the entry before.
        guard entry.digest == found.digest else {
            throw StoreError.digestMismatch(found.sequence, found.sequence)
        }
        let decoded = try Entry(entry)
        var lacking = try chunks.lacking(decoded.changes, in: transaction)
        lacking.removeAll { forgone.contains($0.detached) }
        guard lacking.isEmpty else { return lacking }
        let result = try models.load(decoded, options, nil, in: transaction)
        guard result.sequence == entry.sequence, result.digest == entry.digest else {
            throw StoreError.digestMismatch(entry.sequence, result.sequence)
        }
        return []
    }
}
