import Foundation
import JournalLog
import ObjectModel
import SnapshotStore

extension StoreError {
    static func noSuchObject(_ name: String) -> StoreError {
        StoreError(.noSuchObject, "There is no object '\(name)'.")
    }

    static func objectDeleted(_ name: String, in entry: Entry) -> StoreError {
        let author = entry.header.author.map { " by '\($0)'" } ?? ""
        let date = Date(timeIntervalSince1970: Double(entry.time) / 1_000_000)
        return StoreError(
            .objectDeleted,
            "'\(name)' was deleted in entry \(entry.sequence)\(author) at \(date.ISO8601Format()). "
                + "A context pinned to an earlier entry still reads it.")
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

    static func noSuchMoment(_ sequence: SequenceNumber, head: SequenceNumber) -> StoreError {
        StoreError(
            .noSuchEntry, "There is no entry \(sequence): the journal ends at entry \(head).")
    }

    static func nothingToUndo(_ sequence: SequenceNumber) -> StoreError {
        StoreError(
            .undoBlocked,
            "Entry \(sequence) has been undone already, so there is nothing left to undo.")
    }

    static func readOnlyContext() -> StoreError {
        StoreError(
            .readOnly,
            "A context that reads at a point in the past cannot be saved. Make the change in a "
                + "context that reads the newest state.")
    }

    static func invalid(_ problems: [String]) -> StoreError {
        StoreError(
            .validation,
            problems.count == 1
                ? "Nothing was saved: \(problems[0])"
                : "Nothing was saved: \(problems.count) objects are not valid.",
            details: problems.count == 1 ? [] : problems)
    }
}
