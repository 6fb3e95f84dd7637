/// Why a key, a checkpoint or a proof is not accepted.
public struct ProofError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of refusal this is; programs decide by it.
    public let code: Code
    /// One full sentence.
    public let message: String

    /// The kinds of refusal.
    public enum Code: Sendable, Hashable {
        /// The text is not what it should be.
        case malformed
        /// No signature is by the key that was asked for.
        case unsigned
        /// A signature by the key that was asked for does not fit the text.
        case badSignature
        /// The hashes do not lead to the root.
        case badProof
        /// The checkpoint is of another journal, or of one that was changed.
        case mismatch
    }

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
