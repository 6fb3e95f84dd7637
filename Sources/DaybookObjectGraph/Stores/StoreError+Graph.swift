import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

extension StoreError {
    static func unsound(_ path: String, _ problems: [String]) -> StoreError {
        StoreError(
            .corrupt,
            "'\(path)' is not sound: \(problems.count == 1 ? "1 finding" : "\(problems.count) findings"). "
                + "Run 'daybook verify' for all findings.",
            details: problems)
    }

    /// An object that breaks rules of the model, when it is checked outside a save.
    static func invalid(_ name: String, _ failures: [ValidationFailure]) -> StoreError {
        StoreError(
            .validation,
            failures.count == 1
                ? failures[0].message : "\(failures.count) values of '\(name)' are not valid.",
            cause: failures.lazy.compactMap(\.cause).first, failures: failures,
            details: failures.count == 1 ? [] : failures.map(\.message))
    }

    static func noSuchObject(_ name: String) -> StoreError {
        StoreError(.noSuchObject, "There is no object '\(name)'.")
    }

    static func objectDeleted(_ name: String, in entry: Entry) -> StoreError {
        let author = entry.header.author.map { " by '\($0)'" } ?? ""
        return StoreError(
            .objectDeleted,
            "'\(name)' was deleted in entry \(entry.sequence)\(author) at "
                + "\(DateText.text(microseconds: entry.time)). "
                + "As of an earlier entry it can still be read.")
    }

    static func deletedInParent(_ name: String) -> StoreError {
        StoreError(
            .objectDeleted,
            "'\(name)' is deleted in the parent context, which has not been saved. Roll that back or "
                + "let the object go.")
    }

    static func noGeneration(isChild: Bool) -> StoreError {
        StoreError(
            .generation,
            isChild
                ? "A context with a parent reads what its parent has. Set the query generation of the "
                    + "context at the root."
                : "A context that reads at a point in the past stays there. Make another context.")
    }

    static func noContext(_ name: String) -> StoreError {
        StoreError(
            .closed,
            "An object '\(name)' cannot be read, because its context is gone or has been reset. Get "
                + "the object again from a context.")
    }

    /// An object was not changed, because its record could not be read.
    static func unmade(_ object: ManagedObjectID, _ error: any Error) -> StoreError {
        let cause = error as? StoreError
        return StoreError(
            cause?.code ?? .inputOutput,
            "'\(object)' was to be changed or deleted and was not, because it could not be read. "
                + (cause?.message ?? "\(error)")
                + " Save again to leave it as it is, or make the change again before.",
            cause: error)
    }

    static func noSuchMoment(_ sequence: SequenceNumber, head: SequenceNumber) -> StoreError {
        StoreError(
            .noSuchEntry, "There is no entry \(sequence): the journal ends at entry \(head).")
    }

    static func savedMeanwhile() -> StoreError {
        StoreError(
            .undoBlocked,
            "The same has just been saved elsewhere, so nothing was left to save.")
    }

    /// An undo in a context that holds older values than the undo starts from.
    static func undoNotMerged(
        _ entries: ClosedRange<SequenceNumber>, _ obstacles: [UndoObstacle]
    ) -> StoreError {
        StoreError(
            .undoBlocked,
            "What \(entries.entryName) changed cannot be taken back in this context, which has not "
                + "merged later changes of the same values. Call mergeChanges() first.",
            obstacles: obstacles, details: obstacles.map(\.description))
    }

    /// An undo in a context that would change nothing there.
    static func undoPending(_ entries: ClosedRange<SequenceNumber>) -> StoreError {
        StoreError(
            .undoBlocked,
            "What \(entries.entryName) changed has been taken back in this context already. Save "
                + "that, or call undo() to bring it back.")
    }

    /// An undo in a context of a difference that it has taken back in part.
    static func undoPartlyPending(_ entries: ClosedRange<SequenceNumber>) -> StoreError {
        StoreError(
            .undoBlocked,
            "A part of what \(entries.entryName) changed has been taken back in this context already. "
                + "Save that first, or call undo() or redo() for the rest.")
    }

    /// An undo in a context of an entry that sets a model, which contexts do not change.
    static func undoOfModel(_ entries: ClosedRange<SequenceNumber>) -> StoreError {
        StoreError(
            .undoBlocked,
            "Entry \(entries.lowerBound) sets a model and cannot be taken back in a context. Call "
                + "undo() of the container or of the store, which saves it at once.")
    }

    static func readOnlyContext() -> StoreError {
        StoreError(
            .readOnly,
            "A context that reads at a point in the past cannot be saved. Make the change in one that "
                + "the container's speculativeContext(at:) returns, whose save is merged with what was "
                + "saved since, or in one that reads the newest state.")
    }

    static func noSuchEntity(_ name: String) -> StoreError {
        StoreError(.noSuchEntity, "The model has no entity '\(name)'.")
    }

    // MARK: - Several stores

    static func noSuchStore(_ name: String) -> StoreError {
        StoreError(
            .noSuchStore,
            "'\(name)' is not among the stores of the coordinator. Add it first, or roll back what is "
                + "pending for its objects.")
    }

    static func noStore(for entity: String) -> StoreError {
        StoreError(
            .noSuchStore,
            "The coordinator has no store for objects of '\(entity)'. Add one whose configuration has "
                + "that entity.")
    }

    static func noStore() -> StoreError {
        StoreError(.noSuchStore, "The coordinator has no store. Add one first.")
    }

    static func alreadyAdded(_ url: URL, as other: PersistentStore) -> StoreError {
        StoreError(
            .exists,
            url.standardizedFileURL == other.url.standardizedFileURL
                ? "'\(other.name)' has been added already."
                : "'\(url.lastPathComponent)' is a copy of '\(other.name)', which has been added "
                    + "already. Add one of them.")
    }

    static func noSuchConfiguration(_ name: String, among names: [String]) -> StoreError {
        StoreError(
            .noSuchConfiguration,
            "The model has no configuration '\(name)'."
                + (names.isEmpty
                    ? "" : " It has \(names.map { "'\($0)'" }.joined(separator: ", "))."))
    }

    static func readOnlyStore(_ store: PersistentStore) -> StoreError {
        StoreError(
            .readOnly,
            "'\(store.name)' was added for reading and cannot be written. Roll back what is pending "
                + "for its objects, or add the store for writing.")
    }

    static func isMoving(_ store: PersistentStore) -> StoreError {
        StoreError(.busy, "'\(store.name)' is being moved. Save again.")
    }

    static func changedWhileCopied(_ store: PersistentStore) -> StoreError {
        StoreError(
            .busy,
            "'\(store.name)' was saved to while it was copied, and stays where it is. Try again.")
    }

    static func notAssignable(_ name: String, because reason: String) -> StoreError {
        StoreError(.assignment, "'\(name)' cannot be assigned to another store: \(reason)")
    }

    static func crossStoreRelationships(_ lines: [String]) -> StoreError {
        StoreError(
            .crossStoreRelationship,
            lines.count == 1
                ? "Nothing was saved: \(lines[0])"
                : "Nothing was saved: \(lines.count) relationships lead to other stores.",
            details: lines.count == 1 ? [] : lines)
    }

    static func keepsCoordinator() -> StoreError {
        StoreError(
            .coordinator,
            "A context keeps the coordinator that it was made with. Let the context go, and make "
                + "another.")
    }

    static func otherNumbers(_ url: URL, _ hasStores: Bool) -> StoreError {
        let name = "The model of '\(url.lastPathComponent)' came about by other steps than that of "
        return StoreError(
            .modelMismatch,
            hasStores
                ? name
                    + "the stores that are here, so its objects are numbered differently. Add it to "
                    + "a coordinator of its own."
                : name
                    + "the objects that have been made already. Add the store before any object is "
                    + "made.")
    }
}
