import DaybookObjectModel
import DaybookSnapshotStore

/// What a child hands to its parent.
struct ChildSave {
    struct Item {
        let id: GraphID
        /// The net change, transient properties included.
        let change: Change
        /// All values as the child saw them before it changed them; empty for an insert.
        let seen: [Value]
        /// Whether the object is inserted again, as others may know it.
        let isReturned: Bool
        /// What barred a delete in the child when it was made, by relationship.
        let barring: [PropertyNumber: [ObjectID]]
    }

    /// In the order of an entry.
    let items: [Item]
    let policy: MergePolicy
    let granularity: ConflictGranularity
    let attribution: Attribution
    /// What the parent's revision was when the child last agreed with it.
    let revision: UInt64
}

extension ManagedObjectContext {
    // MARK: - The child's side

    /// What is handed to the parent, whose revision was the given one when this context last agreed
    /// with it.
    func childSave(
        of items: [NetChange], _ attribution: Attribution, readAt revision: UInt64
    ) -> ChildSave {
        let changed = items.compactMap { item -> ChildSave.Item? in
            guard let change = item.change, !change.isEmpty else { return nil }
            return ChildSave.Item(
                id: item.object.graphID, change: change,
                seen: change.isInsert ? [] : item.valuesSeen,
                isReturned: item.object.status.isReturned,
                barring: change.isDelete ? registry.barring(deleteOf: item.object) : [:])
        }
        return ChildSave(
            items: changed.sorted { $0.change.precedes($1.change) }, policy: mergePolicy,
            granularity: conflictGranularity, attribution: attribution, revision: revision)
    }

    /// Makes the context agree with what became of its changes in the parent.
    func finishSave(
        of items: [NetChange], isAsSent: Bool, _ merged: [MergedValue]
    ) {
        terms.recordMerged(merged)
        finishPending()
        var sought: Set<GraphID> = []
        for index in items.indices where !items[index].isAnnihilated {
            settleSaved(items, index, wasSaved: true, nil, isAsSent, &sought)
        }
        if !isAsSent { for item in items { forgetLists(of: item) } }
        forgetLists(
            holding: Set(items.filter { $0.change?.isDelete == true }.map(\.object.graphID)))
        terms.countSave()
    }

    /// Makes lists into which a merge has put deleted objects be read again.
    private func forgetLists(holding deleted: Set<GraphID>) {
        guard !deleted.isEmpty else { return }
        for object in registry.objects {
            for case (let property, .many(let list)) in object.relations {
                let isConcerned = list.sorted.contains {
                    deleted.contains(GraphID(store: object.graphID.store, object: $0))
                }
                if isConcerned { object.relations[property] = nil }
            }
        }
    }

    private func forgetLists(of item: NetChange) {
        if let change = item.change { forgetLists(touchedBy: change, item.object.graphID) }
    }

    // MARK: - The parent's side

    /// What a child's change became in the parent.
    private struct Arrival {
        let id: GraphID
        /// A strong reference, because there may be no other until it has changed; nil when it is to be
        /// made.
        let object: ManagedObject?
        let change: Change
        let isReturned: Bool
        let barring: [PropertyNumber: [ObjectID]]
    }

    /// The collisions of what a child would save with what has changed here, whichever side its policy
    /// would let win.
    ///
    /// - Returns: The collisions, and what merges.
    /// - Throws: ``StoreError`` with code `conflict` when the save would be refused for it.
    func meetings(
        of save: ChildSave
    ) throws -> (conflicts: [MergeConflict], merged: [MergedValue]) {
        processPendingChanges()
        let arrival = try merge(save)
        return (arrival.conflicts.named(in: coordinator.model.schema), arrival.merged)
    }

    /// Takes in what a child saves, as changes of this context and one step of undo.
    ///
    /// The changes are merged, property by property, under the child's policy with what the
    /// objects have become here since the child read them.
    ///
    /// - Returns: Whether nothing has changed, here or further down, since the child last agreed with
    ///   it, so that the result is what the child has; and what has merged.
    /// - Throws: ``StoreError`` with code `conflict`; nothing has changed then.
    func accept(
        _ save: ChildSave, from child: ManagedObjectContext
    ) throws -> (isAsSent: Bool, merged: [MergedValue]) {
        processPendingChanges()
        let isAsRead = try save.revision == news.revision && !parentStore.hasMoved()
        let (arrivals, conflicts, merged) = try merge(save)
        let deleted = Set(arrivals.lazy.filter { $0.change.isDelete }.map(\.id))
        let holders = isAsRead ? nil : holders(of: deleted)
        for arrival in arrivals { take(arrival, heldBy: holders) }
        let made = endEvent()
        for arrival in arrivals where arrival.change.isInsert {
            // Where the object was deleted here, it has come back rather than been made.
            if let item = journal.net(of: arrival.id) { settle(item.object, item.kind) }
        }
        terms.credit(save.attribution, for: arrivals.map(\.id))
        news.tellFollowers(
            made.map { GraphChange(id: $0.object.graphID, change: $0.change) }, except: child)
        return (isAsRead && conflicts.isEmpty && merged.isEmpty, merged)
    }

    /// Merges what a child saves with what is here. No object changes yet, but those concerned are read,
    /// and those that have come back are faults again.
    ///
    /// - Throws: ``StoreError`` with code `conflict` where the child's policy is to refuse.
    private func merge(
        _ save: ChildSave
    ) throws -> (arrivals: [Arrival], conflicts: [MergeConflict], merged: [MergedValue]) {
        var conflicts: [MergeConflict] = []
        var merged: [MergedValue] = []
        var arrivals: [Arrival] = []
        var references = ArrivingReferences()
        var outcomes = try save.items.map { try merge($0, of: save) }
        for (item, outcome) in zip(save.items, outcomes) {
            references.record(sent: item.change, of: item.id)
            if let change = outcome.change {
                references.record(
                    merged: change, of: item.id, binding(item.id.object.entity).schema)
            }
        }
        let returning = try returnMembers(of: save, &outcomes, references)
        for (item, index) in zip(save.items, outcomes.indices) {
            try settleReferences(of: &outcomes[index], item.id, save.policy, &references)
            let outcome = outcomes[index]
            conflicts += outcome.conflicts.inStore(coordinator.identifier(ofStore: item.id.store))
            merged += outcome.merged
            guard let change = outcome.change else { continue }
            arrivals.append(
                Arrival(
                    id: item.id, object: outcome.object, change: change,
                    isReturned: item.isReturned || change.isInsert && !item.change.isInsert,
                    barring: item.barring))
        }
        for (id, change) in returning {
            let object = try currentObject(id)
            arrivals.append(
                Arrival(id: id, object: object, change: change, isReturned: false, barring: [:]))
        }
        if !conflicts.isEmpty, save.policy == .error {
            throw StoreError.conflict(conflicts, in: coordinator.model.schema)
        }
        return (arrivals, conflicts, merged)
    }

    /// What the merge has left of a child's change.
    struct ArrivalOutcome {
        let object: ManagedObject?
        var change: Change?
        var conflicts: [MergeConflict]
        let merged: [MergedValue]
    }

    private func merge(
        _ item: ChildSave.Item, of save: ChildSave
    ) throws -> ArrivalOutcome {
        let schema = binding(item.id.object.entity).schema
        let object = try currentObject(item.id)
        let current = object.map(state)
        var change = item.change
        var isMoved = false
        if let current {
            change.startTransients(from: current.values, of: schema)
            // No other transient value is in conflict with ours.
            let count = schema.storedSlotCount
            isMoved =
                !change.isInsert
                && schema.withoutDerived(Array(current.values.prefix(count)))
                    != schema.withoutDerived(Array(item.seen.prefix(count)))
        }
        let outcome = ThreeWayMerge(of: schema, policy: save.policy).merge(
            ours: change, seen: item.seen, current: current,
            movement: save.granularity == .row && isMoved ? .row : .untold)
        return ArrivalOutcome(
            object: object, change: outcome.change, conflicts: outcome.conflicts,
            merged: outcome.merged)
    }

    /// Drops from a merged change what leads to objects that are gone or that others hold.
    private func settleReferences(
        of outcome: inout ArrivalOutcome, _ id: GraphID, _ policy: MergePolicy,
        _ references: inout ArrivingReferences
    ) throws {
        guard var kept = outcome.change, !kept.isDelete else { return }
        let schema = binding(id.object.entity).schema
        var gone: Set<ObjectID> = []
        var held: [PropertyNumber: Set<ObjectID>] = [:]
        var competing: [MergeConflict] = []
        for reference in kept.references(of: schema) where reference.begins {
            let property = reference.property
            let standing = try property.standing(
                of: reference.destination, from: id.object,
                exists: { object in
                    let target = GraphID(store: id.store, object: object)
                    return try references.isThere(target) { try exists(target) }
                },
                holders: { try holders(of: $0, over: property, in: id.store, references) })
            switch standing {
            case .allowed: continue
            case .gone: gone.insert(reference.destination)
            case .held:
                competing.append(
                    MergeConflict(
                        kind: .reference, object: id.object, property: property.number,
                        ours: .object(reference.destination)))
                if policy != .mergeByPropertyObjectTrump, policy != .overwrite {
                    held[property.number, default: []].insert(reference.destination)
                }
            }
        }
        outcome.conflicts += kept.dropReferences(to: gone, of: schema) + competing
        _ = kept.leaveOut(
            of: schema,
            where: { held[$0.property.number]?.contains($0.destination) == true },
            // Taking the reference's former destination makes its owner let go.
            unlessTaken: { _, _ in false })
        outcome.change = kept.isEmpty ? nil : kept
    }

    /// An object as it is here, read; nil when there is no such object.
    func currentObject(_ id: GraphID) throws -> ManagedObject? {
        lookAgain(for: id)
        if registry[id] == nil, try underlyingRow(of: id) == nil { return nil }
        let object = object(id)
        if object.isFault {
            do {
                try realize(object)
            } catch let error as StoreError
                where error.code == .objectDeleted || error.code == .noSuchObject
            {
                return nil
            }
        }
        return object.isDeleted ? nil : object
    }

    private func exists(_ id: GraphID) throws -> Bool {
        lookAgain(for: id)
        if let object = registry[id], !object.isFault { return !object.isDeleted }
        return try underlyingRow(of: id) != nil
    }

    private func state(of object: ManagedObject) -> ObjectState {
        var members: [PropertyNumber: [ObjectID: Double]] = [:]
        for property in object.binding.schema.storedToMany {
            let orders = object.memberList(of: property, self).orders
            if !orders.isEmpty { members[property.number] = orders }
        }
        return ObjectState(values: object.values, members: members)
    }

    /// Makes a change that comes from a child, as if it had been made here.
    ///
    /// - Parameters:
    ///   - arrival: The change.
    ///   - holders: Who shows here that they hold the objects that are deleted; nil when nothing has changed below
    ///     since the child last agreed with it, so that it is known who does.
    private func take(_ arrival: Arrival, heldBy holders: [GraphID: Holders]?) {
        switch arrival.change.kind {
        case .insert(let values, let members):
            takeMembers(members, of: takeInsert(arrival, values))
        case .update(let edits, let members):
            guard let object = arrival.object else { return }
            takeEdits(edits, of: object)
            takeMembers(members, of: object)
        case .delete:
            guard let object = arrival.object else { return }
            var known: Holders = [:]
            if let holders {
                known = forgetHolders(of: object)
                known.merge(holders[arrival.id] ?? [:]) { $0 + $1 }
            }
            delete(object, cause: arrival.change.cause, heldBy: known)
            registry.rememberBarring(arrival.barring, of: object)
        }
    }

    private func takeInsert(_ arrival: Arrival, _ values: [Value]) -> ManagedObject {
        let id = arrival.id
        let binding = binding(id.object.entity)
        // An object made and deleted here is held by the undo steps, and is still the same one.
        let object =
            registry[id] ?? journal.net(of: id)?.object
            ?? binding.entity.type.init(FaultSeed(binding: binding, graphID: id))
        object.values = values
        object.relations = [:]
        if journal.change(of: id)?.isDelete == true {
            object.undergo(.broughtBack)
        } else {
            object.undergo(.arrived(isReturned: arrival.isReturned))
            registry.register(object)
        }
        recordInsert(of: object)
        for property in binding.schema.referenceSlots {
            let new = property.slot.flatMap { values[$0].reference }
            takeFromOthers(new, property, for: object)
            followReference(of: object, property, from: nil, to: new)
        }
        return object
    }

    private func takeEdits(_ edits: [Edit], of object: ManagedObject) {
        for edit in edits {
            guard let property = object.binding.schema.property(edit.property),
                let slot = property.slot
            else { continue }
            // The new owner of what was referred to may have taken it already.
            guard property.end == nil || object.values[slot] != edit.new else { continue }
            recordEdit(of: object, slot: slot)
            object.values[slot] = edit.new
            guard property.end != nil else { continue }
            takeFromOthers(
                edit.new.reference, property, for: object, insteadOf: edit.old.reference)
            object.relations[property.number] = nil
            followReference(
                of: object, property, from: edit.old.reference, to: edit.new.reference)
        }
    }

    private func takeMembers(_ edits: [MembershipEdit], of object: ManagedObject) {
        for edit in edits {
            guard let property = object.binding.schema.property(edit.property) else { continue }
            for move in edit.moves {
                takeMember(move.object, of: object, property, from: move.old, to: move.new)
            }
        }
    }

    private func takeMember(
        _ member: ObjectID, of object: ManagedObject, _ property: SchemaProperty,
        from old: Double?, to new: Double?
    ) {
        if old == nil { takeFromOthers(member, property, for: object) }
        // The new owner of a member may have taken it already.
        guard new != nil || object.memberList(of: property, self).orders[member] != nil else {
            return
        }
        recordMembership(of: object, property, member, from: old, to: new)
        followMembership(of: object, property, member, from: old, to: new)
    }
}

extension Change {
    /// Makes edits of transient properties start from the object's current values: no other transient
    /// value is in conflict with ours.
    fileprivate mutating func startTransients(from values: [Value], of entity: SchemaEntity) {
        switch kind {
        case .insert: return
        case .update(let edits, let members):
            let moved = edits.compactMap { edit -> Edit? in
                guard let property = entity.property(edit.property), let slot = property.slot,
                    slot >= entity.storedSlotCount
                else { return edit }
                return edit.starting(from: values[slot], of: property, unmergeable: .kept)
            }
            kind = .update(edits: moved, members: members)
        case .delete(let seen, let members):
            let count = entity.storedSlotCount
            kind = .delete(
                values: Array(seen.prefix(count)) + values.dropFirst(count), members: members)
        }
    }
}
