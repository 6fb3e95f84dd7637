/// The reason why a key, a checkpoint or a proof is rejected.
public struct ProofError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of refusal; programs decide by it.
    public let code: Code
    /// One full sentence.
    public let message: String

    /// The kinds of refusal.
    public enum Code: Sendable, Hashable {
        /// The text is malformed.
        case malformed
        /// There is no signature by the requested key.
        case unsigned
        /// A signature by the requested key does not fit the text.
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
