package import JournalLog
internal import LMDB
package import ObjectModel

extension Store {
    /// What taking a run of entries back would do: the state in which they never happened, for what
    /// they touched.
    ///
    /// Nothing is saved. Committing the plan's draft appends an entry; undoing that one is a redo.
    ///
    /// - Parameters:
    ///   - range: The entries, one or several in a row.
    ///   - policy: What becomes of what later entries have touched.
    ///   - author: Who undoes it.
    ///   - note: Why.
    ///   - context: The name of the context that undoes it.
    ///   - ignored: Later entries that are about to be taken back, and so stand in nobody's way. The
    ///     draft is then good for nothing but to see whether it is legal.
    /// - Returns: The plan. It is refused when something stands in the way under
    ///   ``UndoPolicy/refuse``, and when nothing is left to take back.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with
    ///   ``StoreError/Code/undoBlocked`` for the entry that sets the model.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes and of later versions of
    ///   their objects.
    package func undoPlan(
        of range: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, context: String? = nil,
        ignoring ignored: Set<SequenceNumber> = []
    ) throws -> UndoPlan {
        let net = try netChanges(of: range)
        return try reading { transaction in
            var planner = UndoPlanner(parts, range, policy, ignoring: ignored)
            try planner.takeBack(net, in: transaction)
            let changes = try planner.plan.changes(in: transaction)
            let header = EntryHeader(
                kind: .undo, author: author, note: note, context: context,
                base: try parts.journal.head(in: transaction), undoes: range)
            return UndoPlan(
                draft: Draft(header: header, changes: changes),
                obstacles: planner.plan.obstacles,
                refusal: planner.refusal(isEmpty: changes.isEmpty, isNetEmpty: net.isEmpty),
                takenBackBy: planner.takenBackBy)
        }
    }

    /// The draft that takes a run of entries back; see
    /// ``undoPlan(of:policy:author:note:context:ignoring:)``.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` and one line for each property,
    ///   object or reference that a later entry has touched; with ``StoreError/Code/noSuchEntry``.
    package func undoDraft(
        of range: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, context: String? = nil
    ) throws -> Draft {
        try undoPlan(of: range, policy: policy, author: author, note: note, context: context)
            .permitted()
    }

    /// The draft that takes one entry back.
    package func undoDraft(
        of sequence: SequenceNumber, policy: UndoPolicy = .refuse, author: String? = nil,
        note: String? = nil, context: String? = nil
    ) throws -> Draft {
        try undoDraft(
            of: sequence...sequence, policy: policy, author: author, note: note, context: context)
    }

    /// What making an undone run of entries again would do: the undo of what undid it.
    ///
    /// - Parameters:
    ///   - range: The entries, as they were undone together.
    ///   - policy: What becomes of what later entries have touched.
    ///   - author: Who makes it again.
    ///   - note: Why.
    ///   - context: The name of the context that makes it again.
    /// - Returns: The plan.
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` when the entries are not undone,
    ///   or not by one entry; with ``StoreError/Code/noSuchEntry``.
    /// - Complexity: As ``undoPlan(of:policy:author:note:context:ignoring:)``, and O(*e*) page reads,
    ///   *e* the size of all entries after the run.
    package func redoPlan(
        of range: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, context: String? = nil
    ) throws -> UndoPlan {
        guard let undo = try standingUndo(of: range) else {
            let wider = try standingUndos(after: range.upperBound).first {
                $0.undoes.overlaps(range)
            }
            if let wider {
                throw StoreError.undoBlocked(
                    "\(range.sentenceStart) cannot be made again alone: entry \(wider.sequence) has "
                        + "undone \(wider.undoes.entryName) together. Make all of these again.")
            }
            let verb = range.isSingle ? "is" : "are"
            let it = range.isSingle ? "it" : "they"
            throw StoreError.undoBlocked(
                "\(range.sentenceStart) \(verb) not undone, so \(it) cannot be made again.")
        }
        return try undoPlan(
            of: undo...undo, policy: policy, author: author, note: note, context: context)
    }

    /// What a run of entries has changed together, in the order of an entry and without causes.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with
    ///   ``StoreError/Code/undoBlocked`` when one of them sets the model.
    /// - Complexity: O(*k*) page reads, *k* the number of changes.
    package func netChanges(of range: ClosedRange<SequenceNumber>) throws -> [Change] {
        _ = try entry(range.upperBound)
        _ = try entry(range.lowerBound)
        var sum = ChangeSet()
        try entries(from: range.lowerBound, through: range.upperBound) { entry in
            guard entry.header.kind != .model else {
                throw StoreError.undoBlocked(
                    "Entry \(entry.sequence) sets the model and cannot be undone.")
            }
            for var change in entry.changes {
                guard let entity = schema.entity(change.object.entity) else { continue }
                change.cause = nil
                try sum.append(change, of: entity)
            }
            return .proceed
        }
        return sum.ordered
    }

    /// What has been done after an entry to what some changes start from, even if it has been taken
    /// back since.
    ///
    /// - Parameters:
    ///   - changes: Inserts and deletes, for which the whole object counts, and updates, for which
    ///     their properties and members count.
    ///   - base: The entry.
    ///   - own: Later entries that do not count.
    /// - Returns: One obstacle for each entry and each property or object; none when the changes
    ///   start from what stood at the entry.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when something cannot be read.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes and of later versions of
    ///   their objects.
    package func touches(
        of changes: [Change], after base: SequenceNumber, except own: Set<SequenceNumber> = []
    ) throws -> [UndoObstacle] {
        try reading { transaction in
            var planner = UndoPlanner(parts, since: base, except: own)
            try planner.noteTouches(of: changes, in: transaction)
            return planner.plan.obstacles
        }
    }

    /// The entry that has undone a run of entries and has not been undone itself; nil when there is
    /// none.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``.
    /// - Complexity: O(*e*) page reads, *e* the size of all entries after the run.
    package func standingUndo(
        of range: ClosedRange<SequenceNumber>
    ) throws -> SequenceNumber? {
        _ = try entry(range.upperBound)
        return try standingUndos(after: range.upperBound).first { $0.undoes == range }?.sequence
    }

    /// The undos after an entry that have not been undone themselves, newest first.
    private func standingUndos(
        after sequence: SequenceNumber
    ) throws -> [(sequence: SequenceNumber, undoes: ClosedRange<SequenceNumber>)] {
        var undos: [(sequence: SequenceNumber, undoes: ClosedRange<SequenceNumber>)] = []
        try entries(from: sequence.next) { entry in
            if let undoes = entry.header.undoes { undos.append((entry.sequence, undoes)) }
            return .proceed
        }
        // Undoing an undo lets what it had undone stand again, so the last word comes first.
        var standing: [(sequence: SequenceNumber, undoes: ClosedRange<SequenceNumber>)] = []
        for undo in undos.reversed()
        where !standing.contains(where: { $0.undoes ~= undo.sequence }) {
            standing.append(undo)
        }
        return standing
    }
}

extension Store {
    /// The last saves that still stand, newest first: what has been undone and not made again is left
    /// out, and so is every undo.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - isWanted: Whether the entry of a number, with a header, counts.
    /// - Returns: The saves; fewer than `limit` when there are no more.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when an entry cannot be read.
    /// - Complexity: O(*e*) page reads, *e* the size of the entries from the head back to the oldest
    ///   one that is found.
    package func lastSaves(
        limit: Int, where isWanted: (SequenceNumber, EntryHeader) -> Bool
    ) throws -> [(sequence: SequenceNumber, header: EntryHeader)] {
        var found: [(sequence: SequenceNumber, header: EntryHeader)] = []
        var undone: [ClosedRange<SequenceNumber>] = []
        var sequence = try head()
        while sequence > .zero, found.count < limit {
            let header = try header(of: sequence)
            let isUndone = undone.contains { $0 ~= sequence }
            undone.removeAll { $0.lowerBound >= sequence }
            if let undoes = header.undoes {
                if !isUndone { undone.append(undoes) }
            } else if !isUndone, header.kind != .model,
                isWanted(sequence, header)
            {
                found.append((sequence, header))
            }
            sequence = sequence.previous
        }
        return found
    }

    /// What is said of an entry, without what it changes.
    private func header(of sequence: SequenceNumber) throws -> EntryHeader {
        try reading { transaction in
            guard let entry = try parts.journal.entry(at: sequence, in: transaction) else {
                let head = try parts.journal.head(in: transaction)
                throw StoreError.noSuchEntry(sequence, head: head)
            }
            return try EntryPayload.header(of: entry.payload)
        }
    }
}

/// Works out what taking a run of entries back comes to.
private struct UndoPlanner {
    private let range: ClosedRange<SequenceNumber>
    private let schema: Schema
    private let projection: Projection
    private var later: LaterTouches
    var plan: GraphPlan

    init(
        _ parts: StoreParts, _ range: ClosedRange<SequenceNumber>, _ policy: UndoPolicy,
        ignoring ignored: Set<SequenceNumber>
    ) {
        self.range = range
        schema = parts.projection.schema
        projection = parts.projection
        later = LaterTouches(parts, after: range, ignoring: ignored)
        plan = GraphPlan(parts, policy, ignoring: ignored)
    }

    /// Looks for what was done after an entry, whether or not it has been taken back since.
    init(_ parts: StoreParts, since base: SequenceNumber, except own: Set<SequenceNumber>) {
        range = base...base
        schema = parts.projection.schema
        projection = parts.projection
        later = LaterTouches(parts, after: range, ignoring: own, cancelsUndone: false)
        plan = GraphPlan(parts, .refuse, ignoring: own)
    }

    /// Notes what was done to what changes start from.
    mutating func noteTouches(
        of changes: [Change], in transaction: borrowing ReadTransaction
    ) throws {
        for change in changes {
            switch change.kind {
            case .insert, .delete:
                for sequence in try later.ofObject(change.object, in: transaction) {
                    try note(sequence, "changed", nil, change.object, in: transaction)
                }
            case .update(let edits, let members):
                try takeBack(edits, members, of: change.object, in: transaction)
            }
        }
    }

    /// The last entry that has taken back something of ours.
    var takenBackBy: SequenceNumber? { later.takenBackBy }

    /// Why nothing can be taken back, if nothing can.
    func refusal(isEmpty: Bool, isNetEmpty: Bool) -> StoreError? {
        let name = range.sentenceStart
        if plan.policy == .refuse, !plan.obstacles.isEmpty {
            return .undoBlocked(
                "\(name) cannot be undone, because later entries touched the same. Undo those as "
                    + "well, or choose to keep or to overwrite what they made.", plan.obstacles)
        }
        guard isEmpty else { return nil }
        if isNetEmpty {
            return .undoBlocked(
                range.isSingle
                    ? "\(name) changed nothing, so there is nothing to undo."
                    : "\(name) cancel each other: together they changed nothing, so there is "
                        + "nothing to undo.")
        }
        if let undo = later.takenBackBy, plan.obstacles.isEmpty {
            return .undoBlocked(
                "\(name) \(range.isSingle ? "has" : "have") been undone already, by entry \(undo). "
                    + "Undo that one to have \(range.isSingle ? "it" : "them") again.")
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
                try plan.note(sequence, "changed", nil, object, in: transaction)
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
                try plan.note(sequence, "brought back", nil, object, in: transaction)
            }
            return
        }
        let before = range.lowerBound.previous
        plan.want(
            try projection.state(of: object, at: before, in: transaction), for: object)
    }

    private mutating func takeBack(
        _ edits: [Edit], _ members: [MembershipEdit], of object: ObjectID,
        in transaction: borrowing ReadTransaction
    ) throws {
        guard var state = try plan.current(object, in: transaction) else {
            return try noteDeletion(of: object, in: transaction)
        }
        for edit in edits {
            let property = schema.entity(object.entity)?.property(edit.property)
            guard let slot = property?.slot, slot < state.values.count else { continue }
            let touches = try later.ofValue(slot, of: object, in: transaction)
            if touches.isEmpty || plan.policy == .overwrite { state.values[slot] = edit.old }
            guard plan.policy != .overwrite else { continue }
            for sequence in touches {
                try note(sequence, "changed", edit.property, object, in: transaction)
            }
        }
        for edit in members {
            let joined = Dictionary(
                uniqueKeysWithValues: edit.removed.map { ($0.object, $0.order) })
            for member in Set((edit.added + edit.removed).map(\.object)).sorted() {
                let touches = try later.ofMember(member, edit.property, of: object, in: transaction)
                if touches.isEmpty || plan.policy == .overwrite {
                    state.members[edit.property, default: [:]][member] = joined[member]
                }
                guard plan.policy != .overwrite else { continue }
                for sequence in touches {
                    try note(sequence, "changed", edit.property, object, in: transaction)
                }
            }
            if state.members[edit.property]?.isEmpty == true { state.members[edit.property] = nil }
        }
        plan.want(state, for: object)
    }

    /// Notes that an object that would change has been deleted, unless that is already undone.
    private mutating func noteDeletion(
        of object: ObjectID, in transaction: borrowing ReadTransaction
    ) throws {
        let touches = try later.ofObject(object, in: transaction)
        guard !touches.isEmpty,
            let deletion = try projection.deletion(of: object, at: .latest, in: transaction)
        else { return }
        try plan.note(deletion, "deleted", nil, object, in: transaction)
    }

    /// Notes what a later entry has done to a property, or to its object as a whole.
    private mutating func note(
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
            return try plan.note(sequence, verb, nil, object, in: transaction)
        }
        try plan.note(sequence, verb, property, object, in: transaction)
    }
}
