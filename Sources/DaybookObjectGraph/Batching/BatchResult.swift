public import DaybookJournalLog
import DaybookObjectModel
public import DaybookSnapshotStore

/// What the result of an update or a delete contains.
public enum BatchResultType: Sendable, Hashable {
    /// Only the entry.
    case status
    /// Also how many objects were changed.
    case count
    /// Also which.
    case objectIDs
}

/// The result of a ``BatchUpdateRequest`` or a ``BatchDeleteRequest``.
public struct BatchResult: Sendable {
    /// The entry; nil when nothing was left to change.
    public let sequence: SequenceNumber?
    /// How many objects of the request were changed or deleted; nil unless the request asks for it.
    public let count: Int?
    /// How many objects a delete rule has deleted besides; nil unless the request asks for it.
    public let cascadedCount: Int?
    /// How many objects have lost references to deleted ones; nil unless the request asks for it.
    public let releasedCount: Int?
    /// The objects of the request that were changed or deleted; empty unless the request asks for them.
    public let objectIDs: [ManagedObjectID]
    /// The objects that a delete rule has deleted besides; empty unless the request asks for them.
    public let cascadedIDs: [ManagedObjectID]
    /// The objects that have lost references to deleted ones; empty unless the request asks for them.
    public let releasedIDs: [ManagedObjectID]

    init(
        _ changes: BatchChanges, _ sequence: SequenceNumber?, _ type: BatchResultType,
        in store: PersistentStore?
    ) {
        self.sequence = sequence
        count = type == .status ? nil : changes.direct.count
        cascadedCount = type == .status ? nil : changes.cascaded.count
        releasedCount = type == .status ? nil : changes.released.count
        let store = type == .objectIDs ? store : nil
        objectIDs = changes.identifiers(of: changes.direct, in: store)
        cascadedIDs = changes.identifiers(of: changes.cascaded, in: store)
        releasedIDs = changes.identifiers(of: changes.released, in: store)
    }
}

/// What a ``BatchUpdateRequest`` or a ``BatchDeleteRequest`` would do now.
public struct BatchPreview: Sendable {
    /// The objects of the request that would be changed or deleted.
    public let objectIDs: [ManagedObjectID]
    /// The objects that a delete rule would delete besides.
    public let cascadedIDs: [ManagedObjectID]
    /// The objects that would lose references to deleted ones.
    public let releasedIDs: [ManagedObjectID]
    /// What the batch would throw; nil when it would go through.
    public let refusal: StoreError?

    /// How many objects of the request would be changed or deleted.
    public var count: Int { objectIDs.count }

    init(_ changes: BatchChanges, refusal: StoreError?, in store: PersistentStore?) {
        objectIDs = changes.identifiers(of: changes.direct, in: store)
        cascadedIDs = changes.identifiers(of: changes.cascaded, in: store)
        releasedIDs = changes.identifiers(of: changes.released, in: store)
        self.refusal = refusal
    }
}

/// The objects that a batch changes, by the reason.
struct BatchChanges {
    private(set) var direct: [ObjectID] = []
    private(set) var cascaded: [ObjectID] = []
    private(set) var released: [ObjectID] = []

    init(_ changes: [Change]) {
        direct.reserveCapacity(changes.count)
        // Read in place: a copy of each change would be paid for with its values.
        let changes = changes.span
        for index in changes.indices {
            if changes[index].cause == nil {
                direct.append(changes[index].object)
            } else if changes[index].isDelete {
                cascaded.append(changes[index].object)
            } else {
                released.append(changes[index].object)
            }
        }
    }

    func identifiers(
        of objects: [ObjectID], in store: PersistentStore?
    ) -> [ManagedObjectID] {
        store.map { objects.map($0.objectID) } ?? []
    }
}
