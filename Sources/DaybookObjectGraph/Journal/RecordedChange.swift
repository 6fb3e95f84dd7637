import DaybookJournalLog
import DaybookObjectModel

/// A change that has been made to an object, holding the object alive.
struct RecordedChange {
    let object: ManagedObject
    var change: Change {
        didSet { isNet = false }
    }
    /// Whether the change had been made at the last save.
    var isSaved: Bool
    /// Whether it is known that each of its edits ends with a different value than it starts with.
    private(set) var isNet: Bool

    init(object: ManagedObject, change: Change, isSaved: Bool = false, isNet: Bool = false) {
        self.object = object
        self.change = change
        self.isSaved = isSaved
        self.isNet = isNet
        object.markJournaled()
    }

    /// The change back.
    var inverse: RecordedChange {
        RecordedChange(object: object, change: change.inverse, isSaved: isSaved)
    }
}

/// An undo step: the changes of one event, or of several grouped together.
struct ChangeGroup {
    var changes: [RecordedChange] = []
    var actionName = ""
    /// What moving the cursor over the group takes back, by the number of the store.
    var origins: [UInt32: UndoneEntries] = [:]
    /// The saved entries that have a part in the group beside others, or had when something else joined it.
    var parts: [UInt32: [ClosedRange<SequenceNumber>]] = [:]
    /// The saved entry that the group stands for and that has not been read yet.
    var unread: UnreadEntry?

    /// Whether saved entries of a store have a part in the group.
    func concerns(_ entries: ClosedRange<SequenceNumber>, inStore store: UInt32) -> Bool {
        origins[store]?.entries.overlaps(entries) == true
            || parts[store]?.contains { $0.overlaps(entries) } == true
    }

    /// Remembers what has a part in another group that joins this one.
    mutating func addParts(of other: ChangeGroup) {
        parts.merge(other.parts) { $0 + $1 }
        for (store, origin) in other.origins { parts[store, default: []].append(origin.entries) }
    }

    /// Whether there is nothing in the group.
    var isEmpty: Bool { changes.isEmpty && unread == nil }
}

extension [RecordedChange] {
    /// Marks the changes of some stores, or of all.
    mutating func mark(isSaved: Bool, inStores stores: Set<UInt32>?) {
        for index in indices where stores?.contains(self[index].object.graphID.store) != false {
            self[index].isSaved = isSaved
        }
    }

    /// Tells of changes that leave a list.
    func leave(wereMade isMade: Bool, _ leaving: StepList.Leaving) {
        for recorded in self { leaving(recorded.object, recorded.distance(isMade: isMade)) }
    }
}

extension RecordedChange {
    /// How far the change leads from the base towards the cursor.
    func distance(isMade: Bool) -> Int { (isMade ? 1 : 0) - (isSaved ? 1 : 0) }
}
