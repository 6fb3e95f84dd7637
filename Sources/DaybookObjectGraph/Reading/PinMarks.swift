import DaybookJournalLog
import DaybookSnapshotStore

/// Whether the entries to which a context is held are still what they were: after entries were cut off, others have
/// their numbers.
struct PinMarks {
    private struct Mark {
        let place: JournalPlace
        /// How often the journal had been cut off when the entry was last found.
        var rewinds: UInt64
    }

    /// By the number of the store.
    private var marks: [UInt32: Mark] = [:]

    /// Forgets the entry of a store: the context is held to another one now, which may have the same number.
    mutating func forget(_ store: UInt32) { marks[store] = nil }

    /// Forgets the entries of all stores.
    mutating func forgetAll() { marks = [:] }

    /// Notes which entry has a number, unless that is noted.
    ///
    /// - Throws: ``StoreError`` with code `generation` when it is another entry than the one that was noted; when the
    ///   store cannot be read.
    /// - Complexity: O(1) while no entries are cut off.
    mutating func check(_ sequence: SequenceNumber, of store: PersistentStore) throws {
        guard sequence > .zero else { return }
        let rewinds = try store.store.end().rewinds
        guard let mark = marks[store.number], mark.place.sequence == sequence else {
            try note(sequence, of: store, rewinds)
            return
        }
        guard mark.rewinds != rewinds else { return }
        guard try store.store.has(mark.place) else {
            throw StoreError(
                .generation,
                "The context reads '\\(store.name)' as of entry \\(sequence), which the journal does not have any "
                    + "more or has another of: entries were cut off. Make another context, or hold it to another "
                    + "generation.")
        }
        marks[store.number]?.rewinds = rewinds
    }

    private mutating func note(
        _ sequence: SequenceNumber, of store: PersistentStore, _ rewinds: UInt64
    ) throws {
        do {
            let place = try store.store.place(after: sequence)
            marks[store.number] = Mark(place: place, rewinds: rewinds)
        } catch let error as StoreError where [.corrupt, .noSuchEntry].contains(error.code) {
            // Reading tells whether there is such an entry, and asks for no digest.
            marks[store.number] = nil
        }
    }
}
