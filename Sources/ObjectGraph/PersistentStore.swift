public import Foundation
public import JournalLog
import ObjectModel
package import SnapshotStore
import Synchronization

/// One store of a coordinator: a file with a journal and its projection.
public final class PersistentStore: Sendable {
    /// Where the file is.
    public let url: URL
    /// The store's own identifier, kept in the file.
    public let identifier: UUID
    /// The store's number in its coordinator.
    let number: UInt32
    package let store: Store
    /// The rows that contexts of the coordinator share.
    private let rows: RowCache
    /// How often the store has been read, for tests that prove what needs no reading.
    private let reads = Atomic<Int>(0)
    /// The last entry that everybody has been told of.
    let announced = Mutex<SequenceNumber?>(nil)

    init(url: URL, number: UInt32, store: Store, rows: RowCache) {
        self.url = url
        self.number = number
        self.store = store
        self.rows = rows
        identifier = store.uuid
    }

    /// How often the store has been read by contexts.
    package var readCount: Int { reads.load(ordering: .relaxed) }

    /// The number of the last entry.
    public func head() throws -> SequenceNumber {
        try store.head()
    }

    /// Reads the state after an entry; nil for the newest.
    func read<Result>(
        at sequence: SequenceNumber?, _ body: (borrowing Snapshot) throws -> Result
    ) throws -> Result {
        reads.add(1, ordering: .relaxed)
        return try store.read(at: sequence, body)
    }

    /// Reads the row of an object: the most frequent read of all, and for that in one piece.
    func row(of object: ObjectID, at sequence: SequenceNumber?) throws -> Row? {
        reads.add(1, ordering: .relaxed)
        return try store.row(of: object, at: sequence)
    }

    /// Appends an entry, tells of it, and sees to it that no context is served a row from before it.
    func commit(_ draft: Draft) throws -> Receipt {
        rows.beginSaving()
        do {
            let receipt = try store.commit(draft)
            rows.endSaving(receipt.sequence, of: receipt.changes, in: number)
            if let sequence = receipt.sequence { announce(sequence) }
            return receipt
        } catch {
            rows.endSaving(nil, of: [], in: number)
            throw error
        }
    }

    /// Why an object's record is not there: the entry that deleted it, who and when.
    func disappearance(of id: ObjectID) throws -> StoreError {
        let name = store.schema.name(of: id)
        guard let sequence = try store.read({ try $0.deletion(of: id) }) else {
            return .noSuchObject(name)
        }
        let entry = try store.entry(sequence)
        return .objectDeleted(name, in: entry)
    }
}

extension PersistentStore {
    /// Undoes a saved entry by appending its inverse, whenever it was saved and by whom.
    ///
    /// Contexts take the undo in as they take in any other save, by merging.
    ///
    /// - Parameters:
    ///   - sequence: The entry. Undoing an entry that is itself an undo is a redo.
    ///   - author: Who undoes it.
    ///   - note: Why.
    /// - Returns: The new entry.
    /// - Throws: ``StoreError`` with code `undoBlocked` when later entries touched the same, one line
    ///   of details for each obstacle; with `noSuchEntry`. Nothing has changed then.
    /// - Complexity: O(*k* log *n*), *k* the number of changes in the entry.
    @discardableResult
    public func undo(
        _ sequence: SequenceNumber, author: String? = nil, note: String? = nil
    ) throws -> SequenceNumber {
        let draft = try store.undoDraft(of: sequence, author: author, note: note)
        guard let undone = try commit(draft).sequence else {
            throw StoreError.nothingToUndo(sequence)
        }
        return undone
    }
}
