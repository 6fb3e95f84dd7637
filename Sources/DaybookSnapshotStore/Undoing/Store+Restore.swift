package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

extension Store {
    /// What bringing an object back would do.
    ///
    /// An object that was deleted comes back under its own identifier, with the values and members
    /// it had just before its delete, or as of an entry; with it come the objects that were deleted
    /// because of it, and the references that these deletes cleared. An existing object gets back
    /// the values and members that it had as of an entry; relationships stored at their other end
    /// stay as they are.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - sequence: The entry whose state to restore; nil for the one just before its delete.
    ///   - policy: What to do with what no longer fits: a reference whose object is gone, one that
    ///     now leads elsewhere, a unique value that is taken.
    ///   - author: Who restores it.
    ///   - note: Why; by default what was restored, unless the model requires a note.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - context: The name of the context that restores it.
    /// - Returns: The plan. Its entry is an undo of the delete when it takes back all of it.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchObject`` when there was no such object
    ///   then; with ``StoreError/Code/noSuchEntry``; with ``StoreError/Code/undoBlocked`` for an
    ///   existing object when no entry is given.
    /// - Complexity: O(*d* + *k* log *n*) page reads, *d* the size of the entry that deleted it, *k* the
    ///   number of changes.
    package func restorePlan(
        of object: ObjectID, at sequence: SequenceNumber? = nil, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        context: String? = nil
    ) throws -> UndoPlan {
        let name = schema.name(of: object)
        let header = EntryHeader(author: author, note: note, info: info, context: context)
        if let sequence, sequence > .zero { _ = try entry(sequence) }
        let deletion = try read { try $0.deletion(of: object) }
        let entry = try deletion.map { try self.entry($0) }
        return try reading { transaction in
            var planner = RestorePlanner(parts, policy)
            guard let entry else {
                guard try planner.plan.current(object, in: transaction) != nil else {
                    throw StoreError(
                        .noSuchObject, "There has never been an object '\(name)'.")
                }
                guard let sequence else {
                    throw StoreError.undoBlocked(
                        "'\(name)' has not been deleted. Say as of which entry its values should "
                            + "be restored.")
                }
                try planner.setBack(object, to: sequence, in: transaction)
                return try plan(
                    planner, of: object, at: sequence, nil, header, in: transaction)
            }
            try planner.bringBack(
                object, deletedBy: entry, at: sequence ?? entry.sequence.previous, in: transaction)
            return try plan(
                planner, of: object, at: sequence, entry, header, in: transaction)
        }
    }

    private func plan(
        _ planner: RestorePlanner, of object: ObjectID, at sequence: SequenceNumber?,
        _ deletion: Entry?, _ header: EntryHeader,
        in transaction: borrowing ReadTransaction
    ) throws -> UndoPlan {
        var planner = planner
        try planner.plan.settle(in: transaction)
        let changes = try planner.plan.changes(in: transaction)
        let undoes = deletion.flatMap { entry in
            entry.isTakenBack(by: changes, in: schema) ? entry.sequence...entry.sequence : nil
        }
        let name = schema.name(of: object)
        let asOf = sequence.map { " as of entry \($0)" } ?? ""
        var header = header
        header.kind = undoes == nil ? .save : .undo
        // Where a note is demanded, it is to be somebody's own. Another program may have set the model that
        // demands it.
        let model = try models.inForce(in: transaction).parts.projection.schema.model
        if header.note == nil, !model.requires.contains(.note) {
            header.note = "Restored \(name)\(asOf)"
        }
        header.base = try parts.journal.head(in: transaction)
        header.undoes = undoes
        var request = SaveRequest(header: header, changes: changes)
        request.returnInserted()
        return UndoPlan(
            request: request,
            obstacles: planner.plan.obstacles,
            refusal: planner.refusal(of: name, isEmpty: changes.isEmpty), takenBackBy: nil)
    }
}

/// Works out the changes that restore an object.
private struct RestorePlanner {
    private let parts: StoreParts
    var plan: GraphRepair

    private var projection: Projection { parts.projection }
    private var schema: Schema { parts.projection.schema }

    init(_ parts: StoreParts, _ policy: UndoPolicy) {
        self.parts = parts
        plan = GraphRepair(parts, policy)
    }

    /// The refusal when nothing can be restored; nil otherwise.
    func refusal(of name: String, isEmpty: Bool) -> StoreError? {
        if plan.policy == .refuse, !plan.obstacles.isEmpty {
            return .undoBlocked(
                "'\(name)' cannot be restored as it was, because later entries stand in the way. "
                    + "Undo those first, or choose to keep or to overwrite what they did.",
                plan.obstacles)
        }
        guard isEmpty else { return nil }
        return plan.obstacles.isEmpty
            ? .undoBlocked("'\(name)' is as it was then, so there is nothing to restore.")
            : .undoBlocked("Nothing of '\(name)' can be restored.", plan.obstacles)
    }

    /// Gives an existing object the values and members it had after an entry.
    mutating func setBack(
        _ object: ObjectID, to sequence: SequenceNumber, in transaction: borrowing ReadTransaction
    ) throws {
        plan.want(try state(of: object, at: sequence, in: transaction), for: object)
    }

    /// Brings back an object that an entry deleted, with everything that went with it.
    mutating func bringBack(
        _ object: ObjectID, deletedBy entry: Entry, at sequence: SequenceNumber,
        in transaction: borrowing ReadTransaction
    ) throws {
        let gone = entry.deleted(becauseOf: object)
        for other in gone.sorted() {
            guard other != object else {
                let state = try state(of: object, at: sequence, in: transaction)
                plan.want(state, for: object)
                continue
            }
            // It may have been brought back already.
            guard try plan.current(other, in: transaction) == nil else { continue }
            let then = min(sequence, entry.sequence.previous)
            let state = try projection.ownState(of: other, at: then, in: transaction)
            if let state { plan.want(state, for: other) }
        }
        for change in entry.changes {
            guard case .update(let edits, let members) = change.kind else { continue }
            try refill(edits, of: change.object, leadingTo: gone, in: transaction)
            try refill(members, of: change.object, with: gone, entry, in: transaction)
        }
    }

    private func state(
        of object: ObjectID, at sequence: SequenceNumber,
        in transaction: borrowing ReadTransaction
    ) throws -> ObjectState {
        guard let state = try projection.ownState(of: object, at: sequence, in: transaction) else {
            throw StoreError(
                .noSuchObject,
                "There was no object '\(schema.name(of: object))' as of entry \(sequence). "
                    + "'daybook history' lists the entries that touched it.")
        }
        return state
    }

    // MARK: - References that the delete cleared

    private mutating func refill(
        _ edits: [Edit], of owner: ObjectID, leadingTo gone: Set<ObjectID>,
        in transaction: borrowing ReadTransaction
    ) throws {
        for edit in edits {
            guard let target = edit.old.reference, gone.contains(target),
                let slot = schema.entity(owner.entity)?.property(edit.property)?.slot,
                var state = try plan.state(of: owner, in: transaction)
            else { continue }
            let isElsewhere = !state.values[slot].isNull && state.values[slot] != edit.old
            if isElsewhere, plan.policy != .overwrite {
                let since = try projection.withRow(of: owner, at: .latest, in: transaction) {
                    _, layout in layout.since
                }
                try plan.report(since, "changed", edit.property, owner, in: transaction)
                continue
            }
            state.values[slot] = edit.old
            plan.want(state, for: owner)
        }
    }

    private mutating func refill(
        _ edits: [MembershipEdit], of owner: ObjectID, with gone: Set<ObjectID>,
        _ entry: Entry, in transaction: borrowing ReadTransaction
    ) throws {
        for edit in edits {
            for member in edit.removed where gone.contains(member.object) {
                // A member that only moved is in both lists.
                guard !edit.added.contains(where: { $0.object == member.object }),
                    var state = try plan.state(of: owner, in: transaction)
                else { continue }
                state.members[edit.property, default: [:]][member.object] = member.order
                plan.want(state, for: owner)
            }
        }
    }
}

extension Entry {
    /// An object that the entry deletes and all objects that it deletes because of it.
    fileprivate func deleted(becauseOf object: ObjectID) -> Set<ObjectID> {
        var consequences: [ObjectID: [ObjectID]] = [:]
        for change in changes where change.isDelete {
            if let cause = change.cause { consequences[cause, default: []].append(change.object) }
        }
        var found: Set<ObjectID> = []
        var open = [object]
        while let next = open.popLast() {
            guard found.insert(next).inserted else { continue }
            open += consequences[next] ?? []
        }
        return found
    }

    /// Whether the changes undo the whole entry and nothing else. Derived values follow from the rest, and no plan
    /// has them.
    fileprivate func isTakenBack(by others: [Change], in schema: Schema) -> Bool {
        let own = changes.compactMap { $0.shown(by: schema) }.withoutDerived(in: schema)
        return Set(own.filter { !$0.isEmpty }.map(\.inverse))
            == Set(others.withoutDerived(in: schema))
    }
}
