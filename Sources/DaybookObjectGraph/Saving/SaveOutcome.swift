import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// What has become of a save in what lies under a context. The context then makes itself agree with it.
enum SaveOutcome {
    /// Stores have taken what is pending in them: all of it, or that of the stores before one that has
    /// refused.
    case saved([StoreSave], refusal: (any Error)?)
    /// Another context has taken everything in. Tells whether it came out as it was sent, and where it met
    /// others' changes of attributes that merge.
    case takenIn(isAsSent: Bool, merged: [MergedValue])
}

/// What a save to one store has come to.
struct StoreSave {
    /// The number of the store.
    let store: UInt32
    /// The model by which it was saved.
    let schema: Schema
    /// Everything that was pending there.
    let items: [NetChange]
    /// What was saved; nil when there was nothing to send.
    let result: SaveResult?
    /// Whether others have saved to the store what has not been merged here.
    let hasForeign: Bool
    /// Whether it has settled an earlier save, on which others may have built meanwhile.
    let settlesDoubt: Bool
    /// The saved entries that it has taken back without naming them.
    let undoes: [ClosedRange<SequenceNumber>]

    /// Whether the store has what was sent, as it was sent.
    var isAsSent: Bool { result?.isAsSent != false && !hasForeign && !settlesDoubt }
    /// Whether that is so at least of what others could not change.
    var isUntouched: Bool { result?.isUntouched == true && !settlesDoubt }

    /// The entry; nil when nothing was left to append.
    var entry: SavedEntry? { result?.sequence.map { (store, $0) } }

    /// The record of what it has taken back without naming it; nil for nothing, and where the store has settled it with
    /// what others had saved.
    var unnamedUndo: UnnamedUndo? {
        guard !undoes.isEmpty, isUntouched, let sequence = result?.sequence else { return nil }
        return UnnamedUndo(store: store, sequence: sequence, undoes: undoes)
    }

    /// In which entry something was saved, and what that changed; nil for none.
    var origin: UndoneEntries? {
        // What is pending was then saved by two entries, perhaps with others between them.
        guard let result, let sequence = result.sequence, !result.isResumed else { return nil }
        // What a newer model alone derives is an empty update here.
        let saved = result.changes.withoutDerived(in: schema)
        return UndoneEntries(
            entries: sequence...sequence,
            saved: saved.contains(where: \.isEmpty) ? saved.filter { !$0.isEmpty } : saved)
    }
}

extension [StoreSave] {
    /// In which entry of each store something was saved, and what that changed.
    var origins: [UInt32: UndoneEntries] {
        Dictionary(compactMap { save in save.origin.map { (save.store, $0) } }) { _, last in last }
    }
}
