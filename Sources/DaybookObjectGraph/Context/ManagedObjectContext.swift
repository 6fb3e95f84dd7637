// The room of the context: its public face, with its queue and lock, its policies and its handlers.
// Everything else in a context belongs to parts, whose stored properties are private: the registry, the
// parent store, the working journal, the terms of a save and the news. This room may use every part and
// reaches into none.

public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
import Dispatch
import Foundation

/// On which queue a context lives.
public enum ConcurrencyType: Sendable, Hashable {
    /// The main queue; for user interfaces.
    case mainQueue
    /// A queue of the context's own.
    case privateQueue
}

/// Where a context reads.
public enum ReadingMode: Sendable, Hashable {
    /// Every fetch and every firing fault reads the newest saved state.
    case latest
    /// Everything is read as it stood at one entry. Such a context cannot be saved.
    case pinned(SequenceNumber)
}

/// How closely a context looks for conflicts.
public enum ConflictGranularity: Sendable, Hashable {
    /// Two sides collide when they changed the same property, unless its attribute has a
    /// ``MergeStrategy``.
    case property
    /// Two sides collide when they changed the same object, unless ours has changed only attributes with
    /// a ``MergeStrategy``.
    case row
}

/// A scratch pad over a store: objects are made, edited, deleted, undone and redone here, and
/// nothing reaches the store or another context before ``save(author:note:info:at:)``.
///
/// A context keeps a journal of its own. Every edit is a ``Change``; the changes of one event form a
/// group; undo rewinds the journal's cursor by one group and redo advances it; a save appends the net
/// change between base and cursor to the store's journal; a merge replays the entries of others under
/// what is pending.
///
/// A context and its objects belong to the context's queue: use them inside `perform(_:)` or
/// ``performAndWait(_:)``, or on the main thread for a main-queue context. Debug builds stop the
/// program otherwise, and release builds where a context is saved, fetched from or changed as a whole. Objects do
/// not cross to other queues; identifiers do.
public final class ManagedObjectContext: @unchecked Sendable {
    // @unchecked Sendable because all mutable state is confined to `queue`, which debug builds check at
    // every entry, and release builds wherever more than one property is used.

    /// The coordinator whose stores the context reads and saves to.
    public let coordinator: PersistentStoreCoordinator
    /// What the context reads from, saves to and follows.
    let parentStore: any ParentStore
    let registry = ObjectRegistry()
    let terms = SaveTerms()
    let news = News()
    /// On which queue the context lives.
    public let concurrencyType: ConcurrencyType
    /// Where the context reads.
    public let readingMode: ReadingMode
    let lock: ContextLock
    /// Runs the actors that live on the context's queue.
    let executor = ContextExecutor()

    /// A name for debugging, kept in the entries that this context saves.
    public var name: String?
    /// The author of saves: kept in the entries that this context saves unless a save names another.
    public var author: String?
    /// Information on saves, such as the request that a server answers: kept by key in the entries that
    /// this context saves. A save that gives a text for the same key replaces it.
    public var info: [String: String] = [:]
    /// What to do when the store has moved on since this context read what it changes.
    public var mergePolicy: MergePolicy = .error
    /// A program's own way to settle conflicts; asked before ``mergePolicy``. A save into a parent
    /// context uses ``mergePolicy`` alone.
    public var customMergePolicy: (any CustomMergePolicy)?
    /// Whether conflicts are detected property by property, or whether any change of the row is one.
    public var conflictGranularity = ConflictGranularity.property
    /// Whether the context keeps its registered objects alive. Off by default.
    public var retainsRegisteredObjects: Bool {
        get { registry.retainsObjects }
        set { registry.retainObjects(newValue) }
    }
    /// Whether the delete rules are applied at the end of the event (in ``processPendingChanges()`` or a
    /// save) instead of at each ``delete(_:)``. On by default.
    public var propagatesDeletesAtEndOfEvent = true
    /// How long, in seconds, a row that was read for one context may serve firing faults of others;
    /// negative for as long as it is not known to have changed, which is the default, and 0 for not
    /// at all.
    ///
    /// Contexts of one coordinator share the rows of the objects that they have read and keep; rows that
    /// one fetch has read together are shared as long as any of their objects is kept. A save through
    /// the coordinator, and every entry that one of its contexts merges, ends the sharing of older rows,
    /// and a refresh always reads the store. So only what another process has saved can go unseen, and
    /// this interval limits for how long. An object that has been read keeps its values whatever the
    /// interval, and a context that is held to a query generation shares nothing.
    @exclusivity(unchecked) public var stalenessInterval: Double = -1 {
        didSet { if stalenessInterval > 0 { coordinator.rows.startTiming() } }
    }
    /// Whether `withObservationTracking` sees the properties of the context's objects. On in a
    /// main-queue context, where user interfaces are; off in others, because tracking makes reading a
    /// property a few nanoseconds slower.
    public var tracksObservation: Bool {
        didSet { registry.setWatched(tracksObservation) }
    }
    /// Whether a fault whose record turns out to be deleted counts as deleted from then on, and its
    /// properties read as empty. On by default.
    ///
    /// When off, the object stays a fault. A property cannot throw, so it reads as empty as well;
    /// ``inaccessibleFaultHandler`` is told each time, and
    /// ``ManagedObject/willAccessValue(forKey:)`` and ``existingObject(with:)`` throw.
    public var shouldDeleteInaccessibleFaults = true
    /// Decides, instead of ``shouldDeleteInaccessibleFaults``, whether a fault without a record counts
    /// as deleted.
    public var shouldHandleInaccessibleFault: ((ManagedObject, any Error) -> Bool)?
    /// Called when a fault fires whose record cannot be read, with the object and an error that names
    /// the entry, author and time when it was deleted. Also called each time a property is read whose
    /// stored value its type does not have, with an ``UnreadableValue`` as the cause of the error;
    /// without a handler this is written to standard error, once for each property.
    public var inaccessibleFaultHandler: ((ManagedObjectID, any Error) -> Void)?
    /// Called when an automatic merge could not read an entry.
    public var mergeFailureHandler: ((any Error) -> Void)?
    /// Called when an automatic merge met edits that are pending here, with the collisions, as
    /// ``mergeChanges(through:)`` returns them. The pending values are kept, and the next save writes
    /// them.
    ///
    /// Without a handler the conflicts are kept for ``mergeChanges(through:)`` to return. Until it has,
    /// a save under ``MergePolicy/error`` refuses with them; rolling back and refreshing the objects
    /// forget them.
    public var mergeConflictHandler: (([MergeConflict]) -> Void)?
    /// Called when ``undo()`` or ``redo()`` reaches a step that cannot be undone or redone, and has
    /// changed nothing: with a ``StoreError`` with code `undoBlocked` that names every obstacle, or the
    /// reason why a saved entry, of ``continueUndo(savesBy:limit:in:)``, could not be read. Without a
    /// handler the next save throws the error, once.
    ///
    /// A step of a saved entry that others block, or whose entry is damaged, is dropped then. A step that
    /// waits for a merge or a save of this context stays, as does one whose store cannot be read just
    /// now, and one that would, with what others have saved since, bring an attribute with a
    /// ``MergeStrategy`` to a value that its rules forbid.
    public var undoFailureHandler: ((any Error) -> Void)?
    /// Records changes so that they can be undone; nil for a context that needs no undo.
    public var undoManager: UndoManager? {
        didSet {
            oldValue?.detach()
            undoManager?.attach(to: self)
        }
    }

    /// What has been edited here: the open event, what is pending, and what can be undone.
    let journal: WorkingJournal
    /// Deleted objects whose delete rules have not been applied yet.
    var undeliveredDeletes: [Deletion] = []
    /// Why the last undo did nothing, until it has been reported.
    var undoFailure: (any Error)?
    /// Whether changes to objects are made without being recorded, as in `awakeFromFetch`.
    @exclusivity(unchecked) var isRecordingSuspended = false

    /// Makes a context that works with stores.
    ///
    /// - Parameters:
    ///   - coordinator: The stores to work with, including those added later.
    ///   - concurrencyType: On which queue the context lives.
    ///   - readingMode: Where the context reads. With several stores, ``ReadingMode/pinned(_:)`` names
    ///     an entry of the first one and sees none of the others; a container's
    ///     ``PersistentContainer/context(at:)`` sees all as they were.
    public convenience init(
        coordinator: PersistentStoreCoordinator, concurrencyType: ConcurrencyType = .privateQueue,
        readingMode: ReadingMode = .latest
    ) {
        let stores =
            switch readingMode {
            case .latest: CoordinatedStores(of: coordinator)
            case .pinned(let sequence):
                CoordinatedStores(
                    of: coordinator,
                    asAt: coordinator.persistentStores.first.map { [$0.number: sequence] } ?? [:])
            }
        self.init(coordinator, stores, concurrencyType, readingMode)
    }

    /// Makes a context with a queue of its own on stores as they are or were.
    convenience init(
        _ coordinator: PersistentStoreCoordinator, on stores: CoordinatedStores,
        readingMode: ReadingMode = .latest
    ) {
        self.init(coordinator, stores, .privateQueue, readingMode)
    }

    /// Makes a context on top of another: it reads what its parent has, unsaved changes included, and
    /// a save puts its changes into the parent, where they are pending until the parent is saved.
    ///
    /// - Parameters:
    ///   - parent: The parent, which this context keeps alive.
    ///   - concurrencyType: On which queue the context lives.
    public convenience init(
        parent: ManagedObjectContext, concurrencyType: ConcurrencyType = .privateQueue
    ) {
        self.init(
            parent.coordinator, ParentContext(parent), concurrencyType, parent.readingMode)
    }

    private init(
        _ coordinator: PersistentStoreCoordinator, _ parentStore: any ParentStore,
        _ concurrencyType: ConcurrencyType, _ readingMode: ReadingMode
    ) {
        self.coordinator = coordinator
        self.parentStore = parentStore
        journal = WorkingJournal(for: news.interest)
        self.concurrencyType = concurrencyType
        self.readingMode = readingMode
        tracksObservation = concurrencyType == .mainQueue
        lock =
            switch concurrencyType {
            case .mainQueue: .main
            case .privateQueue: ContextLock()
            }
        let manager = UndoManager()
        manager.attach(to: self)
        undoManager = manager
        executor.serve(self)
        coordinator.register(self)
    }

    /// The context that this one reads from and saves to; nil for one that works with the stores.
    public var parent: ManagedObjectContext? { parentStore.context }

    /// Whether the context is at a point in the past, from which its changes start: until it saves,
    /// merges everything or is held to a query generation. See
    /// ``PersistentContainer/speculativeContext(at:)``.
    public var isSpeculative: Bool { parentStore.isSpeculative }

    /// Records that children may now read something else.
    func advanceRevision() { news.advanceRevision() }

    /// Where the last save met others' changes of attributes that merge: what the context had read and
    /// wanted, what the others had made of it, and what was written. Its objects have the values that
    /// were written.
    public var mergedValues: [MergedValue] { terms.mergedValues }

    /// Whether the context reads a point in the past, so that nothing in it can be saved.
    var isReadOnly: Bool { readingMode != .latest }

    /// Whether any object has been inserted, edited or deleted since the last save, here or, of the
    /// objects in use here, in a save that was merged by its notification; or a relationship was set
    /// to an object of another store, or to one that is deleted, which the next save refuses.
    public var hasChanges: Bool {
        assertOnQueue()
        return journal.net.contains { !$0.isAnnihilated }
            || journal.records.contains { $0.kind != .nothing } || terms.hasRefusedReferences
            || deletedByMerges.contains { _ in true }
    }

    /// The objects that are registered and still alive, in no order.
    public var registeredObjects: Set<ManagedObject> {
        assertOnQueue()
        return Set(registry.objects)
    }

    /// The objects the next save will insert.
    public var insertedObjects: Set<ManagedObject> { changedObjects { $0.isInserted } }

    /// The objects the next save will update.
    public var updatedObjects: Set<ManagedObject> { changedObjects { $0.isUpdated } }

    /// The objects the next save will delete, and those in use here that were deleted by a save merged
    /// by its notification since the last save; an object that was never saved is not among them.
    public var deletedObjects: Set<ManagedObject> {
        changedObjects { $0.status.isPendingDelete && !$0.status.isTemporary }
            .union(deletedByMerges)
    }

    private func changedObjects(_ isWanted: (ManagedObject) -> Bool) -> Set<ManagedObject> {
        assertOnQueue()
        var found = Set(journal.net.lazy.map(\.object).filter(isWanted))
        for record in journal.records where record.kind != .nothing && isWanted(record.object) {
            found.insert(record.object)
        }
        return found
    }
}
