import DaybookObjectModel
import Synchronization

/// What a context reports: to the program about its objects, and to children about what they read here.
///
/// Confined to the context's queue, but for ``revision`` and ``isWatched``.
final class News {
    /// What has happened to objects since it was last posted.
    private var changes = ObjectChanges()
    /// The children that at once merge what the context saves and merges.
    private var followers: [Follower] = []
    /// Objects that merging a notification or identifiers found deleted, until the next save. They are
    /// not kept alive for this.
    private var mergedDeletes: Set<GraphID> = []
    /// Whether a merged deletion counts among the changes of the context.
    private var isMergingSave = false
    private let revisions = Atomic<UInt64>(0)
    /// The lists that are told of changes here.
    private var lists: [ToldList] = []
    /// What the lists have yet to be told.
    private var notices = ListNotices()
    /// Whether lists are told of changes, here or in the children. May be used on any thread.
    let interest = ListInterest()

    /// A child that at once merges what its parent saves and merges.
    private struct Follower {
        weak var context: ManagedObjectContext?
    }

    /// A list that is told of changes as long as somebody holds it.
    private struct ToldList {
        weak var list: (any WatchingList)?
    }

    // MARK: - Objects

    /// Records what has happened to an object.
    func record(_ object: ManagedObject, as kind: ObjectChanges.Kind) {
        changes.record(object, as: kind)
        guard isWatched else { return }
        notices.take(object.graphID, nil, .update)
        if kind == .deleted { notices.keep(object) }
    }

    /// Records a change that was made as a whole.
    func record(_ change: Change, of object: ManagedObject) {
        changes.record(change, of: object)
        guard isWatched else { return }
        notices.take(change, of: object.graphID, object.binding.schema)
        if change.isDelete { notices.keep(object) }
    }

    /// What has happened to objects since this was last called, each in one set; nil for nothing.
    func takeChanges() -> [String: Set<ManagedObject>]? {
        guard !changes.isEmpty else { return nil }
        defer { changes = ObjectChanges() }
        return changes.sets
    }

    // MARK: - Lists

    /// Whether a list is told of what changes, here or in a child. May be read on any thread.
    var isWatched: Bool { interest.isThere }

    /// Starts to tell a list, which is not kept alive for it.
    func add(_ list: any WatchingList) {
        lists.removeAll { $0.list == nil }
        lists.append(ToldList(list: list))
    }

    /// Stops telling a list.
    func remove(_ list: any WatchingList) {
        lists.removeAll { $0.list == nil || $0.list === list }
    }

    /// The lists that somebody holds.
    var liveLists: [any WatchingList] { lists.compactMap(\.list) }

    /// Notes something that lists have to be told.
    func noteForLists(_ note: (inout ListNotices) -> Void) {
        if isWatched { note(&notices) }
    }

    /// Whether the lists have something to be told.
    var hasNotices: Bool { !notices.isEmpty }

    /// What the lists have to be told, once; nil for nothing.
    func takeNotices() -> ListNotices? {
        guard !notices.isEmpty else { return nil }
        defer { notices = ListNotices() }
        return notices
    }

    /// Lets children that follow, and have lists, look again at what has changed here.
    func tellChildrenWithLists(_ notices: @autoclosure () -> NoticesOfParent) {
        guard followers.contains(where: { $0.context?.news.isWatched == true }) else { return }
        let notices = notices()
        for follower in followers {
            guard let child = follower.context, child.news.isWatched else { continue }
            child.perform { [weak child] in child?.lookAgainForLists(at: notices) }
        }
    }

    // MARK: - Deletions that were merged

    /// The objects that merges have found deleted since the last save.
    var deletedByMerges: Set<GraphID> { mergedDeletes }

    /// Merges a save: its deletions then count among the changes here until the next save, as programs
    /// that merge by notification expect.
    func mergingSave<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = isMergingSave
        isMergingSave = true
        defer { isMergingSave = outer }
        return try body()
    }

    /// Records an object that a merge has found deleted; `isInUse` tells whether somebody still uses
    /// one.
    func recordMergedDelete(_ id: GraphID, _ isInUse: (GraphID) -> Bool) {
        guard isMergingSave else { return }
        let count = mergedDeletes.count
        // At each power of two, those that are no longer in use are dropped.
        if count & (count - 1) == 0 { mergedDeletes = mergedDeletes.filter(isInUse) }
        mergedDeletes.insert(id)
    }

    /// Ends, with a save, the time in which merged deletions count as changes.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    func recordSave() -> Bool {
        defer { mergedDeletes.removeAll() }
        return !mergedDeletes.isEmpty
    }

    // MARK: - Children

    /// Increases with everything that changes what children read here. May be read on any thread.
    var revision: UInt64 { revisions.load(ordering: .relaxed) }

    /// Records that children may now read something else.
    func advanceRevision() {
        revisions.wrappingAdd(1, ordering: .relaxed)
    }

    /// Whether any child follows.
    var hasFollowers: Bool { !followers.isEmpty }

    /// Starts or stops a child's following of what changes here.
    func setFollowing(_ isFollowing: Bool, of child: ManagedObjectContext) {
        followers.removeAll { $0.context == nil || $0.context === child }
        if isFollowing { followers.append(Follower(context: child)) }
    }

    /// Makes children that follow merge what has changed.
    func tellFollowers(_ changes: [GraphChange], except saver: ManagedObjectContext? = nil) {
        guard !changes.isEmpty else { return }
        for follower in followers {
            guard let child = follower.context, child !== saver else { continue }
            child.perform { [weak child] in child?.mergeAsTheyCome(changes) }
        }
    }

    // MARK: - Starting over

    /// Forgets what a rollback takes back.
    func rollback() {
        mergedDeletes.removeAll()
        advanceRevision()
    }

    /// Forgets everything to be posted about objects; children still follow.
    func reset() {
        mergedDeletes.removeAll()
        changes = ObjectChanges()
        advanceRevision()
    }
}
