public import DaybookJournalLog
import DaybookObjectModel
public import DaybookSnapshotStore

/// What an undo, a redo or a restore has done, or would do.
public struct UndoOutcome: Sendable {
    /// The new entry; nil for a preview.
    public let entry: SequenceNumber?
    /// The entries that it undoes, one or several in a row; nil for a restore that is not exactly the
    /// undo of one delete.
    public let undoes: ClosedRange<SequenceNumber>?
    /// The objects that come back.
    public let insertedObjectIDs: [ManagedObjectID]
    /// The objects that change.
    public let updatedObjectIDs: [ManagedObjectID]
    /// The objects that are deleted.
    public let deletedObjectIDs: [ManagedObjectID]
    /// What was left out under the policy because later entries stood in the way.
    public let leftOut: [UndoObstacle]

    init(
        _ plan: UndoPlan, _ changes: [Change], entry: SequenceNumber?, in store: PersistentStore
    ) {
        self.entry = entry
        undoes = plan.request.header.undoes
        leftOut = plan.obstacles
        func identifiers(_ isWanted: (Change) -> Bool) -> [ManagedObjectID] {
            changes.filter(isWanted).map { store.objectID($0.object) }
        }
        insertedObjectIDs = identifiers { if case .insert = $0.kind { true } else { false } }
        updatedObjectIDs = identifiers { if case .update = $0.kind { true } else { false } }
        deletedObjectIDs = identifiers(\.isDelete)
    }
}

extension PersistentStore {
    // MARK: - Undo

    /// Undoes a saved entry by appending its inverse, no matter when and by whom it was saved.
    ///
    /// Contexts merge the undo like any other save.
    ///
    /// - Parameters:
    ///   - entry: The entry. Undoing an entry that is itself an undo is a redo.
    ///   - policy: What happens to what later entries have touched.
    ///   - author: Who undoes it.
    ///   - note: Why.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    /// - Returns: What was done, and what was left out.
    /// - Throws: ``StoreError`` with code `undoBlocked` and every ``UndoObstacle`` when later entries
    ///   touched the same, or nothing is left to undo; with `noSuchEntry`, `readOnly` or
    ///   `validation`. Nothing has changed then.
    /// - Complexity: O(*k* log *n*), *k* the number of changes in the entry and of later versions of
    ///   their objects.
    @discardableResult
    public func undo(
        _ entry: SequenceNumber, policy: UndoPolicy = .refuse, author: String? = nil,
        note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try undo(entry...entry, policy: policy, author: author, note: note, info: info)
    }

    /// Undoes entries in a row by one new entry.
    ///
    /// - Throws: As for a single one.
    /// - Complexity: As for a single one, *k* the number of changes in all of them.
    @discardableResult
    public func undo(
        _ entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try carryOut {
            try store.undoPlan(of: entries, policy: policy, author: author, note: note, info: info)
        }
    }

    /// What undoing entries would do. Nothing is changed.
    ///
    /// - Throws: What the undo would throw, also where the model refuses the result.
    /// - Complexity: As for the undo.
    public func previewUndo(
        of entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse
    ) throws -> UndoOutcome {
        try preview { try store.undoPlan(of: entries, policy: policy) }
    }

    // MARK: - Redo

    /// Redoes an undone entry, by undoing the entry that undid it.
    ///
    /// - Throws: ``StoreError`` with code `undoBlocked` when the entry is not undone, or later entries
    ///   stand in the way; otherwise as for an undo.
    /// - Complexity: As for an undo, and O(*e*), *e* the size of the entries after it.
    @discardableResult
    public func redo(
        _ entry: SequenceNumber, policy: UndoPolicy = .refuse, author: String? = nil,
        note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try redo(entry...entry, policy: policy, author: author, note: note, info: info)
    }

    /// Redoes entries that were undone together.
    ///
    /// - Throws: As for a single one.
    /// - Complexity: As for a single one.
    @discardableResult
    public func redo(
        _ entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try carryOut {
            try store.redoPlan(of: entries, policy: policy, author: author, note: note, info: info)
        }
    }

    /// What redoing undone entries would do. Nothing is changed.
    ///
    /// - Throws: What the redo would throw.
    /// - Complexity: As for the redo.
    public func previewRedo(
        of entries: ClosedRange<SequenceNumber>, policy: UndoPolicy = .refuse
    ) throws -> UndoOutcome {
        try preview { try store.redoPlan(of: entries, policy: policy) }
    }

    // MARK: - Restore

    /// Brings a deleted object back under its own identifier, or resets an object to an earlier state.
    ///
    /// A deleted object comes back with the values it had, and with it the objects that were deleted
    /// because of it and the references that led to them. An object that still exists takes the values
    /// that it had then; what is kept at the other end of its relationships stays.
    ///
    /// - Parameters:
    ///   - id: The object.
    ///   - moment: The state to restore; nil for the state just before the delete of a deleted object.
    ///   - policy: What happens to references whose objects are gone or lead elsewhere by now, and to
    ///     unique values that are taken.
    ///   - author: Who restores it.
    ///   - note: Why; when nil, a text that says what was restored.
    ///   - info: What else to keep with the entry, by key, such as the number of a request.
    /// - Returns: What was done, and what was left out.
    /// - Throws: ``StoreError`` with code `undoBlocked` and every ``UndoObstacle``; with
    ///   `noSuchObject`, `noSuchEntry` or `noSuchStore`. Nothing has changed then.
    /// - Complexity: O(*d* + *k* log *n*), *d* the size of the entry that deleted the object, *k* the
    ///   number of changes.
    @discardableResult
    public func restore(
        _ id: ManagedObjectID, at moment: Moment? = nil, policy: UndoPolicy = .refuse,
        author: String? = nil, note: String? = nil, info: [String: String] = [:]
    ) throws -> UndoOutcome {
        try carryOut {
            try store.restorePlan(
                of: try ownObject(id), at: try moment.map(sequence), policy: policy,
                author: author, note: note, info: info)
        }
    }

    /// What restoring an object would do. Nothing is changed.
    ///
    /// - Throws: What the restore would throw.
    public func previewRestore(
        of id: ManagedObjectID, at moment: Moment? = nil, policy: UndoPolicy = .refuse
    ) throws -> UndoOutcome {
        try preview {
            try store.restorePlan(
                of: try ownObject(id), at: try moment.map(sequence), policy: policy)
        }
    }

    // MARK: - Carrying out

    /// How often an undo is planned again when somebody saves the same objects meanwhile.
    private static let attemptsMaximum = 4

    /// Plans an undo, a redo or a restore and saves it.
    func carryOut(_ makePlan: () throws -> UndoPlan) throws -> UndoOutcome {
        try carryOut(makePlan) { plan in
            let request = try plan.permitted()
            let result = try whileNotMoving { try commit(request) }
            guard let entry = result.sequence else { throw StoreError.savedMeanwhile() }
            return UndoOutcome(plan, result.changes, entry: entry, in: self)
        }
    }

    private func preview(_ makePlan: () throws -> UndoPlan) throws -> UndoOutcome {
        try carryOut(makePlan) { plan in
            let result = try store.preview(try plan.permitted())
            return UndoOutcome(plan, result.changes, entry: nil, in: self)
        }
    }

    private func carryOut(
        _ makePlan: () throws -> UndoPlan, by use: (UndoPlan) throws -> UndoOutcome
    ) throws -> UndoOutcome {
        for _ in 1..<Self.attemptsMaximum {
            do {
                return try use(try makePlan())
            } catch let error as StoreError
                where error.code == .conflict || error.code == .duplicate
            {
                // The plan was made for a state that is no longer the newest.
                continue
            }
        }
        return try use(try makePlan())
    }

    private func ownObject(_ id: ManagedObjectID) throws -> ObjectID {
        guard id.storeIdentifier == identifier else {
            throw StoreError.noSuchObject(id.description)
        }
        return id.object
    }

    func sequence(of moment: Moment) throws -> SequenceNumber {
        switch moment {
        case .sequence(let number): number
        case .date(let date): try store.sequence(atTime: date.microseconds)
        case .tag(let name): try tag(named: name).sequence
        case .head: try head()
        }
    }
}
