package import DaybookJournalLog

/// One thing wrong with a store.
package struct VerifyFinding: Sendable, Hashable, CustomStringConvertible {
    /// Where it was found.
    package enum Kind: String, Sendable, Hashable {
        /// The pages of the file.
        case page
        /// The metadata of the store, tags and cursors included.
        case metadata
        /// The journal: an entry, its digest or the chain.
        case journal
        /// A record of the projection differs from what the journal gives.
        case projection
        /// A reference leads nowhere.
        case reference
        /// A count, sum or extreme is not what it is derived from.
        case derived
        /// The chunks of large data.
        case data
        /// What a program has folded out of the journal.
        case state
    }

    /// Where it was found.
    package let kind: Kind
    /// Table and record, or page, or entry.
    package let place: String
    /// A full sentence that says where.
    package let message: String

    /// The message.
    package var description: String { message }
}

/// The result of checking a whole store.
package struct VerifyReport: Sendable {
    /// Everything that is wrong, in the order in which it was found.
    package internal(set) var findings: [VerifyFinding] = []
    /// The last entry.
    package internal(set) var head = SequenceNumber.zero
    /// Its digest, to be compared with one kept elsewhere; nil when it cannot be read.
    package internal(set) var headDigest: Digest?
    /// How many records of the projection were compared with the journal.
    package internal(set) var recordsCompared = 0
    /// Whether the journal was compared with a given checkpoint; if it was not, a gap says why.
    package internal(set) var isCheckpointCompared = false
    /// Why the journal does not extend the given checkpoint, if it does not.
    package internal(set) var flaw: String?
    /// What could not be checked and why, a sentence each.
    package internal(set) var gaps: [String] = []

    /// Whether nothing was found and everything was checked.
    package var isSound: Bool { findings.isEmpty && gaps.isEmpty }
}
