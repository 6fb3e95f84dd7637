// The room of undoing: how entries are undone and objects restored, and what stands in the way. It
// plans a request like any other and leaves the writing to a commit.

package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

extension Store {
    /// The plan to undo a run of entries: what they touched gets the state as if they had never
    /// happened.
    ///
    /// Nothing is saved. Committing the plan's request appends an entry; undoing that entry is a
    /// redo.
    ///
    /// - Parameters:
    ///   - range: The entries, one or several in a row.
    ///   - policy: What to do with what later entries have touched.
    ///   - author: Who undoes it.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - context: The name of the context that undoes it.
    ///   - ignored: Later entries that are about to be undone and so count as no obstacle. The
    ///     request then only shows whether the undo is legal.
    /// - Returns: The plan. It is refused when something stands in the way under
    ///   ``UndoPolicy/refuse``, and when nothing is left to take back.
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with
    ///   ``StoreError/Code/undoBlocked`` for the first entry, and when one of several sets a model.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes and of later versions of
    ///   their objects.
    package func undoPlan(
        of range: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        context: String? = nil,
        ignoring ignored: Set<SequenceNumber> = []
    ) throws -> UndoPlan {
        if range.isSingle {
            let undone = try entry(range.lowerBound)
            if undone.version != nil {
                return try modelUndoPlan(
                    of: undone, author: author, note: note, info: info, context: context)
            }
        }
        let net = try netChanges(of: range)
        return try reading { transaction in
            var planner = UndoPlanner(parts, range, policy, ignoring: SequenceRanges(ignored))
            try planner.takeBack(net, in: transaction)
            let changes = try planner.plan.changes(in: transaction)
            let header = EntryHeader(
                kind: .undo, author: author, note: note, info: info, context: context,
                base: try parts.journal.head(in: transaction), undoes: range)
            var request = SaveRequest(header: header, changes: changes)
            request.returnInserted()
            return UndoPlan(
                request: request,
                obstacles: planner.plan.obstacles,
                refusal: planner.refusal(isEmpty: changes.isEmpty, isNetEmpty: net.isEmpty),
                takenBackBy: planner.takenBackBy, takenBack: planner.takenBack)
        }
    }

    /// The request that takes a run of entries back; see
    /// ``undoPlan(of:policy:author:note:info:context:ignoring:)``.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` and one line for each property,
    ///   object or reference that a later entry has touched; with ``StoreError/Code/noSuchEntry``.
    package func undoRequest(
        of range: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        context: String? = nil
    ) throws -> SaveRequest {
        try undoPlan(
            of: range, policy: policy, author: author, note: note, info: info, context: context
        )
        .permitted()
    }

    /// The request that takes one entry back.
    package func undoRequest(
        of sequence: SequenceNumber, policy: UndoPolicy = .refuse, author: String? = nil,
        note: String? = nil, info: [String: String] = [:], context: String? = nil
    ) throws -> SaveRequest {
        try undoRequest(
            of: sequence...sequence, policy: policy, author: author, note: note, info: info,
            context: context)
    }

    /// The plan to redo an undone run of entries: the undo of the entry that undid it.
    ///
    /// - Parameters:
    ///   - range: The entries, as they were undone together.
    ///   - policy: What to do with what later entries have touched.
    ///   - author: Who redoes it.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    ///   - context: The name of the context that redoes it.
    /// - Returns: The plan.
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked`` when the entries are not undone,
    ///   or not by one entry; with ``StoreError/Code/noSuchEntry``.
    /// - Complexity: As ``undoPlan(of:policy:author:note:info:context:ignoring:)``, and O(*e*) page reads,
    ///   *e* the size of all entries after the run.
    package func redoPlan(
        of range: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:],
        context: String? = nil
    ) throws -> UndoPlan {
        guard let undo = try standingUndo(of: range) else {
            let wider = try standingUndos(after: range.upperBound).first {
                $0.undoes.overlaps(range)
            }
            if let wider {
                throw StoreError.undoBlocked(
                    "\(range.sentenceStart) cannot be redone alone: entry \(wider.sequence) undid "
                        + "\(wider.undoes.entryName) together. Redo all of them.")
            }
            let verb = range.isSingle ? "is" : "are"
            let it = range.isSingle ? "it" : "they"
            throw StoreError.undoBlocked(
                "\(range.sentenceStart) \(verb) not undone, so \(it) cannot be redone.")
        }
        return try undoPlan(
            of: undo...undo, policy: policy, author: author, note: note, info: info,
            context: context)
    }

    /// The net changes of a run of entries, in the order of an entry and without causes.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntry``; with
    ///   ``StoreError/Code/undoBlocked`` when one of them sets the model.
    /// - Complexity: O(*k*) page reads, *k* the number of changes.
    package func netChanges(of range: ClosedRange<SequenceNumber>) throws -> [Change] {
        _ = try entry(range.upperBound)
        _ = try entry(range.lowerBound)
        var sum = ChangeSet()
        let history = try modelHistory()
        try entries(from: range.lowerBound, through: range.upperBound) { entry in
            guard entry.header.kind != .model else {
                let isFirst = entry.sequence == SequenceNumber(1)
                throw StoreError.undoBlocked(
                    isFirst
                        ? "Entry 1 sets the model and cannot be undone."
                        : "Entry \(entry.sequence) sets a model and cannot be undone together with "
                            + "others. Undo it by itself.")
            }
            for change in entry.changes {
                try refuseUndo(of: change, in: entry.sequence, history)
                guard let entity = schema.entity(change.object.entity),
                    var change = change.shown(by: schema)?.withoutDerived(of: entity)
                else { continue }
                change.cause = nil
                try sum.append(change, of: entity)
            }
            return .proceed
        }
        return sum.ordered
    }

    /// What later entries did to the state that some changes start from, even if it has been undone
    /// since.
    ///
    /// - Parameters:
    ///   - changes: The changes. For inserts and deletes the whole object counts; for updates,
    ///     their properties and members.
    ///   - base: The entry.
    ///   - own: Later entries that do not count.
    /// - Returns: One obstacle for each entry and each property or object; none when the changes
    ///   still start from the state at the entry.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when a row or an entry cannot be
    ///   read.
    /// - Complexity: O(*k* log *n*) page reads, *k* the number of changes and of later versions of
    ///   their objects.
    package func touches(
        of changes: [Change], after base: SequenceNumber,
        except own: SequenceRanges = SequenceRanges()
    ) throws -> [UndoObstacle] {
        try reading { transaction in
            var planner = UndoPlanner(parts, since: base, except: own)
            try planner.reportTouches(of: changes, in: transaction)
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
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when an entry cannot be read.
    /// - Complexity: O(*e*) page reads, *e* the size of all entries after it.
    package func standingUndos(
        after sequence: SequenceNumber
    ) throws -> [(sequence: SequenceNumber, undoes: ClosedRange<SequenceNumber>)] {
        var undos: [(sequence: SequenceNumber, undoes: ClosedRange<SequenceNumber>)] = []
        try entries(from: sequence.next) { entry in
            if let undoes = entry.header.undoes { undos.append((entry.sequence, undoes)) }
            return .proceed
        }
        // Undoing an undo makes what it had undone stand again, so the newest is looked at first.
        var undone = UndoneRuns()
        return undos.reversed().filter { undo in
            guard !undone.holds(undo.sequence) else { return false }
            undone.add(undo.undoes, undoneBy: undo.sequence)
            return true
        }
    }
}

extension Store {
    /// The last saves that still stand, newest first, without those that were undone and not
    /// redone, and without undos.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - isWanted: Whether an entry with that number and header counts.
    /// - Returns: The saves; fewer than `limit` when there are no more.
    /// - Throws: ``StoreError`` with ``StoreError/Code/corrupt`` when an entry cannot be read.
    /// - Complexity: O(*e*) page reads, *e* the size of the entries from the head back to the oldest
    ///   one that is found.
    package func lastSaves(
        limit: Int, where isWanted: (SequenceNumber, EntryHeader) -> Bool
    ) throws -> [(sequence: SequenceNumber, header: EntryHeader)] {
        var found: [(sequence: SequenceNumber, header: EntryHeader)] = []
        var undone = UndoneRuns()
        var sequence = try head()
        while sequence > .zero, found.count < limit {
            let header = try header(of: sequence)
            let isUndone = undone.holds(sequence)
            if let undoes = header.undoes {
                if !isUndone { undone.add(undoes, undoneBy: sequence) }
            } else if !isUndone, header.kind != .model,
                isWanted(sequence, header)
            {
                found.append((sequence, header))
            }
            sequence = sequence.previous
        }
        return found
    }

    /// The header of an entry, without its changes.
    private func header(of sequence: SequenceNumber) throws -> EntryHeader {
        try reading { transaction in
            guard let entry = try parts.journal.entry(at: sequence, in: transaction) else {
                let head = try parts.journal.head(in: transaction)
                throw StoreError.noSuchEntry(sequence, head: head)
            }
            return try EntryPayload.header(of: entry)
        }
    }
}
