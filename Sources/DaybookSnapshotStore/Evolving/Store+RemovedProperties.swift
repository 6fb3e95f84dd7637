internal import DaybookJournalLog
internal import DaybookObjectModel

extension Store {
    /// Refuses to take back a change of something that has been removed from the model since.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/undoBlocked``, naming the step and its entry.
    func refuseUndo(
        of change: Change, in entry: SequenceNumber, _ history: ModelHistory
    ) throws {
        guard let entity = schema.entity(change.object.entity) else {
            throw gone(from: entry, history) { $0.entity(change.object.entity) == nil }
        }
        var touched = change.members.map(\.property)
        if case .update(let edits, _) = change.kind { touched += edits.map(\.property) }
        guard let number = touched.first(where: { entity.property($0) == nil }) else { return }
        throw gone(from: entry, history) { $0.entity(entity.number)?.property(number) == nil }
    }

    /// The error for something that an entry has changed and that is gone since.
    private func gone(
        from entry: SequenceNumber, _ history: ModelHistory, where isGone: (Schema) -> Bool
    ) -> StoreError {
        var before = history.schema(at: entry)
        for (sequence, schema) in history.versions where sequence > entry {
            if isGone(schema) {
                let steps = schema.steps(from: before).filter(\.takesAway).map(\.description)
                return StoreError(
                    .undoBlocked,
                    "Entry \(entry) cannot be undone, because entry \(sequence) has removed from the "
                        + "model what it changed. Undo entry \(sequence) first.", details: steps)
            }
            before = schema
        }
        return StoreError(
            .undoBlocked,
            "Entry \(entry) cannot be undone by a program whose model does not have what it changed."
        )
    }
}

extension ModelStep {
    /// Whether something is no longer in the model after the step.
    fileprivate var takesAway: Bool {
        switch kind {
        case .removeEntity, .removeProperty, .moveProperty, .convert, .changeSuperentity: true
        default: false
        }
    }
}
