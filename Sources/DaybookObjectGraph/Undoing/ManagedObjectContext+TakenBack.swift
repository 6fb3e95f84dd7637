import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// Which saved entries a context has taken back itself, so that they do not block what lies under them.

extension ManagedObjectContext {
    /// The saved entries of a store that have been taken back here as a whole, and not saved so yet or by an entry that
    /// could not name them.
    ///
    /// A step may be a part of its entry only: other steps may stand, and what was changed without registration is in
    /// none.
    ///
    /// - Throws: ``StoreError`` when an entry cannot be read.
    /// - Complexity: O(*k*), *k* the number of changes since the last save, and of those in the entries; after a save
    ///   without a name O(*e*), *e* the size of all entries after it.
    func entriesTakenBack(in store: PersistentStore) throws -> Set<SequenceNumber> {
        var taken: Set<SequenceNumber> = []
        for entries in journal.entriesTouchedBack(inStore: store.number) {
            if try entries.isWhole || isCovered(entries, in: store) {
                taken.formUnion(entries.range.numbers)
            }
        }
        let saves = journal.unnamedUndos(inStore: store.number)
        guard let first = saves.map(\.sequence).min() else { return taken }
        let undos = try store.store.standingUndos(after: first)
        for save in saves {
            let undo = undos.first { $0.undoes ~= save.sequence }
            guard undo.map({ taken.contains($0.sequence) }) != false else { continue }
            taken.formUnion(save.undoes.flatMap(\.numbers))
            taken.insert(save.sequence)
        }
        return taken
    }

    /// The saved entries that changes take back, if they do nothing else and the entries do not follow each other, so
    /// that the entry of the save cannot name them.
    ///
    /// - Throws: ``StoreError`` when an entry cannot be read.
    func entriesWithGaps(
        among origins: [UndoneEntries], takenBackBy changes: [Change], of items: [NetChange],
        in store: PersistentStore
    ) throws -> [ClosedRange<SequenceNumber>] {
        guard origins.count > 1, UndoneEntries.run(of: origins) == nil,
            items.allSatisfy(\.isUndoable)
        else { return [] }
        let entries = journal.entriesTouchedBack(inStore: store.number)
        guard
            changes.allSatisfy({ change in entries.contains { $0.reach.covers(change) } }),
            try entries.allSatisfy({ try $0.isWhole || isCovered($0, in: store) })
        else { return [] }
        return entries.map(\.range)
    }

    /// Whether everything that entries changed has been touched by what takes them back.
    private func isCovered(_ touched: TouchedEntries, in store: PersistentStore) throws -> Bool {
        guard let net = try touched.saved ?? netChanges(of: touched.range, in: store) else {
            return false
        }
        return net.allSatisfy(touched.reach.covers)
    }
}

/// A save that has taken back entries with others between them, which its own entry cannot name.
struct UnnamedUndo {
    let store: UInt32
    let sequence: SequenceNumber
    let undoes: [ClosedRange<SequenceNumber>]
}

/// Entries of which steps have taken something back.
struct TouchedEntries {
    let range: ClosedRange<SequenceNumber>
    /// What they changed, if that is known.
    var saved: [Change]?
    /// What was taken back.
    var reach = ChangeReach()
    /// Whether a step stands for all that they changed.
    var isWhole = false
}

/// Which objects, values and members changes concern.
struct ChangeReach {
    private struct Place: Hashable {
        let object: ObjectID
        let property: PropertyNumber
        var member: ObjectID?
    }

    /// The objects that were made or deleted.
    private var objects: Set<ObjectID> = []
    private var places: Set<Place> = []

    /// Takes in what a change concerns.
    mutating func add(_ change: Change) {
        guard case .update = change.kind else {
            objects.insert(change.object)
            return
        }
        places.formUnion(Self.places(of: change))
    }

    /// Whether everything that a change concerns was taken in.
    func covers(_ change: Change) -> Bool {
        if objects.contains(change.object) { return true }
        guard case .update = change.kind else { return false }
        return Self.places(of: change).allSatisfy(places.contains)
    }

    private static func places(of change: Change) -> [Place] {
        guard case .update(let edits, let members) = change.kind else { return [] }
        return edits.map { Place(object: change.object, property: $0.property) }
            + members.flatMap { edit in
                (edit.added + edit.removed).map {
                    Place(object: change.object, property: edit.property, member: $0.object)
                }
            }
    }
}

extension ClosedRange<SequenceNumber> {
    /// The numbers in the range.
    var numbers: some Sequence<SequenceNumber> {
        (lowerBound.rawValue...upperBound.rawValue).lazy.map { SequenceNumber($0) }
    }
}
