internal import Foundation
internal import JournalLog
internal import SnapshotStore

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
    /// The root of the tree over all entries.
    let root: Digest
    /// The digest of the last entry; nil when there is none.
    let digest: Digest?
    /// When the last entry was recorded, in microseconds since 1970.
    let recordedAt: Int64?

    /// Compares the journal with what the options hold.
    ///
    /// - Throws: ``AuditFormatError`` when the checkpoint or the key is not one.
    init(_ scope: AuditScope) throws {
        let store = scope.store
        root = try store.checkpoint(origin: "report", at: scope.head).root
        let last = scope.head == .zero ? nil : try store.entry(scope.head)
        digest = last?.digest
        recordedAt = last?.recordedAt
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
        var flaws = try Self.flaw(of: checkpoint, in: scope).map { [$0] } ?? []
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

    /// Why the journal is not the one of the checkpoint; nil when it is.
    private static func flaw(of checkpoint: Checkpoint, in scope: AuditScope) throws -> String? {
        guard checkpoint.size <= scope.head.rawValue else {
            return "The journal was cut off or put back: the checkpoint is of "
                + "\(checkpoint.size.grouped) entries, and there are "
                + "\(scope.head.rawValue.grouped)."
        }
        let mine = try scope.store.checkpoint(
            origin: checkpoint.origin, at: SequenceNumber(checkpoint.size))
        guard mine.root == checkpoint.root else {
            return "The journal was rewritten: its first \(checkpoint.size.grouped) entries are "
                + "not those of the checkpoint."
        }
        return nil
    }

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
