public import DaybookJournalLog
public import DaybookSnapshotStore
import DaybookStopping
import Foundation
import Synchronization

/// How far a program has come in following a store, kept in the store under a name.
///
/// ```swift
/// let cursor = try store.cursor(named: "mailer")
/// for try await entry in try store.changes(since: cursor) {
///     try send(entry)
///     try cursor.move(to: entry.sequence)
/// }
/// ```
///
/// A program that moves it after its work gets every entry at least once, also when it ends in between. One whose
/// work is a save to the same store moves it with that save, and so does the work of each entry exactly once:
/// ``ManagedObjectContext/save(moving:to:author:note:info:at:)``.
///
/// A cursor is moved only by the one who knows where it stands. Two programs with one name would each do half of
/// the work: the second is refused when it moves. A cursor is not part of any entry; the command lists cursors
/// with `daybook cursors`. Any thread may use it.
public final class JournalCursor: Sendable {
    private struct Stand {
        /// What the store is known to have; nil for no cursor of the name.
        var kept: StoreCursor?
        var place: JournalPlace
    }

    /// The name.
    public let name: String
    /// The store.
    public let store: PersistentStore
    private let stand: Mutex<Stand>

    fileprivate init(
        _ name: String, in store: PersistentStore, kept: StoreCursor?, at place: JournalPlace
    ) {
        self.name = name
        self.store = store
        stand = Mutex(Stand(kept: kept, place: place))
    }

    /// The last entry that was dealt with; zero for none.
    public var position: SequenceNumber { place.sequence }

    var place: JournalPlace { stand.withLock(\.place) }

    /// Moves the cursor, and keeps that in the store.
    ///
    /// Each move is a write to the disk; for many small entries, move it now and then.
    ///
    /// - Parameter entry: The last entry that was dealt with; an earlier one to go back.
    /// - Throws: ``StoreError`` with code `conditionFailed` when the cursor stands elsewhere by now, because
    ///   another reader has moved or removed it; with `noSuchEntry`, `readOnly`, `closed`, `busy`, `full`,
    ///   `replaced` or `inputOutput`; with `corrupt` when the entry's digest is missing. It stays where it is
    ///   then.
    /// - Complexity: O(log *n*) page reads, and one write.
    public func move(to entry: SequenceNumber) throws(StoreError) {
        try store.store.refusing {
            let task = try self.task(movingTo: entry)
            try store.whileNotMoving { try store.store.move(task.move) }
            finish(task)
        }
    }

    /// Removes the cursor from the store; it still knows its place, and moving it keeps it again.
    ///
    /// - Throws: As ``move(to:)``.
    public func remove() throws(StoreError) {
        try store.store.refusing {
            let kept = stand.withLock(\.kept)
            let move = CursorMove(of: name, from: kept, to: nil)
            try store.whileNotMoving { try store.store.move(move) }
            stand.withLock { $0.kept = nil }
        }
    }

    /// What moves the cursor, together with something else.
    func task(movingTo entry: SequenceNumber) throws -> CursorTask {
        let target = StoreCursor(name: name, at: try store.store.place(after: entry))
        return CursorTask(
            CursorMove(of: name, from: stand.withLock(\.kept), to: target))
    }

    /// Takes in that it was moved.
    func finish(_ task: CursorTask) {
        guard let target = task.move.target else { return }
        stand.withLock { $0 = Stand(kept: target, place: target.place) }
    }
}

/// The move of a cursor by a save, on the queue of the context that saves.
final class CursorTask {
    let move: CursorMove
    /// Whether the save has moved it.
    var isDone = false

    init(_ move: CursorMove) {
        self.move = move
    }
}

extension PersistentStore {
    /// The cursor of a name, where it was left.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - moment: Where to begin if there is no such cursor: before the first entry by default. The store
    ///     keeps a cursor that begins elsewhere at once, so that it begins there again whatever happens; one
    ///     that begins before the first entry, and any of a store that is read only, from its first move on.
    /// - Returns: The cursor.
    /// - Throws: ``StoreError`` with code `generation` when the entry at which it stands is gone or is
    ///   another one: the store is a different one, or was restored to an earlier state. Remove the
    ///   cursor with ``removeCursor(named:)`` to begin again. With `noSuchEntry` or `noSuchTag` for a moment that
    ///   the store does not have; with `busy`, `full` or `inputOutput` when it cannot be kept.
    /// - Precondition: The name is not empty.
    public func cursor(
        named name: String, startingAt moment: Moment = .sequence(.zero)
    ) throws(StoreError) -> JournalCursor {
        require(!name.isEmpty, "A cursor needs a name.")
        return try store.refusing {
            if let kept = try store.cursor(named: name) {
                return JournalCursor(name, in: self, kept: kept, at: kept.place)
            }
            let place = try store.place(after: sequence(of: moment))
            guard place.sequence > .zero, !isReadOnly else {
                return JournalCursor(name, in: self, kept: nil, at: place)
            }
            let kept = try keep(StoreCursor(name: name, at: place))
            return JournalCursor(name, in: self, kept: kept, at: kept.place)
        }
    }

    /// Keeps a new cursor.
    ///
    /// - Returns: The cursor; the one of the name that another has kept meanwhile.
    private func keep(_ cursor: StoreCursor) throws -> StoreCursor {
        do {
            let move = CursorMove(of: cursor.name, from: nil, to: cursor)
            try whileNotMoving { try store.move(move) }
            return cursor
        } catch let error as StoreError where error.code == .conditionFailed {
            guard let other = try store.cursor(named: cursor.name) else { throw error }
            return other
        }
    }

    /// The names of the cursors that the store keeps, sorted.
    ///
    /// - Throws: ``StoreError`` when the store cannot be read.
    public func cursorNames() throws(StoreError) -> [String] {
        try store.refusing { try store.cursors().map(\.name) }
    }

    /// Removes a cursor, wherever it stands and whoever uses it; does nothing when there is none.
    ///
    /// - Throws: ``StoreError`` with code `readOnly`, `busy`, `full` or `inputOutput`.
    public func removeCursor(named name: String) throws(StoreError) {
        try store.refusing { try whileNotMoving { try store.setCursor(name, to: nil) } }
    }
}
