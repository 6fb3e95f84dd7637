import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

// An undo that cannot be done changes nothing, and is reported: at once, or by the next save.

extension ManagedObjectContext {
    /// Whether the last step can be undone; if not, the context reports why.
    ///
    /// A step that stands for a saved entry is read for this, and dropped where the journal blocks it. Where the context
    /// has something to do first, or the store cannot be read just now, it stays.
    func isReadyToUndo() -> Bool {
        guard let step = journal.list.last else { return false }
        guard let unread = step.unread else { return isReady(toTakeBack: step.changes) }
        let entry = unread.sequence...unread.sequence
        do {
            let saved = try droppingBlockedStep { try savedChanges(of: unread) }
            let changes = try changes(saved, of: unread)
            guard isReady(toTakeBack: changes) else { return false }
            try droppingBlockedStep {
                guard changes.contains(where: { makesDifference($0.inverse) }) else {
                    throw StoreError.undoPending(entry)
                }
            }
            let origin = UndoneEntries(entries: entry, count: changes.count)
            journal.recordRead(changes, as: origin, in: unread.store)
            return true
        } catch {
            rememberUndoFailure(error)
            return false
        }
    }

    /// Asks whether the last step can be undone, and drops it where the answer stays the same: the next undo then comes
    /// to the step below.
    private func droppingBlockedStep<Answer>(_ ask: () throws -> Answer) throws -> Answer {
        do {
            return try ask()
        } catch let error as StoreError where Self.blockingCodes.contains(error.code) {
            journal.dropUnread()
            throw error
        }
    }

    private static let blockingCodes: Set<StoreError.Code> = [
        .undoBlocked, .corrupt, .noSuchEntry, .noSuchStore,
    ]

    /// Whether changes can be taken back; if not, the context reports why.
    func isReady(toTakeBack changes: [RecordedChange]) -> Bool {
        guard mergesAttributes else { return true }
        return isReady(blockade(of: changes.reversed().lazy.map(\.inverse)))
    }

    /// Whether changes can be redone; if not, the context reports why.
    func isReady(toMake changes: [RecordedChange]) -> Bool {
        guard mergesAttributes else { return true }
        return isReady(blockade(of: changes))
    }

    private func isReady(_ blockade: StoreError?) -> Bool {
        if let blockade { rememberUndoFailure(blockade) }
        return blockade == nil
    }

    private var mergesAttributes: Bool {
        coordinator.model.schema.entities.contains { !$0.mergingSlots.isEmpty }
    }

    /// Why changes cannot be made one after the other from the current state of their objects; nil when
    /// they can.
    ///
    /// A change of an attribute that merges adds a difference, and the result by now may be more or less
    /// than the rules of the attribute allow.
    func blockade(of changes: some Sequence<RecordedChange>) -> StoreError? {
        var reached: [RelationKey: Value] = [:]
        var obstacles: [UndoObstacle] = []
        for recorded in changes {
            let object = recorded.object
            for property in object.binding.schema.mergingSlots {
                guard let slot = property.slot else { continue }
                let key = RelationKey(owner: object.graphID, property: property.number)
                switch recorded.change.kind {
                case .insert(let values, _): reached[key] = values[slot]
                case .delete: reached[key] = nil
                case .update(let edits, _):
                    guard let edit = edits.first(where: { $0.property == property.number }),
                        let now = reached[key] ?? readable(slot, of: object)
                    else { continue }
                    reached[key] = property.merged(base: edit.old, theirs: now, ours: edit.new)
                    if reached[key] == nil { obstacles.append(obstacle(property, of: object)) }
                }
            }
        }
        return obstacles.isEmpty ? nil : .undoForbidden(obstacles)
    }

    private func readable(_ slot: Int, of object: ManagedObject) -> Value? {
        guard object.isEditable, object.realizeIfNeeded(), object.isEditable else { return nil }
        return object.value(inSlot: slot)
    }

    private func obstacle(_ property: SchemaProperty, of object: ManagedObject) -> UndoObstacle {
        let name = coordinator.model.schema.name(of: object.graphID.object)
        return UndoObstacle(
            object: object.graphID.object, objectName: name, propertyName: property.name,
            description: "'\(property.name)' of \(name) would come to a value that its rules "
                + "forbid.")
    }
}

extension StoreError {
    /// An undo or redo that would bring attributes to values that their rules forbid.
    fileprivate static func undoForbidden(_ obstacles: [UndoObstacle]) -> StoreError {
        StoreError(
            .undoBlocked,
            "The step was left as it is: with what others have saved since, it would lead to values "
                + "that the rules of attributes forbid. Give these other values first.",
            obstacles: obstacles, details: obstacles.map(\.description))
    }
}
