import DaybookStopping

/// A text with signatures below it, as in C2SP's signed-note.
///
/// Signatures by other keys are kept and ignored.
public struct SignedNote: Sendable, Hashable, CustomStringConvertible {
    /// One signature line.
    struct Signature: Sendable, Hashable {
        let name: String
        let id: [UInt8]
        let bytes: [UInt8]

        var line: String { "\u{2014} \(name) \(NoteText.base64(id + bytes))\n" }
    }

    /// The text, with the line break at its end.
    public let text: String
    private(set) var signatures: [Signature]

    /// More signature lines are refused.
    private static let signaturesMaximum = 100

    /// A text without signatures.
    ///
    /// - Precondition: The text ends with a line break.
    public init(unsigned text: String) {
        require(text.hasSuffix("\n"), "The text of a note ends with a line break.")
        self.text = text
        signatures = []
    }

    /// Reads a note.
    ///
    /// - Throws: ``ProofError`` with code `malformed` for anything but a text, an empty line, and
    ///   signature lines.
    public init(_ note: String) throws(ProofError) {
        // Bytes, because in Swift a carriage return and a line feed are one character.
        let bytes = Array(note.utf8)
        let breaks = bytes.indices.dropLast().filter { bytes[$0] == 0x0A && bytes[$0 + 1] == 0x0A }
        let isClean = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A }
        guard isClean, bytes.last == 0x0A, let end = breaks.last else {
            throw ProofError(
                .malformed, "The note has no signatures: they stand under an empty line.")
        }
        text = String(decoding: bytes[...end], as: UTF8.self)
        var found: [Signature] = []
        let lines = String(decoding: bytes[(end + 2)...], as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.count <= Self.signaturesMaximum else {
            throw ProofError(
                .malformed, "The note has more than \(Self.signaturesMaximum) signatures.")
        }
        for line in lines {
            guard let signature = Signature(line) else {
                throw ProofError(.malformed, "A signature line of the note is malformed.")
            }
            found.append(signature)
        }
        guard !found.isEmpty else {
            throw ProofError(.malformed, "The note has no signatures.")
        }
        signatures = found
    }

    /// Adds a signature.
    public mutating func sign(with key: SigningKey) throws(ProofError) {
        let bytes = try key.signature(of: Array(text.utf8))
        let signature = Signature(
            name: key.verifierKey.name, id: key.verifierKey.id, bytes: bytes)
        if !signatures.contains(signature) { signatures.append(signature) }
    }

    /// Checks that a key has signed the text.
    ///
    /// - Throws: ``ProofError`` with code `unsigned` when there is no signature by the key; with
    ///   `badSignature` when there is one that does not fit.
    public func verify(with key: VerifierKey) throws(ProofError) {
        let mine = signatures.filter {
            NoteText.isSame($0.name, key.name) && $0.id == key.id
        }
        guard !mine.isEmpty else {
            throw ProofError(.unsigned, "The note is not signed by '\(key.name)'.")
        }
        let message = Array(text.utf8)
        for signature in mine {
            guard
                Ed25519.isValid(signature.bytes, of: message, publicKey: key.publicKey)
            else {
                throw ProofError(
                    .badSignature, "The signature by '\(key.name)' does not fit the text.")
            }
        }
    }

    /// The text of the note.
    public var description: String {
        signatures.isEmpty ? text : text + "\n" + signatures.map(\.line).joined()
    }
}

extension SignedNote.Signature {
    /// Reads `— name base64`.
    fileprivate init?(_ line: Substring) {
        let prefix = "\u{2014} "
        guard line.hasPrefix(prefix) else { return nil }
        let parts = line.dropFirst(prefix.count).split(
            separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, NoteText.isName(parts[0]),
            let bytes = NoteText.bytes(base64: String(parts[1])), bytes.count > 4
        else { return nil }
        name = String(parts[0])
        id = Array(bytes.prefix(4))
        self.bytes = Array(bytes.dropFirst(4))
    }
}
