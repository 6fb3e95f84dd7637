import DaybookObjectModel
import DaybookSnapshotStore

/// Gives objects that a child brings back in its parent what their delete has taken from them: their members, and the
/// references of others to them.
///
/// - What the delete has ended comes back, and nothing that had been ended before.
/// - What has become of it since stays: a reference that leads elsewhere by now, an object that is gone, and one that
///   only one object may hold and another one holds.
/// - What the child itself does to a member or a reference counts.
///
/// Where a store brings an object back, `MemberReturn` does the same to its tables.
struct ReturningMembers {
    private struct Claim: Hashable {
        let property: PropertyNumber
        let target: GraphID
    }

    private let context: ManagedObjectContext
    /// What the child has sent, by object.
    private let sent: [GraphID: Change]
    /// What comes back.
    private let returned: Set<GraphID>
    /// What only one object may hold and the save gives to one.
    private var claims: Set<Claim> = []
    /// The references to what comes back, by the object that has them.
    private(set) var references: [GraphID: Change] = [:]

    /// - Parameters:
    ///   - save: What the child has sent.
    ///   - merged: What is left of it, by object.
    ///   - returned: The objects of these that come back.
    ///   - context: The parent.
    init(
        _ save: ChildSave, mergedTo merged: [GraphID: Change], returned: Set<GraphID>,
        in context: ManagedObjectContext
    ) {
        self.context = context
        self.returned = returned
        sent = Dictionary(save.items.map { ($0.id, $0.change) }) { first, _ in first }
        for (id, change) in merged {
            change.forEachReference(of: context.binding(id.object.entity).schema) { reference in
                guard reference.new != nil, reference.property.isExclusive else { return }
                claims.insert(
                    Claim(
                        property: reference.property.number,
                        target: GraphID(store: id.store, object: reference.destination)))
            }
        }
    }

    /// Completes the insert by which an object comes back, and collects the references of others to it.
    ///
    /// - Parameters:
    ///   - change: The insert, as the merge has left it.
    ///   - id: The object.
    ///   - arriving: What the save makes let go.
    /// - Returns: The insert with its members.
    /// - Throws: ``StoreError`` when the entry that deleted the object, or what it took, cannot be read.
    mutating func complete(
        _ change: Change, of id: GraphID, _ arriving: ArrivingReferences
    ) throws -> Change {
        guard case .insert(let values, var members) = change.kind else { return change }
        for taken in try context.changesOfDelete(of: id) {
            switch taken.kind {
            case .delete(_, let lost) where taken.object == id.object:
                for edit in lost { try add(edit, to: &members, of: id, arriving) }
            case .update(let edits, let moves) where taken.object != id.object:
                let owner = GraphID(store: id.store, object: taken.object)
                for edit in edits where edit.old.reference == id.object && edit.new.isNull {
                    try returnReference(edit.property, of: owner, to: id, arriving)
                }
                for move in moves {
                    guard let order = move.order(fromWhichLeaves: id.object) else { continue }
                    try returnMember(id, at: order, to: move.property, of: owner, arriving)
                }
            default: continue
            }
        }
        var completed = change
        completed.kind = .insert(
            values: values, members: members.sorted { $0.property < $1.property })
        return completed
    }

    // MARK: - Its members

    private func add(
        _ lost: MembershipEdit, to members: inout [MembershipEdit], of id: GraphID,
        _ arriving: ArrivingReferences
    ) throws {
        let schema = context.binding(id.object.entity).schema
        guard let property = schema.property(lost.property), property.isStoredToMany else { return }
        let index = members.firstIndex { $0.property == lost.property }
        let own = index.map { members[$0].added } ?? []
        let named = sent[id]?.members.first { $0.property == lost.property }
        var returning: [Member] = []
        for member in lost.removed {
            let target = GraphID(store: id.store, object: member.object)
            guard named?.names(member.object) != true,
                !own.contains(where: { $0.object == member.object }), try willBeThere(target),
                try mayHold(target, property, id, arriving)
            else { continue }
            returning.append(member)
        }
        guard !returning.isEmpty else { return }
        let edit = MembershipEdit(property: lost.property, added: own + returning)
        if let index { members[index] = edit } else { members.append(edit) }
    }

    /// Whether there will be an object when the child's save has been taken in.
    private func willBeThere(_ id: GraphID) throws -> Bool {
        if returned.contains(id) { return true }
        if let change = sent[id], !change.isUpdate { return change.isInsert }
        return try context.currentObject(id) != nil
    }

    /// Whether nobody else holds what only one object may hold.
    private func mayHold(
        _ target: GraphID, _ property: SchemaProperty, _ owner: GraphID,
        _ arriving: ArrivingReferences
    ) throws -> Bool {
        guard property.isExclusive else { return true }
        guard !claims.contains(Claim(property: property.number, target: target)) else {
            return false
        }
        return try context.holders(of: target.object, over: property, in: target.store, arriving)
            .allSatisfy { $0 == owner.object }
    }

    // MARK: - What led to it

    private mutating func returnReference(
        _ number: PropertyNumber, of owner: GraphID, to id: GraphID,
        _ arriving: ArrivingReferences
    ) throws {
        guard let (object, property) = try leader(owner, number, to: id, arriving),
            let slot = property.slot, object.value(inSlot: slot).isNull,
            references[owner]?.names(id.object, over: number) != true
        else { return }
        let edit = Edit(property: number, old: .null, new: .object(id.object))
        try join(
            Change(object: owner.object, kind: .update(edits: [edit], members: [])), of: owner,
            object.binding.schema)
    }

    private mutating func returnMember(
        _ id: GraphID, at order: Double, to number: PropertyNumber, of owner: GraphID,
        _ arriving: ArrivingReferences
    ) throws {
        guard let (object, property) = try leader(owner, number, to: id, arriving),
            property.isStoredToMany,
            object.memberList(of: property, context).orders[id.object] == nil,
            references[owner]?.names(id.object, over: number) != true
        else { return }
        let edit = MembershipEdit(
            property: number, added: [Member(object: id.object, order: order)])
        try join(
            Change(object: owner.object, kind: .update(edits: [], members: [edit])), of: owner,
            object.binding.schema)
    }

    /// An object that may lead to what comes back, and the relationship; nil where it is gone, or the child has another
    /// idea of it.
    private func leader(
        _ owner: GraphID, _ number: PropertyNumber, to id: GraphID, _ arriving: ArrivingReferences
    ) throws -> (ManagedObject, SchemaProperty)? {
        if let change = sent[owner], !change.isUpdate || change.names(id.object, over: number) {
            return nil
        }
        guard let object = try context.currentObject(owner),
            let property = object.binding.schema.property(number),
            try mayHold(id, property, owner, arriving)
        else { return nil }
        return (object, property)
    }

    private mutating func join(_ change: Change, of owner: GraphID, _ entity: SchemaEntity) throws {
        references[owner] =
            try references[owner].map { try $0.followed(by: change, of: entity) ?? $0 } ?? change
    }
}

extension ManagedObjectContext {
    /// What happened to objects when one was deleted, which is gone: here, by the step that did it, or else below, by
    /// the entry.
    ///
    /// - Throws: ``StoreError`` when the entry cannot be read.
    func changesOfDelete(of id: GraphID) throws -> [Change] {
        guard let item = journal.net(of: id), item.kind == .delete || item.isAnnihilated else {
            return try parentStore.changesOfDelete(of: id)
        }
        if let step = journal.steps(thatDelete: [id])[id] {
            return journal.list.changes(ofStep: step).filter { $0.object.graphID.store == id.store }
                .map(\.change)
        }
        // Without steps it is known of each object what has become of it since the last save, and whether by a rule.
        return journal.net.filter { $0.object.graphID.store == id.store }.compactMap(\.change)
            .filter { $0.object == id.object || $0.cause != nil }
    }

    /// Completes the inserts by which objects come back.
    ///
    /// - Parameters:
    ///   - save: What the child has sent.
    ///   - outcomes: What is left of each item of it.
    ///   - arriving: What the save makes let go.
    /// - Returns: The changes by which other objects lead to them again; those that the save changes have them in their
    ///   outcomes.
    /// - Throws: As ``ReturningMembers/complete(_:of:_:)``.
    func returnMembers(
        of save: ChildSave, _ outcomes: inout [ArrivalOutcome], _ arriving: ArrivingReferences
    ) throws -> [(id: GraphID, change: Change)] {
        var merged: [GraphID: Change] = [:]
        var indices: [GraphID: Int] = [:]
        var returned: Set<GraphID> = []
        for (index, item) in save.items.enumerated() {
            indices[item.id] = index
            guard let change = outcomes[index].change else { continue }
            merged[item.id] = change
            if change.isInsert, !item.change.isInsert { returned.insert(item.id) }
        }
        guard !returned.isEmpty else { return [] }
        var members = ReturningMembers(
            save, mergedTo: merged, returned: returned, in: self)
        for (index, item) in save.items.enumerated() where returned.contains(item.id) {
            guard let change = outcomes[index].change else { continue }
            outcomes[index].change = try members.complete(change, of: item.id, arriving)
        }
        var others: [(id: GraphID, change: Change)] = []
        for (id, change) in members.references {
            guard let index = indices[id] else {
                others.append((id, change))
                continue
            }
            let schema = binding(id.object.entity).schema
            outcomes[index].change =
                try outcomes[index].change?.followed(by: change, of: schema) ?? change
        }
        return others.sorted { $0.change.precedes($1.change) }
    }
}

extension Change {
    fileprivate var isUpdate: Bool { !isInsert && !isDelete }

    /// Whether an update sets a reference, or moves a member.
    fileprivate func names(_ member: ObjectID, over property: PropertyNumber) -> Bool {
        guard case .update(let edits, let members) = kind else { return false }
        return edits.contains { $0.property == property }
            || members.contains { $0.property == property && $0.names(member) }
    }
}

extension MembershipEdit {
    /// Whether an object joins, leaves or moves.
    fileprivate func names(_ object: ObjectID) -> Bool {
        (added + removed).contains { $0.object == object }
    }

    /// Where a member was that leaves; nil for one that stays.
    fileprivate func order(fromWhichLeaves object: ObjectID) -> Double? {
        guard !added.contains(where: { $0.object == object }) else { return nil }
        return removed.first { $0.object == object }?.order
    }
}
