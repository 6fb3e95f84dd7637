import DaybookJournalLog
import DaybookSnapshotStore

/// How far a context has followed one store.
struct StorePosition {
    /// The entry up to which the saves of others have been merged.
    var base: SequenceNumber
    /// How often the journal had been cut off when that was so: afterwards nobody can tell which of what was merged is
    /// gone.
    let rewinds: UInt64
    /// Entries after the base that the context saved itself.
    var ownEntries = SequenceRanges()
    /// The entry whose state the context reads; nil for the newest.
    var pinned: SequenceNumber?

    init(base: JournalEnd, pinned: SequenceNumber? = nil) {
        self.base = base.head
        rewinds = base.rewinds
        self.pinned = pinned
    }

    /// Whether others have saved entries before one of the context's own that have not been merged.
    func hasForeignEntries(before sequence: SequenceNumber) -> Bool {
        // An older copy may have been put in the store's place.
        guard sequence > base else { return false }
        return sequence.rawValue - base.rawValue - 1 > UInt64(ownEntries.count)
    }

    /// Records an entry that the context has saved.
    mutating func recordSave(_ sequence: SequenceNumber) {
        // An entry that was in doubt may have been merged before the save has settled that.
        guard sequence > base else { return }
        if sequence.rawValue == base.rawValue + 1 {
            base = sequence
        } else {
            ownEntries.insert(sequence)
        }
        advancePin(to: sequence)
    }

    /// Moves the pin, if there is one, to an entry.
    mutating func advancePin(to sequence: SequenceNumber) {
        if pinned != nil { pinned = sequence }
    }

    /// Pins the context to an entry. What comes after it has yet to be merged, even where it was merged
    /// before.
    mutating func pin(at sequence: SequenceNumber?) {
        pinned = sequence
        if let sequence { base = min(base, sequence) }
    }
}
