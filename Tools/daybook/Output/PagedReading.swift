import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// One state of a store, read a page at a time.
///
/// Pages that a read transaction sees cannot be used again for as long as it lasts, and whoever reads
/// what a command prints may stop for the night. So objects are read a page at a time, all of them as
/// of one entry, and printed between two read transactions.
struct PagedReading {
    /// How many bytes of text a page is to have; the last object of it may bring more.
    private static let pageBytes = 256 * 1024

    let store: Store
    /// The entry as of which is read.
    let sequence: SequenceNumber

    /// Finds objects in the state after an entry, or in the newest one, and keeps to that state.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - sequence: The entry; nil for the last one.
    ///   - find: Reads, and prints nothing.
    /// - Returns: What `find` returns, and where to read on.
    /// - Throws: `StoreError` when the store cannot be read; what `find` throws.
    static func begin<R>(
        _ store: Store, at sequence: SequenceNumber?, _ find: (borrowing Snapshot) throws -> R
    ) throws -> (found: R, reading: PagedReading) {
        try store.readTellingPlace(at: sequence) { snapshot, place in
            (try find(snapshot), PagedReading(store: store, sequence: place))
        }
    }

    /// Hands out what is read of each object, in the order of the objects.
    ///
    /// - Parameters:
    ///   - objects: The objects.
    ///   - read: Reads what is to be told of one and how many bytes that has, and prints nothing;
    ///     nil for nothing.
    ///   - print: Takes it, outside of any read transaction.
    /// - Throws: `StoreError` when the store cannot be read; what `read` and `print` throw.
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
