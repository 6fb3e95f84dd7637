package import DaybookJournalLog
internal import DaybookLMDB

extension Store {
    /// The state of the journal after an entry: the number of entries and the root of the tree over
    /// them.
    ///
    /// - Parameters:
    ///   - origin: The name of the journal, which is that of the key that will sign.
    ///   - sequence: The last entry; nil for the head.
    /// - Returns: The unsigned checkpoint.
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

    /// Proves that an entry is among the first ones of the journal.
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

    /// Proves that the journal extends its own earlier state.
    ///
    /// - Parameters:
    ///   - older: The number of entries it had.
    ///   - newer: The later number of entries; nil for the head.
    /// - Returns: The proof.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry`` when the journal has fewer.
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
        try journalEntry(sequence).bytes
    }

    /// The digest of an entry, computed from its bytes.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``.
    /// - Complexity: O(log *n*) page reads.
    package func digest(of sequence: SequenceNumber) throws -> Digest {
        try journalEntry(sequence).digest
    }

    private func journalEntry(_ sequence: SequenceNumber) throws -> JournalEntry {
        try reading { transaction in
            guard let entry = try parts.journal.entry(at: sequence, in: transaction) else {
                throw StoreError.noSuchEntry(
                    sequence, head: try parts.journal.head(in: transaction))
            }
            return entry
        }
    }

    /// Passes the bytes of entries in order to `body`, each one checked; `body` runs outside the
    /// read transactions.
    ///
    /// - Parameters:
    ///   - first: The first entry.
    ///   - last: The last one.
    ///   - body: Takes the number of an entry and its bytes.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` at the first entry that cannot be
    ///   trusted; what `body` throws.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of entries.
    package func entryBytes(
        from first: SequenceNumber, through last: SequenceNumber,
        _ body: (SequenceNumber, [UInt8]) throws -> Void
    ) throws {
        try journalEntries(from: first, through: last) { entry in
            try body(entry.sequence, entry.bytes)
            return .proceed
        }
    }

    /// The hashes of a tile of the tree over the entries: nodes of one level side by side.
    ///
    /// - Parameters:
    ///   - level: The level of the tile; a level spans eight of the tree's, and 0 is the entries.
    ///   - index: Its index among the tiles of that level, from 0.
    ///   - width: The number of hashes, 256 in a full tile.
    /// - Returns: The hashes.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a hash is missing, or a full
    ///   tile does not give the root stored for it.
    /// - Complexity: O(*w* + log *n*) page reads, *w* the width.
    package func tile(_ level: Int, _ index: UInt64, width: Int) throws -> [Digest] {
        try reading { transaction in
            try parts.journal.tile(level, index, width: width, in: transaction)
        }
    }

    /// Why the journal does not extend a checkpoint; nil when it does.
    ///
    /// The root is computed from the stored digests; ``verify(path:options:checkpoint:progress:)``
    /// checks that they are those of the entries.
    ///
    /// - Complexity: O(log *n*) page reads.
    package func flaw(of checkpoint: Checkpoint) throws -> String? {
        try reading { try flaw(of: checkpoint, in: $0) }
    }

    /// The same in an open read transaction.
    func flaw(
        of checkpoint: Checkpoint, in transaction: borrowing ReadTransaction
    ) throws -> String? {
        let head = try parts.journal.head(in: transaction)
        guard checkpoint.size <= head.rawValue else {
            return "The journal was cut off or rolled back: the checkpoint covers "
                + "\(checkpoint.size) entries, and there are \(head)."
        }
        let root = try parts.journal.root(ofFirst: checkpoint.size, in: transaction)
        guard root == checkpoint.root else {
            return "The journal was rewritten: its first \(checkpoint.size) entries are not those "
                + "of the checkpoint."
        }
        return nil
    }
}
