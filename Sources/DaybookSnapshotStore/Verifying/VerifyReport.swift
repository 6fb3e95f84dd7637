package import DaybookJournalLog

/// One thing wrong with a store.
package struct VerifyFinding: Sendable, Hashable, CustomStringConvertible {
    /// Where it was found.
    package enum Kind: String, Sendable, Hashable {
        /// The pages of the file.
        case page
        /// What the store says of itself.
        case metadata
        /// The journal: an entry, its digest or the chain.
        case journal
        /// A record of the projection is not what the journal says.
        case projection
        /// A reference leads nowhere.
        case reference
    }

    /// Where it was found.
    package let kind: Kind
    /// Table and record, or page, or entry.
    package let place: String
    /// A full sentence that names the place.
    package let message: String

    /// The message.
    package var description: String { message }
}

/// What checking a whole store came to.
package struct VerifyReport: Sendable {
    /// Everything that is wrong, in the order in which it was found.
    package internal(set) var findings: [VerifyFinding] = []
    /// The last entry.
    package internal(set) var head = SequenceNumber.zero
    /// Its digest, to be compared with one kept elsewhere; nil when it cannot be read.
    package internal(set) var headDigest: Digest?
    /// How many records of the projection were compared with the journal.
    package internal(set) var recordsCompared = 0
    /// Why the journal is not the one of the checkpoint that was given, if it is not.
    package internal(set) var flaw: String?
    /// What could not be checked, and why; a sentence each.
    package internal(set) var gaps: [String] = []

    /// Whether nothing was found and everything was checked.
    package var isSound: Bool { findings.isEmpty && gaps.isEmpty }
}
