/// Why an export cannot be loaded.
package struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of mistakes.
    package enum Kind: Sendable, Hashable {
        /// An export does not write such a line.
        case malformed
        /// The line is well-formed, but the entry does not have its digest.
        case mismatch
    }

    /// The kind of mistake.
    package let kind: Kind
    /// The number of the line, from 1; nil for a mistake at the end of the input.
    package let line: Int?
    /// The mistake and the remedy, in full sentences.
    package let message: String

    init(_ kind: Kind, line: Int?, _ message: String) {
        self.kind = kind
        self.line = line
        self.message = message
    }

    /// The message after the number of the line.
    package var description: String {
        line.map { "line \($0): \(message)" } ?? message
    }
}
