public import DaybookJournalLog
public import DaybookSnapshotStore
import Foundation

extension PersistentStore {
    /// The entries after a moment, and each new one as soon as it is saved, by whatever process.
    ///
    /// - Parameters:
    ///   - moment: After which entry to begin: one that a number, a date or a tag means, or the newest now
    ///     with ``Moment/head``. `.sequence(.zero)` begins with the first.
    ///   - filter: The entries and changes to take.
    /// - Returns: A sequence for a loop; nothing is read before.
    /// - Throws: ``StoreError`` with code `noSuchEntry` when the journal does not reach that far; with
    ///   `noSuchTag`, or `generation` when the entry of a tag is not the one that was tagged; with
    ///   `noSuchEntity` when the filter names what the model does not have or entries do not; with
    ///   `noSuchStore` when the coordinator is gone; with `closed`.
    /// - Complexity: O(log *n*); the loop reads O(*b*) pages, *b* those of the entries, wanted or not.
    public func changes(
        since moment: Moment, where filter: EntryFilter = .all
    ) throws(StoreError) -> StoreChanges {
        try store.refusing {
            let place = try store.place(after: sequence(of: moment))
            return StoreChanges(try EntryReading(of: self, after: place, filter))
        }
    }

    /// The entries after the one at which a cursor stands, and each new one as soon as it is saved, by whatever
    /// process.
    ///
    /// The cursor does not move by itself: move it with what is saved because of an entry
    /// (``ManagedObjectContext/save(moving:to:author:note:info:at:)``), or with ``JournalCursor/move(to:)``.
    ///
    /// - Parameters:
    ///   - cursor: Where to begin: after its ``JournalCursor/position`` as this is called.
    ///   - filter: The entries and changes to take.
    /// - Returns: A sequence for a loop; nothing is read before.
    /// - Throws: ``StoreError`` with code `noSuchStore` for a cursor of another store, and when the coordinator is
    ///   gone; with `noSuchEntity` when the filter names what the model does not have or entries do not.
    /// - Complexity: As for ``changes(since:where:)-(Moment,_)``.
    public func changes(
        since cursor: JournalCursor, where filter: EntryFilter = .all
    ) throws(StoreError) -> StoreChanges {
        guard cursor.store.identifier == identifier else {
            throw .noSuchStore(cursor.store.name)
        }
        return try store.refusing {
            StoreChanges(try EntryReading(of: self, after: cursor.place, filter))
        }
    }

    /// The entries of a range that a filter selects, without waiting for more.
    ///
    /// Where the store's model indexes entries by what the filter asks for (``ManagedObjectModel/indexesEntries``) and
    /// they are few, only they are read.
    ///
    /// ```swift
    /// let lately = try store.changes(from: SequenceNumber(1_000), where: .all.by("ada"), limit: 50)
    /// ```
    ///
    /// - Parameters:
    ///   - first: The first entry.
    ///   - last: The last one; nil for the newest.
    ///   - filter: The entries and changes to take.
    ///   - limit: How many at most; go on after the last one's number.
    /// - Returns: The entries, oldest first.
    /// - Throws: ``StoreError`` with code `noSuchEntity` when the filter names what the model does not have or
    ///   entries do not; with `noSuchStore` when the coordinator is gone; with `corrupt` when an entry that is
    ///   read, which without an index or times are all up to the last that is returned, cannot be trusted; with `generation`,
    ///   `replaced` or `closed` when the journal is not there any more.
    /// - Complexity: O(*b*) page reads, *b* the pages of the entries, wanted or not; with an index, or times that the
    ///   filter asks for, O(log *n* + *k*), *k* those of the entries that are found by it.
    public func changes(
        from first: SequenceNumber = SequenceNumber(1), through last: SequenceNumber? = nil,
        where filter: EntryFilter = .all, limit: Int? = nil
    ) throws(StoreError) -> [FollowedEntry] {
        try store.refusing {
            let head = try store.head()
            let end = min(last ?? head, head)
            let begin = first > .zero ? first.previous : .zero
            var found: [FollowedEntry] = []
            guard begin < end, limit.map({ $0 > 0 }) ?? true else { return found }
            let model = try graphModel()
            let wanted = try filter.resolved(in: self, model)
            guard case .walk = try store.access(to: wanted.headers, from: begin.next, through: end)
            else {
                try store.checkIsInPlace()
                try store.entries(
                    selectedBy: wanted.headers, from: begin.next, through: end, .oldestFirst
                ) { entry in
                    guard let changes = wanted.selected(of: entry, in: model.schema) else {
                        return .proceed
                    }
                    found.append(FollowedEntry(entry, changes, in: self, model))
                    return found.count == limit ? .stop : .proceed
                }
                return found
            }
            var reading = EntryReading(
                of: self, after: try store.place(after: begin), wanted, model)
            while reading.reached.sequence < end, let page = try reading.next(through: end) {
                for entry in page {
                    found.append(entry)
                    if found.count == limit { return found }
                }
            }
            return found
        }
    }

    /// The model of the program.
    ///
    /// - Throws: ``StoreError`` with code `noSuchStore` when the coordinator is gone.
    func graphModel() throws(StoreError) -> GraphModel {
        guard let coordinator else { throw .noSuchStore(name) }
        return coordinator.model
    }
}
