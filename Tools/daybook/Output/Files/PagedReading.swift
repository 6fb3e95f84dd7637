import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// One state of a store, read a page at a time.
///
/// Pages that a read transaction sees cannot be reused while it lasts, and the reader of the output
/// may pause for hours. So objects are read a page at a time, all as of one entry, and printed
/// between two read transactions.
struct PagedReading {
    /// The bytes of text of a page; its last object may exceed them.
    private static let pageBytes = 256 * 1024

    let store: Store
    /// The entry as of which objects are read.
    let sequence: SequenceNumber

    /// Finds objects in the state after an entry, or in the newest one, and stays with that state.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - sequence: The entry; nil for the last one.
    ///   - find: Reads, and prints nothing.
    /// - Returns: The result of `find`, and the reading to continue with.
    /// - Throws: `StoreError` when the store cannot be read; errors of `find`.
    static func begin<R>(
        _ store: Store, at sequence: SequenceNumber?, _ find: (borrowing Snapshot) throws -> R
    ) throws -> (found: R, reading: PagedReading) {
        try store.readWithSequence(at: sequence) { snapshot, sequence in
            (try find(snapshot), PagedReading(store: store, sequence: sequence))
        }
    }

    /// Reads and prints each object, in order.
    ///
    /// - Parameters:
    ///   - objects: The objects.
    ///   - read: Reads an object and returns what to print of it with its size in bytes, or nil; it
    ///     prints nothing.
    ///   - print: Prints it, outside of any read transaction.
    /// - Throws: `StoreError` when the store cannot be read; errors of `read` and `print`.
    func forEach<Item>(
        _ objects: [ObjectID],
        read: (ObjectID, borrowing Snapshot) throws -> (item: Item, bytes: Int)?,
        print: (Item) throws -> Void
    ) throws {
        var next = 0
        while next < objects.count {
            var page: [Item] = []
            try store.read(at: sequence) { snapshot in
                var bytes = 0
                while next < objects.count, bytes < Self.pageBytes {
                    if let (item, size) = try read(objects[next], snapshot) {
                        page.append(item)
                        bytes += size
                    }
                    next += 1
                }
            }
            for item in page { try print(item) }
        }
    }
}
