package import JournalLog
internal import LMDB

extension Store {
    /// What the journal was after an entry: how many entries, and the root of the tree over them.
    ///
    /// - Parameters:
    ///   - origin: Which journal it is; the name of the key that will sign.
    ///   - sequence: The last entry; nil for the head.
    /// - Returns: The checkpoint, which nobody has signed.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` for one after the head.
    /// - Complexity: O(log *n*) page reads.
    package func checkpoint(
        origin: String, at sequence: SequenceNumber? = nil
    ) throws -> Checkpoint {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            let last = sequence ?? head
            guard last <= head else { throw StoreError.noSuchEntry(last, head: head) }
            let root = try parts.journal.root(ofFirst: last.rawValue, in: transaction)
            return Checkpoint(origin: origin, size: last.rawValue, root: root)
        }
    }

    /// Shows that an entry is among the first ones of the journal.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` for an entry that is not among
    ///   them, or when the journal has fewer.
    /// - Complexity: O(log *n*) page reads.
    package func inclusionProof(
        of sequence: SequenceNumber, amongFirst size: UInt64
    ) throws -> InclusionProof {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            guard size <= head.rawValue else {
                throw StoreError.noSuchEntry(SequenceNumber(size), head: head)
            }
            guard sequence > .zero, sequence.rawValue <= size else {
                throw StoreError.noSuchEntry(sequence, head: SequenceNumber(size))
            }
            return try parts.journal.inclusionProof(
                of: sequence, amongFirst: size, in: transaction)
        }
    }

    /// Shows that the journal goes on from what it was when it had fewer entries.
    ///
    /// - Parameters:
    ///   - older: How many entries it had.
    ///   - newer: How many it came to have; nil for the head.
    /// - Returns: The proof.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` when it has fewer.
    /// - Complexity: O(log *n*) page reads.
    package func consistencyProof(
        from older: UInt64, to newer: UInt64? = nil
    ) throws -> ConsistencyProof {
        try reading { transaction in
            let head = try parts.journal.head(in: transaction)
            let newer = newer ?? head.rawValue
            guard older <= newer, newer <= head.rawValue else {
                throw StoreError.noSuchEntry(SequenceNumber(max(older, newer)), head: head)
            }
            return try parts.journal.consistencyProof(from: older, to: newer, in: transaction)
        }
    }

    /// The bytes of an entry, whose digest (with a zero byte before them) is the leaf of the tree.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``.
    /// - Complexity: O(log *n*) page reads.
    package func bytes(of sequence: SequenceNumber) throws -> [UInt8] {
        try reading { transaction in
            guard let entry = try parts.journal.entry(at: sequence, in: transaction) else {
                throw StoreError.noSuchEntry(
                    sequence, head: try parts.journal.head(in: transaction))
            }
            return entry.bytes
        }
    }
}
