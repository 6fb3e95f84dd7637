import ObjectModel

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

    /// Notes the value of a property before it is first set.
    mutating func touch(_ property: PropertyNumber, _ old: Value) {
        for edit in edits where edit.property == property { return }
        edits.append(Edit(property: property, old: old, new: .null))
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
            var values = object.values
            for edit in edits {
                if let slot = object.binding.schema.slot(of: edit.property) {
                    values[slot] = edit.old
                }
            }
            return Change(
                object: id,
                kind: .delete(values: values, members: memberships { Move(old: $0.old, new: nil) }),
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
            if edits[index].old == values[slot] { isNet = false }
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
    var change: Change
    /// Whether the change had been made at the last save.
    var isSaved: Bool

    init(object: ManagedObject, change: Change, isSaved: Bool = false) {
        self.object = object
        self.change = change
        self.isSaved = isSaved
        object.isJournaled = true
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
        let object: ManagedObject
        /// The net change, which changes something; nil when the edits cancel each other (A→B→A).
        var change: Change?
        /// How many steps of undo that concern the object lie between base and cursor, rewound ones
        /// counting back.
        var depth: Int
        /// Whether something was changed that no step of undo takes back, because it was not recorded
        /// or the steps are forgotten.
        var isBeyondUndo: Bool

        /// Whether every change since the last save has been undone.
        var isClean: Bool { change == nil && depth == 0 && !isBeyondUndo }

        /// Whether the object was inserted and deleted since the last save: it is no more, but undo
        /// can still bring it back.
        var isAnnihilated: Bool {
            change == nil && object.status.contains(.temporary)
        }
    }

    /// The items of one entity in the order in which their objects were first touched, so that new
    /// objects come out in the order of their numbers, which is that of an entry.
    private struct Group {
        var items: [Item] = []
        var places = GraphTable()

        mutating func append(_ recorded: RecordedChange, _ move: Move) -> Item? {
            let id = recorded.object.graphID
            guard let place = places[id] else {
                let item = Item(
                    object: recorded.object,
                    change: recorded.change.isEmpty ? nil : recorded.change,
                    depth: move.rawValue, isBeyondUndo: move == .unrecorded)
                places.set(id, to: items.count)
                items.append(item)
                return item
            }
            items[place].follow(with: recorded.change, move)
            guard !items[place].isClean else {
                remove(id)
                return nil
            }
            return items[place]
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

    private var groups: [EntityNumber: Group] = [:]

    /// Whether no object has been touched.
    var isEmpty: Bool { groups.isEmpty }

    /// What is pending for all objects.
    var items: [Item] {
        // Usually all objects are of one entity, whose array is handed out as it is.
        if groups.count == 1, let group = groups.values.first { return group.items }
        return groups.values.flatMap(\.items)
    }

    /// What is pending for the objects of some entities.
    func items(of entities: [EntityNumber]) -> some Sequence<Item> {
        let groups = groups
        return entities.lazy.compactMap { groups[$0]?.items }.flatMap { $0 }
    }

    /// What is pending for an object.
    subscript(id: GraphID) -> Item? {
        guard let group = groups[id.object.entity], let place = group.places[id] else {
            return nil
        }
        return group.items[place]
    }

    /// Takes in the changes of an event, in which no object has more than one.
    ///
    /// - Returns: The objects that were inserted since the last save and are no more.
    mutating func append(_ changes: [RecordedChange], _ move: Move) -> [ManagedObject] {
        var annihilated: [ManagedObject] = []
        var start = 0
        while start < changes.count {
            // Objects of one entity usually come one after the other.
            let entity = changes[start].change.object.entity
            var group = groups.removeValue(forKey: entity) ?? Group()
            var end = start
            while end < changes.count, changes[end].change.object.entity == entity {
                if let item = group.append(changes[end], move), item.isAnnihilated {
                    annihilated.append(item.object)
                }
                end += 1
            }
            if !group.items.isEmpty { groups[entity] = group }
            start = end
        }
        return annihilated
    }

    /// Takes in a change that has been made, or the inverse of one that has been undone.
    ///
    /// - Returns: What is now pending for the object; nil when it is clean.
    @discardableResult
    mutating func append(_ recorded: RecordedChange, _ move: Move) -> Item? {
        let entity = recorded.object.graphID.object.entity
        let item = groups[entity, default: Group()].append(recorded, move)
        if item == nil { removeIfEmpty(entity) }
        return item
    }

    /// Puts another net change in place, after a merge.
    mutating func replace(_ id: GraphID, with change: Change?) {
        guard let place = groups[id.object.entity]?.places[id] else { return }
        groups[id.object.entity]?.items[place].change = change
    }

    /// Makes what is pending for an object follow it to another identifier.
    mutating func move(_ old: GraphID, to id: GraphID) {
        let entity = old.object.entity
        guard let place = groups[entity]?.places.remove(old) else { return }
        groups[entity]?.places.set(id, to: place)
        if let change = groups[entity]?.items[place].change {
            groups[entity]?.items[place].change = Change(
                object: id.object, kind: change.kind, cause: change.cause)
        }
    }

    /// Takes steps of an object out of the count that a merge has dropped.
    ///
    /// - Returns: Whether the object has become clean by that.
    mutating func forget(_ id: GraphID, _ weight: Int) -> Bool {
        guard let place = groups[id.object.entity]?.places[id] else { return false }
        groups[id.object.entity]?.items[place].depth -= weight
        guard self[id]?.isClean == true else { return false }
        remove(id)
        return true
    }

    /// Takes steps of an object out of the count that are forgotten while what they have changed
    /// stays: the object is dirty until the next save.
    mutating func settleBeyondUndo(_ id: GraphID, _ weight: Int) {
        guard let place = groups[id.object.entity]?.places[id] else { return }
        groups[id.object.entity]?.items[place].depth -= weight
        groups[id.object.entity]?.items[place].isBeyondUndo = true
    }

    /// Takes all steps out of the count; what they have changed stays.
    mutating func settleBeyondUndo() {
        for entity in groups.keys {
            guard let count = groups[entity]?.items.count else { continue }
            for place in 0..<count {
                groups[entity]?.items[place].depth = 0
                groups[entity]?.items[place].isBeyondUndo = true
            }
        }
    }

    /// Forgets an object.
    mutating func remove(_ id: GraphID) {
        groups[id.object.entity]?.remove(id)
        removeIfEmpty(id.object.entity)
    }

    private mutating func removeIfEmpty(_ entity: EntityNumber) {
        if groups[entity]?.items.isEmpty == true { groups[entity] = nil }
    }

    /// Forgets everything.
    mutating func removeAll() {
        groups.removeAll()
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
            preconditionFailure("A change starts where the one before it ended: \(error)")
        }
    }
}
