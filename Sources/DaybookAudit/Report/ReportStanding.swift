internal import DaybookJournalLog
internal import DaybookSnapshotStore
internal import Foundation

/// The state of the journal when a report is made.
struct ReportStanding: Sendable {
    /// How it turned out.
    enum Verdict: Sendable {
        /// There is no checkpoint to compare with.
        case unanchored
        /// The journal continues from the checkpoint; its signature was not checked.
        case anchored
        /// The journal continues from the checkpoint, which the key has signed.
        case signed
        /// Neither holds, for the reasons given.
        case refused([String])
    }

    /// A signature line: the signer's name, and the id of the key in hexadecimal.
    struct Signature: Sendable {
        let name: String
        let keyID: String
    }

    /// How it turned out.
    let verdict: Verdict
    /// The checkpoint compared.
    let checkpoint: Checkpoint?
    /// The signatures of the note.
    let signatures: [Signature]
    /// The key whose signature was checked.
    let key: VerifierKey?
    /// The result of reading the journal.
    let journal: JournalWalk

    /// Reads the whole journal and compares it with the options.
    ///
    /// - Throws: ``AuditFormatError`` when the checkpoint or the key is malformed; `StoreError`
    ///   with code `corrupt` when an entry is not what was written.
    /// - Complexity: O(*n*) page reads, *n* the size of the journal.
    init(_ scope: AuditScope) throws {
        let key = try scope.options.key.map { text in
            try Self.accepting("key") { () throws(ProofError) in try VerifierKey(text) }
        }
        self.key = key
        guard let text = scope.options.checkpoint else {
            guard key == nil else {
                throw AuditFormatError("A key is for a checkpoint: add '--checkpoint FILE'.")
            }
            verdict = .unanchored
            checkpoint = nil
            signatures = []
            journal = try JournalWalk(scope.store, through: scope.head)
            return
        }
        let note = try Self.accepting("checkpoint") { () throws(ProofError) in
            try SignedNote(text)
        }
        let checkpoint = try Self.accepting("checkpoint") { () throws(ProofError) in
            try Checkpoint(note.text)
        }
        self.checkpoint = checkpoint
        signatures = note.signers
        journal = try JournalWalk(
            scope.store, through: scope.head, noting: SequenceNumber(checkpoint.size))
        var flaws = journal.flaw(of: checkpoint).map { [$0] } ?? []
        if let key { flaws += Self.flaws(of: note, checkpoint, signedBy: key) }
        verdict = flaws.isEmpty ? (key == nil ? .anchored : .signed) : .refused(flaws)
    }

    private static func accepting<Result>(
        _ what: String, _ read: () throws(ProofError) -> Result
    ) throws -> Result {
        do {
            return try read()
        } catch {
            throw AuditFormatError("The \(what) cannot be used: \(error.message)")
        }
    }

    /// The reasons why the checkpoint is not signed by the key.
    private static func flaws(
        of note: SignedNote, _ checkpoint: Checkpoint, signedBy key: VerifierKey
    ) -> [String] {
        do {
            try note.verify(with: key)
        } catch {
            return [error.message]
        }
        guard checkpoint.origin == key.name else {
            return [
                "The checkpoint belongs to the journal '\(checkpoint.origin)', and the "
                    + "key to '\(key.name)'."
            ]
        }
        return []
    }
}

extension SignedNote {
    /// The signature lines under the text: `— name base64`, whose first four bytes are the id of
    /// the key.
    fileprivate var signers: [ReportStanding.Signature] {
        description.dropFirst(text.count).split(separator: "\n").compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count == 3, let data = Data(base64Encoded: String(parts[2])) else {
                return nil
            }
            let id = data.prefix(4).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return ReportStanding.Signature(name: String(parts[1]), keyID: id.joined())
        }
    }
}
