internal import DaybookJournalLog
internal import DaybookSnapshotStore
internal import Foundation

/// What can be said, when a report is made, on whether the journal is the one it was.
struct ReportStanding: Sendable {
    /// How it turned out.
    enum Verdict: Sendable {
        /// There is no checkpoint to compare with.
        case unanchored
        /// The journal goes on from the checkpoint; nobody asked who signed it.
        case anchored
        /// The journal goes on from the checkpoint, which the key has signed.
        case signed
        /// The journal does not, or the key has not: the sentences say why.
        case refused([String])
    }

    /// A signature line: whose, and the id of the key in hexadecimal.
    struct Signature: Sendable {
        let name: String
        let keyID: String
    }

    /// How it turned out.
    let verdict: Verdict
    /// What was compared with.
    let checkpoint: Checkpoint?
    /// Who signed it, as the note says.
    let signatures: [Signature]
    /// Whose signature was looked for.
    let key: VerifierKey?
    /// What the journal was found to be.
    let journal: JournalWalk

    /// Goes through the whole journal and compares it with what the options hold.
    ///
    /// - Throws: ``AuditFormatError`` when the checkpoint or the key is not one; `StoreError` with code
    ///   `corrupt` when an entry is not what was written.
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

    /// Why the key is not the one that has signed the checkpoint.
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
                "The checkpoint is of the journal '\(checkpoint.origin)' and the key of "
                    + "'\(key.name)'."
            ]
        }
        return []
    }
}

extension SignedNote {
    /// The signature lines under the text: `— name base64`, the first four bytes of which are the id
    /// of the key.
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
