import DaybookObjectModel
import DaybookStopping

/// What happened to one object in the event that is being recorded.
///
/// Setting a property many times in one event costs one record: the old value is kept when the
/// property is first touched, and the new one is read from the object when the event ends.
struct EventRecord {
    enum Kind {
        case insert
        case update
        case delete
        /// An insert and a delete in one event: nothing happened.
        case nothing
    }

    /// The place of a member before and after; nil for not a member.
    struct Move {
        var old: Double?
        var new: Double?
    }

    let object: ManagedObject
    var kind: Kind
    /// What was edited, with the old values. The new ones are filled in when the event ends.
    var edits: [Edit] = []
    var moves: [PropertyNumber: [ObjectID: Move]] = [:]
    var cause: ObjectID?
    /// What the object was before the event that has deleted it. What is set after the delete changes
    /// nothing but the instance.
    private(set) var valuesDeleted: [Value]?

    /// Notes the value of a property before it is first set.
    mutating func touch(_ property: PropertyNumber, _ old: Value) {
        for edit in edits where edit.property == property { return }
        edits.append(Edit(property: property, old: old, new: .null))
    }

    /// Ends what happens to the object with its deletion.
    mutating func delete(_ values: [Value], because cause: ObjectID?) {
        self.cause = cause
        kind = kind == .insert ? .nothing : .delete
        valuesDeleted = values
    }

    /// The change this record amounts to; nil for none.
    var change: Change? {
        var record = self
        return record.takeChange()
    }

    /// Ends the record: the change it amounts to takes over what was recorded; nil for none.
    mutating func takeChange() -> Change? {
        let id = object.graphID.object
        switch kind {
        case .nothing:
            return nil
        case .insert:
            return Change(
                object: id, kind: .insert(values: object.values, members: memberships { $0 }))
        case .update:
            finishEdits()
            let members = memberships { $0 }
            guard !edits.isEmpty || !members.isEmpty else { return nil }
            return Change(object: id, kind: .update(edits: edits, members: members), cause: cause)
        case .delete:
            return Change(
                object: id,
                kind: .delete(
                    values: valuesDeleted ?? object.values,
                    members: memberships { Move(old: $0.old, new: nil) }),
                cause: cause)
        }
    }

    /// Fills in the new values, drops edits that came to nothing and sorts the others.
    private mutating func finishEdits() {
        let entity = object.binding.schema
        let values = object.values
        var isNet = true
        var isSorted = true
        for index in edits.indices {
            guard let slot = entity.slot(of: edits[index].property) else { continue }
            edits[index].new = values[slot]
            if edits[index].old == edits[index].new { isNet = false }
            if index > 0, edits[index].property < edits[index - 1].property { isSorted = false }
        }
        if !isNet { edits.removeAll { $0.old == $0.new } }
        if !isSorted { edits.sort { $0.property < $1.property } }
    }

    private func memberships(_ adjust: (Move) -> Move) -> [MembershipEdit] {
        guard !moves.isEmpty else { return [] }
        var edits: [MembershipEdit] = []
        for (property, moves) in moves {
            var added: [Member] = []
            var removed: [Member] = []
            for (member, move) in moves {
                let move = adjust(move)
                guard move.old != move.new else { continue }
                if let order = move.old { removed.append(Member(object: member, order: order)) }
                if let order = move.new { added.append(Member(object: member, order: order)) }
            }
            edits.append(MembershipEdit(property: property, added: added, removed: removed))
        }
        return edits.filter { !$0.isEmpty }.sorted { $0.property < $1.property }
    }
}

/// A change that has been made to an object, holding the object alive.
struct RecordedChange {
    let object: ManagedObject
    var change: Change {
        didSet { isNet = false }
    }
    /// Whether the change had been made at the last save.
    var isSaved: Bool
    /// Whether it is known that each of its edits ends with another value than it starts with.
    private(set) var isNet: Bool

    init(object: ManagedObject, change: Change, isSaved: Bool = false, isNet: Bool = false) {
        self.object = object
        self.change = change
        self.isSaved = isSaved
        self.isNet = isNet
        object.noteJournaled()
    }

    /// The change back.
    var inverse: RecordedChange {
        RecordedChange(object: object, change: change.inverse, isSaved: isSaved)
    }
}

/// The distance between a context's base and its cursor: the net change of every touched object.
///
/// Holding the objects strongly is what keeps changed objects alive until they are saved, rolled
/// back or undone.
struct PendingChanges {
    struct Item {
        /// What is pending for an object, to be asked without touching the change.
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
        fileprivate(set) var takenBack: [Edit] = []
        private(set) var kind: Kind
        /// How many steps of undo that concern the object lie between base and cursor, rewound ones
        /// counting back.
        var depth: Int
        /// Whether something was changed that no step of undo takes back, because it was not recorded
        /// or the steps are forgotten.
        var isBeyondUndo: Bool

        fileprivate init(
            _ object: ManagedObject, _ change: Change, _ move: Move, isEmpty: Bool
        ) {
            self.object = object
            self.change = isEmpty ? nil : change
            kind = isEmpty ? .nothing : Kind(change)
            depth = move.rawValue
            isBeyondUndo = move == .unrecorded
        }

        /// Whether every change since the last save has been undone.
        var isClean: Bool { kind == .nothing && depth == 0 && !isBeyondUndo }

        /// Whether the object was inserted and deleted since the last save: it is no more, but undo
        /// can still bring it back.
        var isAnnihilated: Bool {
            kind == .nothing && object.status.isTemporary
        }
    }

    /// The items of one entity in the order in which their objects were first touched, so that new
    /// objects come out in the order of their numbers, which is that of an entry.
    private struct Group {
        var items: [Item] = []
        var places = GraphTable()

        /// - Returns: The place of the object's item; nil when it is clean.
        mutating func append(
            _ object: ManagedObject, _ change: Change, _ move: Move, isEmpty: Bool
        ) -> Int? {
            guard let place = places.insert(object.graphID, at: items.count) else {
                items.append(Item(object, change, move, isEmpty: isEmpty))
                return items.count - 1
            }
            items[place].follow(with: change, move)
            // Undo may go on with the instance that a record had before it was deleted and came back.
            if items[place].object !== object { items[place].object = object }
            guard !items[place].isClean else {
                remove(object.graphID)
                return nil
            }
            return place
        }

        /// Puts the last item in the place of the removed one.
        mutating func remove(_ id: GraphID) {
            guard let place = places.remove(id), let last = items.popLast(),
                place < items.count
            else { return }
            items[place] = last
            places.set(last.object.graphID, to: place)
        }
    }

    /// How a change came about.
    enum Move: Int {
        /// It was made, or made again, and can be undone.
        case forward = 1
        /// It takes back another one.
        case back = -1
        /// It was made without being recorded for undo.
        case unrecorded = 0
    }

    /// By the number of the entity.
    private var groups: [Group] = []

    /// Whether no object has been touched.
    var isEmpty: Bool { groups.allSatisfy { $0.items.isEmpty } }

    /// What is pending for all objects, entity after entity.
    var items: [Item] {
        var items: [Item] = []
        for group in groups where !group.items.isEmpty {
            // Usually all objects are of one entity, whose array is handed out as it is.
            if items.isEmpty { items = group.items } else { items += group.items }
        }
        return items
    }

    /// What is pending for the objects of some entities.
    func items(of entities: [EntityNumber]) -> some Sequence<Item> {
        let groups = groups
        return entities.lazy.map { Int($0.rawValue) }.filter { $0 < groups.count }
            .flatMap { groups[$0].items }
    }

    /// What is pending for an object.
    subscript(id: GraphID) -> Item? {
        guard let (group, place) = place(of: id) else { return nil }
        return groups[group].items[place]
    }

    private func place(of id: GraphID) -> (group: Int, place: Int)? {
        let group = Int(id.object.entity.rawValue)
        guard group < groups.count, let place = groups[group].places[id] else { return nil }
        return (group, place)
    }

    /// Takes in the changes of an event, in which no object has more than one.
    ///
    /// - Returns: The objects that were inserted since the last save and are no more.
    mutating func append(_ changes: [RecordedChange], _ move: Move) -> [ManagedObject] {
        var annihilated: [ManagedObject] = []
        makeRoom(for: changes)
        let changes = changes.span
        for index in changes.indices {
            let object = changes[index].object
            let group = makeGroup(object.graphID.object.entity)
            let place = groups[group].append(
                object, changes[index].change, move, isEmpty: changes[index].change.isEmpty)
            if let place, groups[group].items[place].isAnnihilated { annihilated.append(object) }
        }
        return annihilated
    }

    /// Takes in a change that has been made, or the inverse of one that has been undone.
    ///
    /// - Returns: What is now pending for the object; nil when it is clean.
    @discardableResult
    mutating func append(
        _ change: Change, of object: ManagedObject, _ move: Move
    ) -> Item.Kind? {
        let group = makeGroup(object.graphID.object.entity)
        let place = groups[group].append(object, change, move, isEmpty: change.isEmpty)
        return place.map { groups[group].items[$0].kind }
    }

    /// Takes in edits that take others back, all of which change something.
    ///
    /// - Returns: What is now pending for the object; nil when it is clean.
    mutating func append(
        _ change: Change, of object: ManagedObject, takingBack edits: [Edit]
    ) -> Item.Kind? {
        let group = makeGroup(object.graphID.object.entity)
        let count = groups[group].items.count
        guard let place = groups[group].append(object, change, .back, isEmpty: false) else {
            return nil
        }
        // Of an item that was there before it is not known what has been done besides.
        if place == count { groups[group].items[place].takenBack = edits }
        return groups[group].items[place].kind
    }

    /// Makes room for changes that come at once and are mostly of one entity.
    mutating func makeRoom(for changes: [RecordedChange]) {
        guard let first = changes.first else { return }
        let group = makeGroup(first.object.graphID.object.entity)
        // Else the room grows with what is put in, for all that comes little by little.
        guard changes.count > groups[group].items.count else { return }
        groups[group].items.reserveCapacity(groups[group].items.count + changes.count)
        groups[group].places.reserve(changes.count)
    }

    private mutating func makeGroup(_ entity: EntityNumber) -> Int {
        let group = Int(entity.rawValue)
        while group >= groups.count { groups.append(Group()) }
        return group
    }

    /// Puts another net change in place, after a merge.
    mutating func replace(_ id: GraphID, with change: Change?) {
        guard let (group, place) = place(of: id) else { return }
        groups[group].items[place].change = change
    }

    /// Makes what is pending for an object follow it to another identifier.
    mutating func move(_ old: GraphID, to id: GraphID) {
        guard let (group, place) = place(of: old) else { return }
        _ = groups[group].places.remove(old)
        groups[group].places.set(id, to: place)
        if let change = groups[group].items[place].change {
            groups[group].items[place].change = Change(
                object: id.object, kind: change.kind, cause: change.cause)
        }
    }

    /// Takes steps of an object out of the count that a merge has dropped.
    ///
    /// - Returns: Whether the object has become clean by that.
    mutating func forget(_ id: GraphID, _ weight: Int) -> Bool {
        guard let (group, place) = place(of: id) else { return false }
        groups[group].items[place].depth -= weight
        guard groups[group].items[place].isClean else { return false }
        groups[group].remove(id)
        return true
    }

    /// Takes steps of an object out of the count that are forgotten while what they have changed
    /// stays: the object is dirty until the next save.
    mutating func settleBeyondUndo(_ id: GraphID, _ weight: Int) {
        guard let (group, place) = place(of: id) else { return }
        groups[group].items[place].depth -= weight
        groups[group].items[place].isBeyondUndo = true
    }

    /// Takes all steps out of the count; what they have changed stays.
    mutating func settleBeyondUndo() {
        for group in groups.indices {
            for place in groups[group].items.indices {
                groups[group].items[place].depth = 0
                groups[group].items[place].isBeyondUndo = true
            }
        }
    }

    /// Forgets an object.
    mutating func remove(_ id: GraphID) {
        guard let (group, _) = place(of: id) else { return }
        groups[group].remove(id)
    }

    /// Forgets everything.
    mutating func removeAll() {
        groups.removeAll()
    }
}

extension [PendingChanges.Item] {
    /// Whether these have come about by taking back exactly some changes, last first, as undo does.
    ///
    /// Compares no values: where it cannot be told from how these have come about, the answer is no.
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

extension PendingChanges.Item {
    /// Takes in one more change of the object.
    fileprivate mutating func follow(with next: Change, _ move: PendingChanges.Move) {
        depth += move.rawValue
        if move == .unrecorded { isBeyondUndo = true }
        guard let earlier = change else {
            change = next.isEmpty ? nil : next
            return
        }
        do {
            change = try earlier.followed(by: next, of: object.binding.schema)
        } catch {
            stop("A change starts where the one before it ended: \(error)")
        }
    }
}
