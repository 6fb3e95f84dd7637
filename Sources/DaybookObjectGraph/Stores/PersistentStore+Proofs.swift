public import DaybookJournalLog
import DaybookSnapshotStore

/// What an auditor needs to check that an entry is in the journal: its bytes, and the proof.
public struct ProvedEntry: Sendable, Hashable {
    /// The bytes of the entry that ``proof`` is about.
    public let bytes: [UInt8]
    /// The proof, with the checkpoint.
    public let proof: EntryProof

    /// Joins bytes with a proof; ``verify(with:)`` tells whether they belong together.
    public init(bytes: [UInt8], proof: EntryProof) {
        self.bytes = bytes
        self.proof = proof
    }

    /// Checks that the bytes are those of the entry, without the store.
    ///
    /// - Parameter key: The key that must have signed the checkpoint.
    /// - Throws: `ProofError`, as `EntryProof.verify(entry:with:)`.
    public func verify(with key: VerifierKey) throws {
        try proof.verify(entry: .ofEntry(bytes), with: key)
    }
}

extension PersistentStore {
    /// Signs how many entries there are and the root of the tree over them.
    ///
    /// Keep the result where those who can write the store cannot write: then it shows later that
    /// nothing before it was changed or cut off. The key is never stored.
    ///
    /// - Parameters:
    ///   - key: The key. Its name identifies the journal.
    ///   - sequence: The last entry that counts; nil for the newest.
    ///   - previous: The checkpoint that was signed before this one; nil for the first. Signing two
    ///     states where neither continues the other means that one of them is a lie.
    /// - Returns: The checkpoint, signed.
    /// - Throws: `ProofError` with code `mismatch` when the journal does not continue the previous
    ///   checkpoint, and with another code when `key` has not signed that; ``StoreError`` with code
    ///   `noSuchEntry` when there is no such entry, and with code `corrupt` when a digest is missing or
    ///   damaged.
    /// - Complexity: O(log *n*) page reads, *n* the number of entries.
    public func checkpoint(
        signedBy key: SigningKey, at sequence: SequenceNumber? = nil,
        after previous: SignedNote? = nil
    ) throws -> SignedNote {
        let checkpoint = try store.checkpoint(origin: key.verifierKey.name, at: sequence)
        if let previous {
            let older = try known(previous, key.verifierKey)
            guard older.size <= checkpoint.size else {
                throw ProofError.mismatch(
                    "The checkpoint would cover \(checkpoint.size) entries, and the one before it "
                        + "covers \(older.size).")
            }
        }
        var note = checkpoint.note
        try note.sign(with: key)
        return note
    }

    /// Proves that an entry is among those of a checkpoint, to a reader without the store.
    ///
    /// - Parameters:
    ///   - sequence: The entry.
    ///   - checkpoint: A signed checkpoint of this store that counts the entry.
    /// - Returns: The bytes of the entry and the proof, which reveal nothing else of the journal.
    /// - Throws: `ProofError` with code `mismatch` when the journal does not continue the checkpoint;
    ///   ``StoreError`` with code `noSuchEntry` when the checkpoint does not count the entry, and with
    ///   code `corrupt` when the entry is not what was written.
    /// - Complexity: O(log *n*) page reads, *n* the number of entries.
    public func proof(
        of sequence: SequenceNumber, in checkpoint: SignedNote
    ) throws -> ProvedEntry {
        let size = try going(on: Checkpoint(checkpoint.text)).size
        let inclusion = try store.inclusionProof(of: sequence, amongFirst: size)
        return ProvedEntry(
            bytes: try store.bytes(of: sequence), proof: try EntryProof(inclusion, checkpoint))
    }

    /// Proves that one checkpoint continues another, to a reader without the store.
    ///
    /// - Parameters:
    ///   - older: A checkpoint of this store.
    ///   - newer: Another, with at least as many entries.
    /// - Returns: The proof, which leads from one root to the other.
    /// - Throws: `ProofError` with code `mismatch` when the journal does not continue both, or when the
    ///   older one has more entries; ``StoreError`` with code `corrupt` when a digest is missing or damaged.
    /// - Complexity: O(log *n*) page reads, *n* the number of entries.
    public func consistencyProof(
        from older: SignedNote, to newer: SignedNote
    ) throws -> ConsistencyProof {
        let first = try going(on: Checkpoint(older.text))
        let second = try going(on: Checkpoint(newer.text))
        guard first.size <= second.size else {
            throw ProofError.mismatch(
                "The older checkpoint covers \(first.size) entries, and the newer \(second.size)."
            )
        }
        return try store.consistencyProof(from: first.size, to: second.size)
    }

    /// Checks the whole store, and that it continues a checkpoint that was kept elsewhere.
    ///
    /// Every digest is computed again from the bytes of its entry, the journal is replayed, and every
    /// record of the tables is compared with it. Tags, cursors, the identifier and metadata are not part
    /// of the journal, and no checkpoint covers them. Only the pages of the file are left to `daybook
    /// verify`, because they can be checked only while no program has the file open.
    ///
    /// - Parameters:
    ///   - checkpoint: A checkpoint, kept out of reach of those who can write the store.
    ///   - key: The key that must have signed it.
    ///   - progress: Called now and then with what is being checked and how far that has come, from 0
    ///     to 1.
    /// - Returns: The checkpoint, whose entries are still all there as they were.
    /// - Throws: `ProofError` with code `unsigned` or `badSignature` when the key has not signed the
    ///   checkpoint, with code `mismatch` when the journal does not continue it; ``StoreError`` with
    ///   code `corrupt` and a line of details for each finding.
    /// - Complexity: O(*j* log *n*) page reads, *j* the size of the journal.
    @discardableResult
    public func verify(
        against checkpoint: SignedNote, signedBy key: VerifierKey,
        progress: (_ step: String, _ fraction: Double) -> Void = { _, _ in }
    ) throws -> Checkpoint {
        let known = try checkpoint.checkpoint(signedBy: key)
        let report = try store.verify(checkpoint: known, progress: progress)
        let problems = report.findings.map(\.message) + report.gaps
        guard problems.isEmpty else {
            throw StoreError.unsound(store.path, (report.flaw.map { [$0] } ?? []) + problems)
        }
        if let flaw = report.flaw { throw ProofError.mismatch(flaw) }
        return known
    }

    private func known(_ note: SignedNote, _ key: VerifierKey) throws -> Checkpoint {
        try going(on: note.checkpoint(signedBy: key))
    }

    /// The checkpoint, if the journal continues it.
    private func going(on checkpoint: Checkpoint) throws -> Checkpoint {
        if let flaw = try store.flaw(of: checkpoint) { throw ProofError.mismatch(flaw) }
        return checkpoint
    }
}

extension ProofError {
    fileprivate static func mismatch(_ message: String) -> ProofError {
        ProofError(.mismatch, message)
    }
}
