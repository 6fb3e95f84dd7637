internal import DaybookJournalLog
internal import DaybookSnapshotStore

/// The result of reading the whole journal: each entry has its stored digest and carries that of
/// the entry before, and the tree over them is the stored one.
struct JournalWalk: Sendable {
    /// The last entry.
    let head: SequenceNumber
    /// The root of the tree over all entries.
    let root: Digest
    /// The digest of the last entry; nil when there is none.
    private(set) var digest: Digest?
    /// When the last entry was recorded, in microseconds since 1970.
    private(set) var recordedAt: Int64?
    /// The root of the tree at the requested number of entries.
    private(set) var earlierRoot: Digest?

    /// Reads a journal.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - head: The last entry to read.
    ///   - size: An earlier number of entries whose root is needed as well.
    /// - Throws: `StoreError` with code `corrupt` at the first entry that is not what was written.
    init(_ store: Store, through head: SequenceNumber, noting size: SequenceNumber? = nil) throws {
        self.head = head
        var growth = TreeGrowth()
        if size == .zero { earlierRoot = growth.root }
        var (last, recorded, noted) = (nil as Digest?, nil as Int64?, earlierRoot)
        if head > .zero {
            try store.entries(through: head) { entry in
                guard entry.previous == last ?? .zero else {
                    throw StoreError(
                        .corrupt,
                        "Entry \(entry.sequence) does not carry the digest of the one before. "
                            + "Run 'daybook verify' to see how far the damage goes.")
                }
                growth.append(entry.digest)
                (last, recorded) = (entry.digest, entry.recordedAt)
                if entry.sequence == size { noted = growth.root }
                return .proceed
            }
        }
        root = growth.root
        (digest, recordedAt, earlierRoot) = (last, recorded, noted)
        guard try store.checkpoint(origin: "report", at: head).root == root else {
            throw StoreError(
                .corrupt,
                "The tree over the journal does not match its entries. "
                    + "Run 'daybook verify' to see how far the damage goes.")
        }
    }

    /// The reason why the journal does not fit a checkpoint of the requested size; nil if it fits.
    func flaw(of checkpoint: Checkpoint) -> String? {
        guard checkpoint.size <= head.rawValue else {
            return "The journal was cut off or rolled back: the checkpoint covers "
                + "\(checkpoint.size.grouped) entries, and there are \(head.rawValue.grouped)."
        }
        guard earlierRoot == checkpoint.root else {
            return "The journal was rewritten: its first \(checkpoint.size.grouped) entries are "
                + "not those of the checkpoint."
        }
        return nil
    }
}

/// An RFC 6962 tree that grows leaf by leaf; only the roots of complete parts are kept.
private struct TreeGrowth {
    private var peaks: [(level: Int, root: Digest)] = []

    /// The root; without leaves, the digest of no bytes.
    var root: Digest {
        guard let last = peaks.last else { return Digest.of([]) }
        return peaks.dropLast().reversed().reduce(last.root) { .node($1.root, $0) }
    }

    /// Adds a leaf: O(1) hashes on average.
    mutating func append(_ leaf: Digest) {
        var peak = (level: 0, root: leaf)
        while let left = peaks.last, left.level == peak.level {
            peaks.removeLast()
            peak = (peak.level + 1, .node(left.root, peak.root))
        }
        peaks.append(peak)
    }
}
