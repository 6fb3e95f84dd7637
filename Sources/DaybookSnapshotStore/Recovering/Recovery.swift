// The room of recovering: a new store of what is left of a damaged one. Entries that prove themselves by their digests
// are taken over unchanged as far as none is missing, and carried out again from there on.

package import DaybookJournalLog
package import DaybookObjectModel

/// What became of a damaged store in a new one.
package struct Recovery: Sendable {
    /// Something that is not in the new store, or not as it was.
    package struct Loss: Sendable, Hashable {
        /// The entry of the damaged store.
        package let sequence: SequenceNumber
        /// What it is about, as a sentence.
        package let text: String
    }

    /// The last entry that is as it was, like all before it.
    package internal(set) var unchanged = SequenceNumber.zero
    /// The last entry that was found; the damaged store may have had more.
    package internal(set) var last = SequenceNumber.zero
    /// The last entry that the damaged store says it has; nil when that cannot be read.
    package internal(set) var said: SequenceNumber?
    /// The entries that were not found, or do not prove themselves.
    package internal(set) var missing: [ClosedRange<SequenceNumber>] = []
    /// The entries that were not found, but whose models the tables had: the new store has an entry with the model in
    /// the place of each.
    package internal(set) var models: [SequenceNumber] = []
    /// How many entries were carried out again, because one before them is missing. They have other numbers and digests.
    package internal(set) var repeated = 0
    /// What of those entries could not be carried out.
    package internal(set) var losses: [Loss] = []
    /// Large data of which the file does not have all bytes.
    package internal(set) var lostData: [LargeData] = []
    /// Whether tags, cursors, kept values and the identifier of the store could be read. The new store has another
    /// identifier otherwise, and none of the rest.
    package internal(set) var hasMarks = true
    /// Which of tags, cursors and kept values were damaged where the others could be read.
    package internal(set) var lostMarks: [String] = []
    /// The tag at the last entry that is as it was; nil when there is none such, or nothing is missing.
    package internal(set) var tag: String?
    /// The last entry of the new store.
    package internal(set) var head = SequenceNumber.zero
    /// Its digest.
    package internal(set) var digest = Digest.zero

    /// Whether the new store has all that the damaged one had, byte for byte; false where it is not known how
    /// many entries that were.
    package var isComplete: Bool {
        hasAllEntries && repeated == 0 && losses.isEmpty && lostData.isEmpty
            && hasMarks && lostMarks.isEmpty
    }

    /// Whether all entries of the damaged store were found; false where it is not known how many those were.
    var hasAllEntries: Bool { said == last && missing.isEmpty }
}
