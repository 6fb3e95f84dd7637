import DaybookJournalLog
import DaybookSnapshotStore

/// Whether the entries to which a context is held are still what they were: after entries were cut off, others have
/// their numbers.
struct PinMarks {
    private struct Mark {
        let place: JournalPlace
        /// How often the journal had been cut off when the entry was last found; nil before it was looked for.
        var rewinds: UInt64?
    }

    /// By the number of the store.
    private var marks: [UInt32: Mark] = [:]

    /// Forgets the entry of a store: the context is held to another one now, which may have the same number.
    mutating func forget(_ store: UInt32) { marks[store] = nil }

    /// Forgets the entries of all stores.
    mutating func forgetAll() { marks = [:] }

    /// Notes the entry of a store as it was found elsewhere.
    mutating func note(_ place: JournalPlace, in store: UInt32) {
        marks[store] = Mark(place: place, rewinds: nil)
    }

    /// Which entry was noted under a number.
    func place(of sequence: SequenceNumber, in store: UInt32) -> JournalPlace? {
        marks[store].flatMap { $0.place.sequence == sequence ? $0.place : nil }
    }

    /// Notes which entry has a number, unless that is noted.
    ///
    /// - Throws: ``StoreError`` with code `generation` when it is another entry than the one that was noted; when the
    ///   store cannot be read.
    /// - Complexity: O(1) while no entries are cut off.
    mutating func check(_ sequence: SequenceNumber, of store: PersistentStore) throws {
        guard sequence > .zero else { return }
        do {
            try store.store.read(at: sequence) { try check(sequence, of: store, in: $0) }
        } catch let error as StoreError where error.code == .noSuchEntry {
            guard place(of: sequence, in: store.number) == nil else {
                throw StoreError.cutOff(sequence, of: store)
            }
            // Reading tells that there is no such entry.
        }
    }

    /// Notes which entry has a number in what is about to be read, unless that is noted.
    ///
    /// - Throws: As ``check(_:of:)``.
    mutating func check(
        _ sequence: SequenceNumber, of store: PersistentStore, in snapshot: borrowing Snapshot
    ) throws {
        guard sequence > .zero else { return }
        let rewinds = try snapshot.rewinds()
        guard let mark = marks[store.number], mark.place.sequence == sequence else {
            marks[store.number] = try snapshot.place(after: sequence).map {
                Mark(place: $0, rewinds: rewinds)
            }
            return
        }
        guard mark.rewinds != rewinds else { return }
        guard try snapshot.has(mark.place) else { throw StoreError.cutOff(sequence, of: store) }
        marks[store.number]?.rewinds = rewinds
    }
}

extension StoreError {
    /// The entry to which a context is held is not there any more.
    static func cutOff(_ sequence: SequenceNumber, of store: PersistentStore) -> StoreError {
        StoreError(
            .generation,
            "The context reads '\(store.name)' as of entry \(sequence), which the journal does not have any "
                + "more or has another of: entries were cut off. Make another context, or hold it to another "
                + "generation.")
    }
}
