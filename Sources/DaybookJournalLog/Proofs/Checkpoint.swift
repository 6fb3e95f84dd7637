import DaybookStopping

/// The state of a journal at some time: the number of entries, and the root of the tree over them.
///
/// Kept outside the store, and signed, it proves later that nothing before it was changed or cut
/// off. The text is that of C2SP's tlog-checkpoint:
///
/// ```
/// example.org/ledger
/// 1524
/// 9lVhOkFhz5K0kC0aIu+Yq1bTjuqrTPZyLw3dXUtXYW8=
/// ```
public struct Checkpoint: Sendable, Hashable, CustomStringConvertible {
    /// The name of the journal: that of the key that signs its checkpoints.
    public let origin: String
    /// How many entries the journal had.
    public let size: UInt64
    /// The root of the tree over them.
    public let root: Digest

    /// Describes a state of a journal.
    ///
    /// - Precondition: The origin is a line of text that is not empty.
    public init(origin: String, size: UInt64, root: Digest) {
        require(
            !origin.isEmpty && !origin.contains(where: \.isNewline),
            "The origin of a checkpoint is one line.")
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// Reads the text of a checkpoint. Lines after the third, which others may add, are ignored.
    ///
    /// - Throws: ``ProofError`` with code `malformed`.
    public init(_ text: String) throws(ProofError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 4, lines.last?.isEmpty == true, !lines.dropLast().contains("") else {
            throw ProofError(
                .malformed, "The checkpoint does not have the lines origin, size and root.")
        }
        guard let size = UInt64(lines[1]), String(size) == lines[1] else {
            throw ProofError(.malformed, "The size in the checkpoint is not a number.")
        }
        guard let bytes = NoteText.bytes(base64: String(lines[2])), let root = Digest(bytes: bytes)
        else {
            throw ProofError(.malformed, "The root in the checkpoint is not a SHA-256 digest.")
        }
        origin = String(lines[0])
        self.size = size
        self.root = root
    }

    /// The text that is signed.
    public var description: String {
        "\(origin)\n\(size)\n\(NoteText.base64(root.bytes))\n"
    }

    /// The checkpoint as a note, to be signed.
    public var note: SignedNote { SignedNote(unsigned: description) }
}

/// An inclusion proof with the checkpoint it leads to, in one text that can be checked without the
/// store: C2SP's tlog-proof.
public struct EntryProof: Sendable, Hashable, CustomStringConvertible {
    private static let heading = "c2sp.org/tlog-proof@v1"

    /// The proof.
    public let inclusion: InclusionProof
    /// The checkpoint, with its signatures.
    public let note: SignedNote

    /// Joins a proof with a checkpoint.
    ///
    /// - Throws: ``ProofError`` with code `mismatch` when they are of different sizes; with
    ///   `badProof` for an index after the last entry; with `malformed` when the note is not a
    ///   checkpoint.
    public init(_ inclusion: InclusionProof, _ note: SignedNote) throws(ProofError) {
        let checkpoint = try Checkpoint(note.text)
        guard checkpoint.size == inclusion.size else {
            throw ProofError(
                .mismatch,
                "The proof is for \(inclusion.size) entries and the checkpoint for \(checkpoint.size)."
            )
        }
        guard inclusion.index < inclusion.size else {
            throw ProofError(
                .badProof,
                "The proof is for index \(inclusion.index), counted from 0, but covers only "
                    + "\(inclusion.size) entries.")
        }
        self.inclusion = inclusion
        self.note = note
    }

    /// Reads the text of a proof.
    ///
    /// - Throws: ``ProofError`` with code `malformed`; with `badProof` for an index after the last
    ///   entry.
    public init(_ text: String) throws(ProofError) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let gap = lines.firstIndex(of: ""), lines.first == Self.heading[...] else {
            throw ProofError(.malformed, "The proof does not begin with '\(Self.heading)'.")
        }
        var body = lines[1..<gap]
        // An issuer's additions are not part of the proof.
        if let first = body.first, first.hasPrefix("extra ") {
            guard NoteText.bytes(base64: String(first.dropFirst(6))) != nil else {
                throw ProofError(.malformed, "The line 'extra' of the proof is not base64.")
            }
            body = body.dropFirst()
        }
        guard let first = body.first, first.hasPrefix("index "),
            let index = UInt64(first.dropFirst(6)), first == "index \(index)"
        else { throw ProofError(.malformed, "The proof has no line 'index N'.") }
        var hashes: [Digest] = []
        for line in body.dropFirst() {
            guard let bytes = NoteText.bytes(base64: String(line)), let hash = Digest(bytes: bytes)
            else { throw ProofError(.malformed, "A hash of the proof is not a SHA-256 digest.") }
            hashes.append(hash)
        }
        let note = try SignedNote(lines[(gap + 1)...].joined(separator: "\n"))
        let size = try Checkpoint(note.text).size
        try self.init(InclusionProof(index: index, size: size, hashes: hashes), note)
    }

    /// Checks that an entry is in the journal of the checkpoint, and that the key has signed it.
    ///
    /// - Parameters:
    ///   - entry: The digest of the entry: SHA-256 over a zero byte and its bytes.
    ///   - key: The key that must have signed the checkpoint.
    /// - Throws: ``ProofError`` with code `unsigned`, `badSignature`, `mismatch` or `badProof`.
    public func verify(entry: Digest, with key: VerifierKey) throws(ProofError) {
        let checkpoint = try note.checkpoint(signedBy: key)
        guard inclusion.leads(from: entry, to: checkpoint.root) else {
            throw ProofError(
                .badProof,
                "The entry is not number \(inclusion.index + 1) of the journal in the checkpoint.")
        }
    }

    /// The text of the proof.
    public var description: String {
        let hashes = inclusion.hashes.map { NoteText.base64($0.bytes) + "\n" }.joined()
        return "\(Self.heading)\nindex \(inclusion.index)\n\(hashes)\n\(note)"
    }
}

extension SignedNote {
    /// The checkpoint in the note, verified with a trusted key.
    ///
    /// - Parameter key: The key that must have signed the note, and that names its journal.
    /// - Returns: The checkpoint.
    /// - Throws: ``ProofError`` with code `unsigned` or `badSignature`; with `malformed` when the text
    ///   is not a checkpoint; with `mismatch` when it is of another journal than the key.
    public func checkpoint(signedBy key: VerifierKey) throws(ProofError) -> Checkpoint {
        try verify(with: key)
        let checkpoint = try Checkpoint(text)
        guard NoteText.isSame(checkpoint.origin, key.name) else {
            throw ProofError(
                .mismatch,
                "The checkpoint belongs to the journal '\(checkpoint.origin)', and the "
                    + "key to '\(key.name)'.")
        }
        return checkpoint
    }
}

extension ConsistencyProof {
    /// The request to a witness to sign a checkpoint, which it does only when the journal continues
    /// from the last one it has seen: the body of C2SP tlog-witness's `add-checkpoint`.
    ///
    /// - Parameter note: The newer checkpoint, signed.
    /// - Returns: The text.
    public func witnessRequest(for note: SignedNote) -> String {
        let lines = hashes.map { NoteText.base64($0.bytes) + "\n" }.joined()
        return "old \(olderSize)\n\(lines)\n\(note)"
    }
}
