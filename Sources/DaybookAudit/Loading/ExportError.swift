/// Why an export cannot be loaded.
package struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of mistake it is.
    package enum Kind: Sendable, Hashable {
        /// The line is not what an export writes.
        case malformed
        /// The line is well written and the entry is not the one that had the digest.
        case mismatch
    }

    /// The kind of mistake.
    package let kind: Kind
    /// The number of the line, from 1; nil when the end of the input is the mistake.
    package let line: Int?
    /// What is wrong and what would be right: full sentences.
    package let message: String

    init(_ kind: Kind, line: Int?, _ message: String) {
        self.kind = kind
        self.line = line
        self.message = message
    }

    /// The message behind the number of the line.
    package var description: String {
        line.map { "line \($0): \(message)" } ?? message
    }
}
