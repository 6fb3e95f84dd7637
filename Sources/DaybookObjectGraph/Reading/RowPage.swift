import DaybookObjectModel
import DaybookSnapshotStore

/// Rows that a fetch has read together. The objects made from them hold it, and as long as one of them
/// does, the rows serve other contexts: see ``RowCache``.
///
/// So a fetch enters and leaves the cache once for up to 64 objects.
final class RowPage: Sendable {
    /// The key of a batch: what the identifiers of its objects have in common.
    struct Key: Hashable, Sendable {
        private let page: UInt64
        private let entity: EntityNumber

        /// The key of the batches that an object may be in.
        init(for id: GraphID) {
            page = id.word >> 6
            entity = id.object.entity
        }

        /// The key of rows of a store.
        init(_ rows: EncodedRows, in store: UInt32) {
            self.init(
                for: GraphID(
                    store: store, object: ObjectID(entity: rows.entity, number: rows.page << 6)))
        }

        /// The number of the store.
        var store: UInt64 { page >> 42 }
    }

    /// Fewer rows are held one by one, which takes less memory.
    static let leastCount = 4

    let key: Key
    let rows: EncodedRows
    private let cache: RowCache

    init(_ rows: EncodedRows, in store: UInt32, for cache: RowCache) {
        key = Key(rows, in: store)
        self.rows = rows
        self.cache = cache
    }

    deinit {
        cache.remove(self)
    }
}

/// A batch whose rows serve other contexts.
struct CachedPage {
    let reference: ObjectReference<RowPage>
    /// When the rows were read; 0 when the clock was not read.
    let readAt: Int64
    /// Which of the rows are still the last saved ones, a bit for each.
    var freshRows: UInt64
}
