// The room of reading: the parent stores of contexts, the rows that contexts share, and the objects made from
// them. It changes nothing that is pending.

import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore

/// What lies under a context: what it reads from, saves to and follows.
///
/// There are two: the stores of a coordinator (``CoordinatedStores``) and another context
/// (``ParentContext``). No other code knows which of them a context has. Past and present make no
/// difference here: ``Snapshot`` serves both.
///
/// Each context has its own parent store, which keeps what is particular to that context: how far it has
/// followed, and which state it is held to. It is used on the queue of its context.
protocol ParentStore: AnyObject, Sendable {
    /// The parent context; nil when this is not one.
    var context: ManagedObjectContext? { get }

    // MARK: - Reading

    /// The rows shared with other contexts; nil where none are shared.
    var sharedRows: RowCache? { get }
    /// Finds objects together with their rows; nil where rows are read one by one.
    var rowFinder: (any RowFinder)? { get }

    /// An object's row; nil when there is no such object. A shared row will do if it is not older than
    /// the interval in seconds; a negative interval allows any age.
    func row(of id: GraphID, within interval: Double) throws -> Row?

    /// The row to make an object from, kept for others as well where rows are shared.
    func row(
        for object: ManagedObject, from source: ReadSource, within interval: Double
    ) throws -> Row?

    /// Whether there is such an object, without regard to shared rows.
    func exists(_ id: GraphID) throws -> Bool

    /// Whether there is an object that is in no store yet. May be called on any thread.
    func isUnsaved(_ id: GraphID) throws -> Bool

    /// Whether a query may find an object: whether there is one, whatever has been read of it under the context.
    func isFound(_ id: GraphID) throws -> Bool

    /// The members of a relationship with their order, as its owner shows them.
    func members(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers

    /// The members of a relationship with their order, as a query sees them: whatever has been read of it under the
    /// context.
    func freshMembers(of property: SchemaProperty, in id: GraphID) throws -> RelationMembers

    /// The value of a stored property.
    func value(of property: SchemaProperty, in id: GraphID) throws -> Value

    /// The objects of a store that a query finds.
    func find(_ query: Query, in store: PersistentStore) throws -> [ObjectID]

    /// How many objects of a store a query finds.
    func count(_ query: Query, in store: PersistentStore) throws -> Int

    /// How many objects of a store a query finds that are not among some others, whatever its offset and
    /// limit.
    func count(
        _ query: Query, without others: [ObjectID], in store: PersistentStore
    ) throws -> Int

    /// How a query of a store is carried out, in one line for people.
    func explanation(of query: Query, in store: PersistentStore) throws -> String

    /// Whether what is asked about the saved past of an object holds.
    func holds(_ question: FilterPast, of id: GraphID) throws -> Bool

    /// The saved changes of some objects of a store that meet any of some questions.
    func changes(
        meeting questions: [FilterChange], of objects: [ObjectID], in store: PersistentStore
    ) throws -> [FoundChange]

    /// Why an object has no row.
    func absence(of id: GraphID) throws -> StoreError

    /// What happened to objects when one was deleted, which is gone; nothing when there never was such an object.
    func changesOfDelete(of id: GraphID) throws -> [Change]

    /// Reads for several objects: `body` is called for as many of them as can be read at once.
    func readTogether(_ objects: [ManagedObject], _ body: CommonReading) throws

    /// Runs code that reads several times, while nothing but a save to a store changes what it reads.
    func inOneTurn<Result>(_ body: () throws -> Result) throws -> Result

    /// The state that a read sees now.
    func stateToRead() throws -> ReadState

    /// Runs code that reads the stores as they are in a state, whatever is saved meanwhile. It must not
    /// call the program.
    func reading<Result>(_ state: ReadState, _ body: () throws -> Result) throws -> Result

    /// Runs code whose reads of the stores a watch counts, and may end.
    func watching<Result>(_ watch: ReadWatch, _ body: () throws -> Result) throws -> Result

    /// Whether entries behind a state have been merged, or are as they are saved.
    func mayHaveMerged(after state: ReadState) -> Bool

    /// The identifier among all stores; nil when it belongs to none of them.
    func graphID(of id: ManagedObjectID) -> GraphID?

    /// What every entry that touched an object did to it, oldest first.
    func history(of id: ManagedObjectID) throws -> [ObjectRevision]

    /// Who last changed each property of an object.
    func blame(of id: ManagedObjectID) throws -> [PropertyBlame]

    /// Who last changed one property of an object.
    func blame(of id: ManagedObjectID, property: String) throws -> PropertyBlame

    // MARK: - Positions

    /// The state to which reading is held; nil when it reads the newest.
    var generation: QueryGenerationToken? { get }
    /// Whether reading is held to a state.
    var isHeld: Bool { get }
    /// Whether changes start from a point in the past.
    var isSpeculative: Bool { get }

    /// Holds reading to a state; nil for always the newest.
    ///
    /// - Throws: ``StoreError`` with code `generation` where that cannot be chosen.
    func hold(to token: QueryGenerationToken?) throws

    /// Starts again from the newest state.
    func reset()

    // MARK: - Saving

    /// Whether saves become entries, which can be undone.
    var keepsEntries: Bool { get }

    /// What others have saved to the same objects as some changes, and the context has not merged.
    func unmergedTouches(
        of changes: [Change], in store: PersistentStore
    ) throws -> [UndoObstacle]

    /// Saves what is pending in a context, and changes nothing there.
    ///
    /// - Parameters:
    ///   - items: The pending changes.
    ///   - context: The context that this belongs to.
    ///   - attribution: Who saves and why.
    ///   - time: When it happened, in microseconds since 1970; nil for now.
    ///   - undone: The entries that the new one undoes; nil for none.
    /// - Returns: What has become of it.
    /// - Throws: As ``ManagedObjectContext/save(author:note:info:at:)``, where nothing was saved.
    func save(
        _ items: [NetChange], of context: ManagedObjectContext,
        _ attribution: Attribution, at time: Int64?,
        undoing undone: ClosedRange<SequenceNumber>?
    ) throws -> SaveOutcome

    /// Writes metadata of stores that waits for a save, though nothing is pending.
    func saveNothing() throws

    /// Finds out what a save of a context would come to.
    func preview(_ context: ManagedObjectContext, into preview: inout SavePreview) throws

    // MARK: - What others have changed

    /// Whether others may have changed something that the context has not merged.
    var mayHaveNews: Bool { get }

    /// Whether anything has changed here, or further down, that has not been merged above it.
    func hasMoved() throws -> Bool

    /// Merges what others have changed into the context, up to an entry of the first store; all of it
    /// when nil.
    ///
    /// - Returns: Pending edits that collided, with those that have not been reported before.
    func merge(
        through sequence: SequenceNumber?, into context: ManagedObjectContext
    ) throws -> [MergeConflict]

    /// Merges the save that a notification reports into the context.
    ///
    /// - Returns: As ``merge(through:into:)``.
    func merge(
        saved information: [AnyHashable: Any], into context: ManagedObjectContext
    ) throws -> [MergeConflict]

    /// Whether the context merges what others change as they change it.
    var isFollowing: Bool { get }

    /// Starts or stops merging what others change as they change it.
    func follow(_ isFollowing: Bool, for context: ManagedObjectContext)

    /// Whether an object that is a fault here was known before an entry of others inserted it.
    func knewFault(_ id: GraphID, before sequence: SequenceNumber?) -> Bool

    // MARK: - Stores that come and go

    /// Follows a store that was added.
    func add(_ store: PersistentStore, for context: ManagedObjectContext)

    /// Stops following a store that was removed.
    func remove(_ store: PersistentStore)

    /// Continues with a store at another location.
    func replace(
        _ old: PersistentStore, with store: PersistentStore, for context: ManagedObjectContext)
}

/// Reads rows and members of several objects at once, and of the objects that they lead to.
typealias CommonReading = (
    _ objects: [ManagedObject], _ rows: ReadingOfRows,
    _ members: (SchemaProperty, GraphID) throws -> RelationMembers
) throws -> Void

/// Passes on the rows that some objects have, each with those that were read together with it and are
/// shared together.
typealias ReadingOfRows = (
    _ ids: [GraphID], _ take: (GraphID, Row, RowPage?) -> Void
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

/// The last entry that is seen of each store, by the number of the store.
struct ReadState: Sendable {
    let sequences: [UInt32: SequenceNumber]
}

/// Finds objects together with their rows, so that one read brings both.
protocol RowFinder: AnyObject {
    /// Hands out the rows of a store that a query finds, many at a time.
    func forEachRows(
        of query: Query, in store: PersistentStore, _ body: (EncodedRows) throws -> Void) throws

    /// Whether a page of a query is found without the pages before it.
    func hasPlaces(_ query: Query, in store: PersistentStore) throws -> Bool

    /// Adds the values that an attribute has in all objects of a store that a query finds, whatever its order
    /// and limits.
    func aggregate(
        _ aggregation: inout Aggregation, of property: SchemaProperty, _ query: Query,
        in store: PersistentStore) throws

    /// Puts all objects of a store that a query finds into groups, whatever its order and limits.
    func group(
        _ table: inout GroupTable, by grouping: Grouping, _ query: Query, in store: PersistentStore
    ) throws

    /// The values at the ends of some paths, of the objects of a store that a query finds, in its order.
    func values(
        at paths: [FilterPath], of query: Query, in store: PersistentStore
    ) throws -> [[Value]]
}
