internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// Works out the changes that undo a run of entries.
struct UndoPlanner {
    private let range: ClosedRange<SequenceNumber>
    private let schema: Schema
    private let projection: Projection
    private var later: LaterChanges
    var plan: GraphRepair
    /// The merging properties whose edits by the run have all been taken back by later entries,
    /// which their values do not show.
    private(set) var takenBack: [ObjectID: Set<PropertyNumber>] = [:]
    /// Whether to report only what later entries did, because the changes are not those of the run.
    private let onlyReports: Bool

    init(
        _ parts: StoreParts, _ range: ClosedRange<SequenceNumber>, _ policy: UndoPolicy,
        ignoring ignored: SequenceRanges
    ) {
        self.range = range
        schema = parts.projection.schema
        projection = parts.projection
        later = LaterChanges(parts, after: range, ignoring: ignored)
        plan = GraphRepair(parts, policy, ignoring: ignored)
        onlyReports = false
    }

    /// Prepares to report what was done after an entry, whether or not it has been taken back
    /// since.
    init(_ parts: StoreParts, since base: SequenceNumber, except own: SequenceRanges) {
        range = base...base
        schema = parts.projection.schema
        projection = parts.projection
        later = LaterChanges(parts, after: range, ignoring: own, cancelsUndone: false)
        plan = GraphRepair(parts, .refuse, ignoring: own)
        onlyReports = true
    }

    /// Reports what was done to the state that changes start from.
    mutating func reportTouches(
        of changes: [Change], in transaction: borrowing ReadTransaction
    ) throws {
        for change in changes {
            switch change.kind {
            case .insert, .delete:
                for sequence in try later.ofObject(change.object, in: transaction) {
                    try report(sequence, "changed", nil, change.object, in: transaction)
                }
            case .update(let edits, let members):
                try takeBack(edits, members, of: change.object, in: transaction)
            }
        }
    }

    /// The last entry that took back something of the run.
    var takenBackBy: SequenceNumber? { later.takenBackBy }

    /// The refusal when nothing can be undone; nil otherwise.
    func refusal(isEmpty: Bool, isNetEmpty: Bool) -> StoreError? {
        let name = range.sentenceStart
        if plan.policy == .refuse, !plan.obstacles.isEmpty {
            return .undoBlocked(
                "\(name) cannot be undone, because later entries changed or use what "
                    + "\(range.isSingle ? "it" : "they") made. Undo those as well, or choose to keep or "
                    + "to overwrite what they did.", plan.obstacles)
        }
        guard isEmpty else { return nil }
        if isNetEmpty {
            return .undoBlocked(
                range.isSingle
                    ? "\(name) changed nothing, so there is nothing to undo."
                    : "\(name) cancel each other out: together they changed nothing, so there is "
                        + "nothing to undo.")
        }
        if let undo = later.takenBackBy, plan.obstacles.isEmpty {
            return .undoBlocked(
                "\(name) \(range.isSingle ? "has" : "have") been undone already, by entry \(undo). "
                    + "Undo that entry to redo \(range.isSingle ? "it" : "them").")
        }
        return .undoBlocked(
            "Nothing of \(range.entryName) can be undone: later entries touched all of it.",
            plan.obstacles)
    }

    mutating func takeBack(
        _ changes: [Change], in transaction: borrowing ReadTransaction
    ) throws {
        for change in changes {
            switch change.kind {
            case .insert: try takeBackInsert(of: change.object, in: transaction)
            case .delete: try takeBackDelete(of: change.object, in: transaction)
            case .update(let edits, let members):
                try takeBack(edits, members, of: change.object, in: transaction)
            }
        }
        try plan.settle(in: transaction)
    }

    private mutating func takeBackInsert(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        let touches = try later.ofObject(object, in: transaction)
        guard touches.isEmpty || plan.policy == .overwrite else {
            for sequence in touches {
                try plan.report(sequence, "changed", nil, object, in: transaction)
            }
            return
        }
        plan.want(nil, for: object)
    }

    private mutating func takeBackDelete(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        let touches = try later.ofObject(object, in: transaction)
        guard touches.isEmpty || plan.policy == .overwrite else {
            for sequence in touches {
                try plan.report(sequence, "brought back", nil, object, in: transaction)
            }
            return
        }
        let before = range.lowerBound.previous
        plan.want(
            try projection.ownState(of: object, at: before, in: transaction), for: object)
    }

    private mutating func takeBack(
        _ edits: [Edit], _ members: [MembershipEdit], of object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws {
        guard var state = try plan.current(object, in: transaction) else {
            return try reportDeletion(of: object, in: transaction)
        }
        for edit in edits {
            let property = schema.entity(object.entity)?.property(edit.property)
            guard let property, let slot = property.slot, slot < state.values.count else {
                continue
            }
            if property.merge != nil,
                try takeBack(edit, of: property, slot, of: object, &state, in: transaction)
            {
                continue
            }
            let touches = try later.ofValue(slot, of: object, in: transaction)
            if touches.isEmpty || plan.policy == .overwrite { state.values[slot] = edit.old }
            guard plan.policy != .overwrite else { continue }
            for sequence in touches {
                try report(sequence, "changed", edit.property, object, in: transaction)
            }
        }
        for edit in members {
            for move in edit.moves {
                let touches = try later.ofMember(
                    move.object, edit.property, of: object, in: transaction)
                if touches.isEmpty || plan.policy == .overwrite {
                    state.members[edit.property, default: [:]][move.object] = move.old
                }
                guard plan.policy != .overwrite else { continue }
                for sequence in touches {
                    try report(sequence, "changed", edit.property, object, in: transaction)
                }
            }
            if state.members[edit.property]?.isEmpty == true { state.members[edit.property] = nil }
        }
        plan.want(state, for: object)
    }

    /// Takes the difference that an edit made out of the value that later entries have given the
    /// property.
    ///
    /// - Returns: Whether it could be done; otherwise later entries are in the way as for any other
    ///   attribute.
    private mutating func takeBack(
        _ edit: Edit, of property: SchemaProperty, _ slot: Int, of object: ObjectID,
        _ state: inout ObjectState, in transaction: borrowing ReadTransaction
    ) throws -> Bool {
        // An edit that starts from another value is merged when it is made.
        if onlyReports { return true }
        let standing = try later.standingEdits(edit, slot, of: object, in: transaction)
        var value = state.values[slot]
        for edit in standing {
            guard let back = property.merged(base: edit.new, theirs: value, ours: edit.old) else {
                return false
            }
            value = back
        }
        if standing.isEmpty { takenBack[object, default: []].insert(property.number) }
        state.values[slot] = value
        return true
    }

    /// Reports that an object to be changed has been deleted, unless that has been undone.
    private mutating func reportDeletion(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        let touches = try later.ofObject(object, in: transaction)
        guard !touches.isEmpty,
            let deletion = try projection.deletion(of: object, at: .latest, in: transaction)
        else { return }
        try plan.report(deletion, "deleted", nil, object, in: transaction)
    }

    /// Reports what a later entry did to a property, or to its object as a whole.
    private mutating func report(
        _ sequence: SequenceNumber, _ verb: String, _ property: PropertyNumber?,
        _ object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        func isThere(_ sequence: SequenceNumber) throws -> Bool {
            try projection.withRow(of: object, at: sequence, in: transaction) { _, _ in true }
                ?? false
        }
        let (before, after) = (try isThere(sequence.previous), try isThere(sequence))
        guard before, after else {
            let verb = after ? "brought back" : "deleted"
            return try plan.report(sequence, verb, nil, object, in: transaction)
        }
        try plan.report(sequence, verb, property, object, in: transaction)
    }
}
