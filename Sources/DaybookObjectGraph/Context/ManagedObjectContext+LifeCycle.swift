import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// Why an object has taken values that the program did not set.
///
/// The raw values are Core Data's.
public struct SnapshotEventType: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt

    /// Wraps bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// An insert was undone, or a delete redone.
    public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
    /// A delete was undone, or an insert redone.
    public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
    /// An edit was undone or redone.
    public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
    /// The context was rolled back.
    public static let rollback = SnapshotEventType(rawValue: 1 << 4)
    /// The object was refreshed, or has merged what others have saved.
    public static let refresh = SnapshotEventType(rawValue: 1 << 5)
    /// A save has settled a conflict by the merge policy, or has merged changes of others.
    public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}

extension Notification.Name {
    /// Posted before a context is saved, on its queue, after ``ManagedObject/willSave()`` and before
    /// validation. The notification's object is the context.
    public static var managedObjectContextWillSave: Notification.Name {
        NotificationInterest.willSave.markRequested()
        return .willSave
    }

    fileprivate static let willSave = Notification.Name("DaybookManagedObjectContextWillSave")
}

extension ManagedObjectContext {
    /// How many times the hooks of a save may make more changes. No sensible program comes near it:
    /// hooks that need that many rounds trigger each other without end.
    static let hookRoundLimit = 1000

    /// Ends the event and lets objects make their last changes, until nothing changes any more.
    ///
    /// - Throws: ``StoreError`` with code `unsettled` when that does not come to an end; what was
    ///   changed is then still pending.
    func prepareToSave() throws {
        processPendingChanges()
        try untilSettled("'willSave'") { all in
            let items = all.span
            for index in items.indices where !items[index].isAnnihilated {
                items[index].object.willSave()
            }
        }
        guard !journal.isAtBase else { return }
        journal.joiningSteps {
            postWillSave()
            processPendingChanges()
        }
    }

    /// Posts that the context is about to be saved.
    func postWillSave() {
        guard NotificationInterest.willSave.isThere else { return }
        NotificationCenter.default.post(name: .willSave, object: self)
    }

    /// Runs hooks on what is pending, and again on what they have changed, until they change nothing any
    /// more.
    func untilSettled(_ hooks: String, _ round: ([NetChange]) -> Void) throws {
        var items = journal.net
        var concerned = items
        for _ in 0..<Self.hookRoundLimit {
            let count = journal.eventCount
            journal.joiningSteps {
                round(concerned)
                processPendingChanges()
            }
            guard journal.eventCount != count else { return }
            let before = items
            items = journal.net
            concerned = items.changed(since: before)
            guard !concerned.isEmpty else { return }
        }
        throw StoreError.unsettled(hooks, concerned.map(\.summary))
    }

    // MARK: - Values that come from elsewhere

    /// Tells objects that undo or redo has changed them, each once.
    ///
    /// - Parameters:
    ///   - moved: The changes that the cursor has moved over, in the order of the journal.
    ///   - move: Whether they have been made or taken back.
    func awake(after moved: [RecordedChange], _ move: NetChanges.Move) {
        guard moved.haveDuplicates else {
            let moved = moved.span
            for offset in moved.indices {
                let index = move == .back ? moved.count - 1 - offset : offset
                awake(moved[index].object, moved[index].change.event(move))
            }
            return
        }
        var events: [ManagedObject: SnapshotEventType] = [:]
        for recorded in moved {
            events[recorded.object, default: []].insert(recorded.change.event(move))
        }
        for recorded in move == .back ? moved.reversed() : moved {
            if let event = events.removeValue(forKey: recorded.object) {
                awake(recorded.object, event)
            }
        }
    }

    /// Tells an object that its values come from elsewhere. What it sets in response is not recorded.
    func awake(_ object: ManagedObject, _ events: SnapshotEventType) {
        guard !object.isFault, !object.status.isGone else { return }
        withoutRecording { object.awake(fromSnapshotEvents: events) }
    }
}

extension Change {
    /// What happens to the object when the change is made or taken back.
    fileprivate func event(_ move: NetChanges.Move) -> SnapshotEventType {
        switch kind {
        case .insert: move == .back ? .undoInsertion : .undoDeletion
        case .update: .undoUpdate
        case .delete: move == .back ? .undoDeletion : .undoInsertion
        }
    }
}

extension [RecordedChange] {
    /// Whether some object has more than one change.
    fileprivate var haveDuplicates: Bool {
        // A mark in each object is cheaper than a set of all objects.
        let changes = span
        var haveDuplicates = false
        for index in changes.indices {
            let isNew = changes[index].object.isFirstCount()
            if !isNew { haveDuplicates = true }
        }
        for index in changes.indices { changes[index].object.forgetCount() }
        return haveDuplicates
    }
}

extension [NetChange] {
    /// The items that are new or have changed.
    fileprivate func changed(since before: [NetChange]) -> [NetChange] {
        let earlier = Dictionary(
            before.map { ($0.object.graphID, $0.change) }, uniquingKeysWith: { first, _ in first })
        return filter { item in
            guard let change = earlier[item.object.graphID] else { return true }
            return change != item.change
        }
    }
}

extension NetChange {
    /// The object and what is changed of it, for a message.
    fileprivate var summary: String {
        var names: [String] = []
        if case .update(let edits, let members)? = change?.kind {
            let numbers = edits.map(\.property) + members.map(\.property)
            names = numbers.compactMap { object.binding.schema.property($0)?.name }
        }
        let properties = names.isEmpty ? "" : ": \(names.sorted().joined(separator: ", "))"
        return "\(object.objectID)\(properties)"
    }
}

extension StoreError {
    fileprivate static func unsettled(_ hooks: String, _ changes: [String]) -> StoreError {
        StoreError(
            .unsettled,
            "Nothing was saved: \(hooks) has changed objects "
                + "\(ManagedObjectContext.hookRoundLimit) times in a row and has not stopped. Set a "
                + "property in a hook only when its value changes.",
            details: changes.sorted())
    }
}
