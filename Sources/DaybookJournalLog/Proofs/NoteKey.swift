internal import Foundation

// Keys have the form of C2SP's signed-note and Go's note package:
//
//     <name>+<key id, 8 hexadecimal digits>+<base64 of 0x01 and the public key>
//     PRIVATE+KEY+<name>+<key id>+<base64 of 0x01 and the seed>
//
// The key id is the first four bytes of SHA-256(name, newline, 0x01, public key).

/// The public half of a key, with which an auditor checks signatures.
public struct VerifierKey: Sendable, Hashable, CustomStringConvertible {
    /// The name of the key, which precedes each signature.
    public let name: String
    let id: [UInt8]
    let publicKey: [UInt8]

    fileprivate init(name: String, publicKey: [UInt8]) {
        self.name = name
        self.publicKey = publicKey
        let bytes = Array(name.utf8) + [0x0A, NoteText.ed25519] + publicKey
        id = Array(Digest.of(bytes).bytes.prefix(4))
    }

    /// Reads a key.
    ///
    /// - Throws: ``ProofError`` with code `malformed` for anything but one key of this kind.
    public init(_ text: String) throws(ProofError) {
        let parts = NoteText.trimmed(text).split(
            separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, NoteText.isName(parts[0]),
            let bytes = NoteText.bytes(base64: String(parts[2])),
            bytes.count == 1 + Ed25519.keyBytes, bytes[0] == NoteText.ed25519
        else {
            throw ProofError(
                .malformed,
                "This is not a verifier key: one is written 'name+id+base64' and holds an Ed25519 key."
            )
        }
        self.init(name: String(parts[0]), publicKey: Array(bytes.dropFirst()))
        guard NoteText.isSame(NoteText.hexadecimal(id), parts[1]) else {
            throw ProofError(
                .malformed, "The id of the verifier key '\(name)' does not fit its name and key.")
        }
    }

    /// The text of the key.
    public var description: String {
        "\(name)+\(NoteText.hexadecimal(id))+\(NoteText.base64([NoteText.ed25519] + publicKey))"
    }
}

/// The private half of a key. It never goes into a store.
public struct SigningKey: Sendable {
    /// The public half.
    public let verifierKey: VerifierKey
    private let seed: [UInt8]

    private init(name: String, seed: [UInt8]) throws(ProofError) {
        guard let publicKey = Ed25519.publicKey(ofSeed: seed) else {
            throw ProofError(.malformed, "The seed of the key '\(name)' is malformed.")
        }
        self.seed = seed
        verifierKey = VerifierKey(name: name, publicKey: publicKey)
    }

    /// Makes a new key from the system's random numbers.
    ///
    /// - Parameter name: The name of the key, best written like `example.org/ledger`.
    /// - Returns: The key.
    /// - Throws: ``ProofError`` with code `malformed` for a name that is empty or contains white
    ///   space, control characters or a plus sign.
    public static func random(name: String) throws(ProofError) -> SigningKey {
        guard NoteText.isName(name) else {
            throw ProofError(
                .malformed, "The name of a key is not empty and holds no white space and no '+'.")
        }
        var generator = SystemRandomNumberGenerator()
        let seed = (0..<Ed25519.keyBytes).map { _ in
            UInt8.random(in: .min ... .max, using: &generator)
        }
        return try SigningKey(name: name, seed: seed)
    }

    /// Reads a key.
    ///
    /// - Throws: ``ProofError`` with code `malformed` for anything but one private key. The message
    ///   never holds the key.
    public init(_ text: String) throws(ProofError) {
        let parts = NoteText.trimmed(text).split(
            separator: "+", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, NoteText.isSame(parts[0], "PRIVATE"),
            NoteText.isSame(parts[1], "KEY"),
            NoteText.isName(parts[2]), let bytes = NoteText.bytes(base64: String(parts[4])),
            bytes.count == 1 + Ed25519.keyBytes, bytes[0] == NoteText.ed25519
        else {
            throw ProofError(
                .malformed,
                "This is not a signing key: one is written 'PRIVATE+KEY+name+id+base64'.")
        }
        try self.init(name: String(parts[2]), seed: Array(bytes.dropFirst()))
        guard NoteText.isSame(NoteText.hexadecimal(verifierKey.id), parts[3]) else {
            throw ProofError(
                .malformed,
                "The id of the signing key '\(verifierKey.name)' does not fit its name and key.")
        }
    }

    /// The text of the key. It is a secret.
    public var secretText: String {
        "PRIVATE+KEY+\(verifierKey.name)+\(NoteText.hexadecimal(verifierKey.id))+"
            + NoteText.base64([NoteText.ed25519] + seed)
    }

    func signature(of message: [UInt8]) throws(ProofError) -> [UInt8] {
        guard let signature = Ed25519.signature(of: message, seed: seed) else {
            throw ProofError(.malformed, "The key '\(verifierKey.name)' cannot sign.")
        }
        return signature
    }
}

/// Rules of texts in keys and notes.
enum NoteText {
    /// The kind of key and signature.
    static let ed25519: UInt8 = 1

    /// Whether a text can be the name of a key: no spaces, no plus, no control characters.
    static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 != "+" && $0.value >= 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace
            }
    }

    /// Whether two texts have the same bytes. Swift's `==` also accepts different bytes of
    /// canonically equivalent characters.
    static func isSame(_ left: some StringProtocol, _ right: some StringProtocol) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }

    /// A text without the line break at its end.
    static func trimmed(_ text: String) -> Substring {
        text.hasSuffix("\n") ? text.dropLast() : text[...]
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    /// The bytes of a text in base64; nil unless it is their canonical form.
    static func bytes(base64 text: String) -> [UInt8]? {
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else {
            return nil
        }
        return [UInt8](data)
    }
}
