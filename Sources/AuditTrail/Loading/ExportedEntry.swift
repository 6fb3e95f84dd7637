package import JournalLog
package import ObjectModel
package import SnapshotStore

/// An entry as a line of an export tells it.
package struct ExportedEntry: Sendable {
    /// Its place.
    package var sequence: SequenceNumber
    /// When it was recorded, in microseconds since 1970.
    package var recordedAt: Int64
    /// What is said of it.
    package var header: EntryHeader
    /// The model, in an entry that sets it.
    package var model: ManagedObjectModel?
    /// What it changes, in the order of the export.
    package var changes: [Change]
    /// The digest that it must come out with.
    package var digest: Digest
}

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
        line.map { "Line \($0): \(message)" } ?? message
    }
}
