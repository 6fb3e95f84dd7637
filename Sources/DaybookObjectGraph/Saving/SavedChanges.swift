import DaybookObjectModel
import DaybookSnapshotStore

/// A change together with the store of its object.
struct GraphChange {
    let id: GraphID
    let change: Change
    /// The entry that it stands in; nil for one that is pending.
    var entry: EntryName?
}

/// What was saved, computed when asked for: a save of many objects is not listed unless somebody wants
/// it.
final class SavedChanges {
    private let items: [NetChange]
    /// Derived values of objects that were not changed otherwise.
    private let derived: [GraphChange]

    init(_ items: [NetChange], _ derived: [GraphChange] = []) {
        self.items = items
        self.derived = derived
    }

    /// The changes; an empty one for an object whose edits came to nothing, which children may have
    /// read before that.
    var changes: [GraphChange] {
        items.compactMap { item in
            guard !item.isAnnihilated else { return nil }
            let id = item.object.graphID
            return GraphChange(id: id, change: item.change ?? .nothing(of: id.object))
        } + derived
    }
}

extension Change {
    /// A change that leaves an object as it is.
    static func nothing(of object: ObjectID) -> Change {
        Change(object: object, kind: .update(edits: [], members: []))
    }
}
