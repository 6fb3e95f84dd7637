/// Why a text index cannot be used or a text cannot be looked for.
public struct SearchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failures.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text to look for has no word, or begins a phrase that does not end.
        case text
        /// There is no such entity or attribute, or it is not in the index.
        case scope
        /// The file of the index cannot be read or written, or is something else.
        case file
    }

    /// The kind of the failure.
    public let code: Code
    /// The mistake and the remedy, in sentences.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
