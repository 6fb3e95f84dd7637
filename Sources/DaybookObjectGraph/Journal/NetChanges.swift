import DaybookObjectModel
import DaybookStopping

/// What is pending for one object: everything between base and cursor as one change.
struct NetChange {
    /// The kind of change that is pending, which can be asked without touching the change.
    enum Kind {
        case nothing, insert, update, delete

        init(_ change: Change) {
            switch change.kind {
            case .insert: self = .insert
            case .update: self = .update
            case .delete: self = .delete
            }
        }
    }

    fileprivate(set) var object: ManagedObject
    /// The net change, which changes something; nil when the edits cancel each other (A→B→A).
    fileprivate(set) var change: Change? {
        didSet {
            kind = change.map { Kind($0) } ?? .nothing
            takenBack = []
        }
    }
    /// The edits of which the change is the inverse, and nothing else; empty when that is not known.
    fileprivate var takenBack: [Edit] = []
    private(set) var kind: Kind
    /// How many changes of the object lie between base and cursor in the list, rewound ones counting
    /// back.
    // Positions in the list would tell it, too, but those of all the object's changes would be needed,
    // since an undo of the last one has to know whether others are left; and they move with every step
    // that is forgotten, put below or rewritten. A number costs an addition for each change.
    fileprivate var distance: Int
    /// Whether something was changed that is not in the list, so that no undo takes it back.
    fileprivate var isBeyondUndo: Bool

    fileprivate init(
        _ object: ManagedObject, _ change: Change, _ move: NetChanges.Move, isEmpty: Bool
    ) {
        self.object = object
        self.change = isEmpty ? nil : change
        kind = isEmpty ? .nothing : Kind(change)
        distance = move.rawValue
        isBeyondUndo = move == .unrecorded
    }

    /// Whether the cursor stands on the base, as far as the object is concerned.
    fileprivate var isClean: Bool { kind == .nothing && distance == 0 && !isBeyondUndo }

    /// Whether undo takes back all that is pending.
    var isUndoable: Bool { !isBeyondUndo }

    /// Whether the object was inserted and deleted since the last save: it no longer exists, but undo can
    /// still bring it back.
    var isAnnihilated: Bool {
        kind == .nothing && object.status.isTemporary
    }

    /// Takes in one more change of the object.
    fileprivate mutating func follow(with next: Change, _ move: NetChanges.Move) {
        distance += move.rawValue
        if move == .unrecorded { isBeyondUndo = true }
        guard let earlier = change else {
            change = next.isEmpty ? nil : next
            return
        }
        do {
            // What was set without being recorded may lie between them.
            change = try earlier.followed(
                by: next, of: object.binding.schema, whereverItStarts: true)
        } catch {
            stop("A change follows one that it can follow: \(error)")
        }
    }
}

/// The index of a working journal: the net change of every object that was touched between base and
/// cursor.
///
/// Holding the objects strongly is what keeps changed objects alive until they are saved, rolled
/// back or undone.
struct NetChanges {
    /// How a change came about.
    enum Move: Int {
        /// It was made, or made again, and can be undone.
        case forward = 1
        /// It takes back another one.
        case back = -1
        /// It was made without being recorded for undo.
        case unrecorded = 0
    }

    /// The net changes of one entity in the order in which their objects were first touched, so that
    /// new objects come out in the order of their numbers, which is that of an entry.
    private struct Group {
        var items: [NetChange] = []
        /// Where the objects' net changes are, by the words of the objects.
        var indices: [UInt64: Int32] = [:]

        /// - Returns: The index of the object's net change; nil when it is clean.
        mutating func append(
            _ object: ManagedObject, _ change: Change, _ move: Move, isEmpty: Bool
        ) -> Int? {
            guard let index = claim(object.graphID, items.count) else {
                let item = NetChange(object, change, move, isEmpty: isEmpty)
                items.append(consume item)
                return items.count - 1
            }
            items[index].follow(with: change, move)
            // Undo may go on with the instance that a record had before it was deleted and came back.
            if items[index].object !== object { items[index].object = object }
            guard !items[index].isClean else {
                remove(object.graphID)
                return nil
            }
            return index
        }

        /// Sets an index that is not known yet. Changing it in place would allocate for each object.
        ///
        /// - Returns: The index that is known; nil when there was none.
        private mutating func claim(_ id: GraphID, _ next: Int) -> Int? {
            guard let known = indices.updateValue(Int32(next), forKey: id.word) else { return nil }
            indices[id.word] = known
            return Int(known)
        }

        /// Puts the last net change in the place of the removed one.
        mutating func remove(_ id: GraphID) {
            guard let index = indices.removeValue(forKey: id.word), let last = items.popLast(),
                index < items.count
            else { return }
            items[Int(index)] = last
            indices[last.object.graphID.word] = index
        }
    }

    /// By the number of the entity.
    private var groups: [Group] = []

    /// Whether no object has been touched.
    var isEmpty: Bool { groups.allSatisfy { $0.items.isEmpty } }

    /// All net changes, entity after entity.
    var all: [NetChange] {
        var all: [NetChange] = []
        for group in groups where !group.items.isEmpty {
            // Usually all objects are of one entity, whose array is handed out as it is.
            if all.isEmpty { all = group.items } else { all += group.items }
        }
        return all
    }

    /// The net changes of some entities.
    func all(of entities: [EntityNumber]) -> some Sequence<NetChange> {
        let groups = groups
        return entities.lazy.map { Int($0.rawValue) }.filter { $0 < groups.count }
            .flatMap { groups[$0].items }
    }

    /// What is pending for an object.
    subscript(id: GraphID) -> NetChange? {
        guard let (group, index) = index(of: id) else { return nil }
        return groups[group].items[index]
    }

    private func index(of id: GraphID) -> (group: Int, index: Int)? {
        let group = Int(id.object.entity.rawValue)
        guard group < groups.count, let index = groups[group].indices[id.word] else { return nil }
        return (group, Int(index))
    }

    // MARK: - Moving the cursor

    /// Takes in the changes of an event, in which no object has more than one.
    ///
    /// - Returns: The objects that were inserted since the last save and no longer exist.
    mutating func append(_ changes: [RecordedChange], _ move: Move) -> [ManagedObject] {
        var annihilated: [ManagedObject] = []
        makeRoom(for: changes)
        let changes = changes.span
        for number in changes.indices {
            let object = changes[number].object
            let group = makeGroup(object.graphID.object.entity)
            let index = groups[group].append(
                object, changes[number].change, move, isEmpty: changes[number].change.isEmpty)
            if let index, groups[group].items[index].isAnnihilated { annihilated.append(object) }
        }
        return annihilated
    }

    /// Takes in a change that has been made, or the inverse of one that has been undone.
    ///
    /// - Returns: What is now pending for the object; nil when it is clean.
    @discardableResult
    mutating func append(
        _ change: Change, of object: ManagedObject, _ move: Move
    ) -> NetChange.Kind? {
        let group = makeGroup(object.graphID.object.entity)
        let index = groups[group].append(object, change, move, isEmpty: change.isEmpty)
        return index.map { groups[group].items[$0].kind }
    }

    /// Takes in edits that take others back, all of which change something.
    ///
    /// - Returns: What is now pending for the object; nil when it is clean.
    mutating func append(
        _ change: Change, of object: ManagedObject, takingBack edits: [Edit]
    ) -> NetChange.Kind? {
        let group = makeGroup(object.graphID.object.entity)
        let count = groups[group].items.count
        guard let index = groups[group].append(object, change, .back, isEmpty: false) else {
            return nil
        }
        // For an object that was there before, it is not known what else has been done.
        if index == count { groups[group].items[index].takenBack = edits }
        return groups[group].items[index].kind
    }

    /// Makes room for changes that come at once and are mostly of one entity.
    mutating func makeRoom(for changes: [RecordedChange]) {
        guard let first = changes.first else { return }
        let group = makeGroup(first.object.graphID.object.entity)
        // Otherwise the room grows as needed, as it does for changes that come one by one.
        guard changes.count > groups[group].items.count else { return }
        groups[group].items.reserveCapacity(groups[group].items.count + changes.count)
        groups[group].indices.reserveCapacity(groups[group].indices.count + changes.count)
    }

    private mutating func makeGroup(_ entity: EntityNumber) -> Int {
        let group = Int(entity.rawValue)
        while group >= groups.count { groups.append(Group()) }
        return group
    }

    // MARK: - Following the list

    /// Follows a change that the list has dropped, as if it had never been made.
    ///
    /// - Returns: Whether this has made the object clean.
    mutating func forget(_ id: GraphID, _ distance: Int) -> Bool {
        guard let (group, index) = index(of: id) else { return false }
        groups[group].items[index].distance -= distance
        guard groups[group].items[index].isClean else { return false }
        groups[group].remove(id)
        return true
    }

    /// Follows a change that the list has forgotten while what it changed stays: the object is dirty
    /// until the next save.
    mutating func keep(_ id: GraphID, _ distance: Int) {
        guard let (group, index) = index(of: id) else { return }
        groups[group].items[index].distance -= distance
        groups[group].items[index].isBeyondUndo = true
    }

    /// Follows a list that has been forgotten; what was changed stays.
    mutating func keepAll() {
        for group in groups.indices {
            for index in groups[group].items.indices {
                groups[group].items[index].distance = 0
                groups[group].items[index].isBeyondUndo = true
            }
        }
    }

    // MARK: - Moving the base

    /// Replaces a net change with one that starts from what others have made of the object.
    mutating func replace(_ id: GraphID, with change: Change?) {
        guard let (group, index) = index(of: id) else { return }
        groups[group].items[index].change = change
    }

    /// Makes what is pending for an object follow it to another identifier.
    mutating func move(_ old: GraphID, to id: GraphID) {
        guard let (group, index) = index(of: old) else { return }
        groups[group].indices[old.word] = nil
        groups[group].indices[id.word] = Int32(index)
        if let change = groups[group].items[index].change {
            groups[group].items[index].change = Change(
                object: id.object, kind: change.kind, cause: change.cause)
        }
    }

    /// Forgets an object.
    mutating func remove(_ id: GraphID) {
        guard let (group, _) = index(of: id) else { return }
        groups[group].remove(id)
    }

    /// Forgets everything.
    mutating func removeAll() {
        groups.removeAll()
    }
}

extension [NetChange] {
    /// Whether these are the result of taking back exactly some changes, last first, as undo does.
    ///
    /// Compares no values: where what was recorded of their origin does not tell, the answer is no.
    ///
    /// - Complexity: O(*n*).
    func haveTakenBack(_ changes: [Change]) -> Bool {
        guard count == changes.count else { return false }
        let (items, changes) = (span, changes.span)
        for index in changes.indices {
            let last = items.count - 1 - index
            guard case .update(let edits, let members) = changes[index].kind, members.isEmpty,
                !edits.isEmpty, items[last].takenBack.span.isIdentical(to: edits.span),
                items[last].object.graphID.object == changes[index].object
            else { return false }
        }
        return true
    }

    /// Whether the objects stand in the opposite order of an entry, as after an undo.
    var areReversed: Bool {
        guard let first, let last else { return false }
        return last.object.graphID.object < first.object.graphID.object
    }
}
