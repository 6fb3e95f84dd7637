// The room of reading: what lies under a context, the rows that contexts share, and requests with their
// conditions. It makes objects of what it reads and changes nothing that is pending.

import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// What lies under a context: what it reads from, saves to and follows.
///
/// There are two: the stores of a coordinator (``CoordinatedStores``) and another context
/// (``ParentContext``). Nobody else knows which of them a context has. Past and present are no
/// matter of this seam: ``Snapshot`` answers for both.
///
/// Each context has its own, which keeps what only that context knows: how far it has followed, and
/// which state it is held to. It is used on the queue of its context.
protocol ParentStore: AnyObject, Sendable {
    /// The context that this is, if it is one.
    var context: ManagedObjectContext? { get }

    // MARK: - Reading

    /// The rows that objects share with those of other contexts; nil where they share none.
    var sharedRows: RowCache? { get }
    /// What finds objects together with their rows; nil where rows are asked for one by one.
    var rowFinder: (any RowFinder)? { get }

    /// An object's row; nil when there is no such object. A shared row will do that is no older than
    /// so many seconds, or of any age when that is negative.
    func row(of id: GraphID, within interval: Double) throws -> Row?

    /// The row to make an object of, kept for others as well where rows are shared.
    func row(
        for object: ManagedObject, from source: ReadSource, within interval: Double
    ) throws -> Row?

    /// Whether there is such an object, whatever rows are shared.
    func exists(_ id: GraphID) throws -> Bool

    /// Whether an object is there that is in no store yet. May be asked on any thread.
    func isUnsaved(_ id: GraphID) throws -> Bool

    /// The members of a relationship with their order.
    func members(of property: SchemaProperty, in id: GraphID) throws -> [ObjectID: Double]

    /// The value of a property that is kept.
    func value(of property: SchemaProperty, in id: GraphID) throws -> Value

    /// The objects of a store that a query finds.
    func find(_ query: Query, in store: PersistentStore) throws -> [ObjectID]

    /// How many objects of a store a query finds.
    func count(_ query: Query, in store: PersistentStore) throws -> Int

    /// Why an object's row is not there.
    func absence(of id: GraphID) throws -> StoreError

    /// Reads for several objects: `body` is called for as many of them as can be read at once.
    func readTogether(_ objects: [ManagedObject], _ body: CommonReading) throws

    /// Runs what reads several times, while nobody changes what is read but by a save to a store.
    func inOneTurn<Result>(_ body: () throws -> Result) throws -> Result

    /// An identifier among all stores; nil when it belongs to none of them.
    func graphID(of id: ManagedObjectID) -> GraphID?

    /// What every entry that touched an object did to it, oldest first.
    func history(of id: ManagedObjectID) throws -> [ObjectRevision]

    /// Who made each property of an object what it is.
    func blame(of id: ManagedObjectID) throws -> [PropertyBlame]

    /// Who made one property of an object what it is.
    func blame(of id: ManagedObjectID, property: String) throws -> PropertyBlame

    // MARK: - Positions

    /// The state to which reading is held; nil when the newest is read.
    var generation: QueryGenerationToken? { get }
    /// Whether reading is held to a state.
    var isHeld: Bool { get }
    /// Whether what is changed starts from a point in the past.
    var isSpeculative: Bool { get }

    /// Holds reading to a state; nil for always the newest.
    ///
    /// - Throws: ``StoreError`` with code `generation` where that cannot be chosen.
    func hold(to token: QueryGenerationToken?) throws

    /// Begins anew at what there is now.
    func reset()

    // MARK: - Saving

    /// Whether what is saved becomes entries, which can be undone.
    var keepsEntries: Bool { get }

    /// What others have saved to the same as some changes and the context has not merged.
    func unmergedTouches(
        of changes: [Change], in store: PersistentStore
    ) throws -> [UndoObstacle]

    /// Saves what is pending in a context, and changes nothing there.
    ///
    /// - Parameters:
    ///   - items: What is pending.
    ///   - context: The context that has this under it.
    ///   - attribution: Who saves and why.
    ///   - time: When it happened, in microseconds since 1970; nil for now.
    ///   - undone: The entries that the new one says it undoes; nil for none.
    /// - Returns: What has become of it.
    /// - Throws: As ``ManagedObjectContext/save(author:note:at:)``, where nothing was saved.
    func save(
        _ items: [NetChange], of context: ManagedObjectContext,
        _ attribution: Attribution, at time: Int64?,
        undoing undone: ClosedRange<SequenceNumber>?
    ) throws -> SaveOutcome

    /// Writes what is kept about stores and waits for a save, though nothing is pending.
    func saveNothing() throws

    /// Looks what a save of a context would come to.
    func preview(_ context: ManagedObjectContext, into preview: inout SavePreview) throws

    // MARK: - What others have changed

    /// Whether others may have changed something that the context has not taken in.
    var mayHaveNews: Bool { get }

    /// Whether anything has changed here, or in what lies under this, that has not been taken in above
    /// it.
    func hasMoved() throws -> Bool

    /// Lets the context take in what others have changed, up to an entry of the first store; all of
    /// it when nil.
    ///
    /// - Returns: Pending edits that collided, with those of which nobody was told before.
    func merge(
        through sequence: SequenceNumber?, into context: ManagedObjectContext
    ) throws -> [MergeConflict]

    /// Lets the context take in what a notification tells of the save of another.
    ///
    /// - Returns: As ``merge(through:into:)``.
    func merge(
        saved information: [AnyHashable: Any], into context: ManagedObjectContext
    ) throws -> [MergeConflict]

    /// Whether the context takes in what others change as they change it.
    var isFollowing: Bool { get }

    /// Begins or ends to let the context take in what others change as they change it.
    func follow(_ isFollowing: Bool, for context: ManagedObjectContext)

    /// Whether an object that is a fault here was known before an entry of others inserted it.
    func knewFault(_ id: GraphID, before sequence: SequenceNumber?) -> Bool

    // MARK: - Stores that come and go

    /// Takes in a store that was added.
    func add(_ store: PersistentStore, for context: ManagedObjectContext)

    /// Follows a store no more that was removed.
    func remove(_ store: PersistentStore)

    /// Goes on with a store at another place.
    func replace(
        _ old: PersistentStore, with store: PersistentStore, for context: ManagedObjectContext)
}

/// What reads rows and members of several objects at once, and of those to which they lead.
typealias CommonReading = (
    _ objects: [ManagedObject], _ row: (GraphID) throws -> Row?,
    _ members: (SchemaProperty, GraphID) throws -> [ObjectID: Double]
) throws -> Void

/// An entry that a save has made.
typealias SavedEntry = (store: UInt32, sequence: SequenceNumber)

/// Where a row may come from when a fault fires.
enum ReadSource {
    /// From the store, or from another context that holds it.
    case anywhere
    /// From the store.
    case store
}

/// What finds objects together with their rows, so that one read brings both.
protocol RowFinder: AnyObject {
    /// Hands out the rows of a store that a query finds, many at a time.
    func forEachRows(
        of query: Query, in store: PersistentStore, _ body: (EncodedRows) throws -> Void) throws
}
