import DaybookObjectModel
import Synchronization

/// What a context has to tell: the program of its objects, and children of what they read here.
///
/// Confined to the context's queue, but for ``revision``.
final class News {
    /// What has happened to objects since that was last told.
    private var changes = ObjectChanges()
    /// The children that take in at once what the context saves and merges.
    private var followers: [Follower] = []
    /// Objects that merging a notification or identifiers found deleted, until the next save. They are
    /// not kept alive for that.
    private var mergedDeletes: Set<GraphID> = []
    /// Whether what is merged counts among the changes of the context where it is a deletion.
    private var isMergingSave = false
    private let revisions = Atomic<UInt64>(0)

    /// A child that takes in at once what its parent saves and merges.
    private struct Follower {
        weak var context: ManagedObjectContext?
    }

    // MARK: - Objects

    /// Notes what has happened to an object.
    func note(_ object: ManagedObject, as kind: ObjectChanges.Kind) {
        changes.note(object, as: kind)
    }

    /// Notes a change that was made as a whole.
    func note(_ change: Change, of object: ManagedObject) {
        changes.note(change, of: object)
    }

    /// What has happened to objects since this was last asked, each in one set; nil for nothing.
    func takeChanges() -> [String: Set<ManagedObject>]? {
        guard !changes.isEmpty else { return nil }
        defer { changes = ObjectChanges() }
        return changes.sets
    }

    // MARK: - Deletions that were merged

    /// The objects that merges have found deleted since the last save.
    var deletedByMerges: Set<GraphID> { mergedDeletes }

    /// Merges what somebody has saved: what it deleted then counts among the changes here until the
    /// next save, as programs that merge by notification expect.
    func mergingSave<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = isMergingSave
        isMergingSave = true
        defer { isMergingSave = outer }
        return try body()
    }

    /// Notes an object that a merge has found deleted; `isInUse` says whether somebody still uses one.
    func noteMergedDelete(_ id: GraphID, _ isInUse: (GraphID) -> Bool) {
        guard isMergingSave else { return }
        let count = mergedDeletes.count
        // At each power of two those that nobody uses any more are dropped.
        if count & (count - 1) == 0 { mergedDeletes = mergedDeletes.filter(isInUse) }
        mergedDeletes.insert(id)
    }

    /// Ends, with a save, the time in which merged deletions count as changes.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    func noteSave() -> Bool {
        defer { mergedDeletes.removeAll() }
        return !mergedDeletes.isEmpty
    }

    // MARK: - Children

    /// Rises with everything that changes what children read here. May be asked on any thread.
    var revision: UInt64 { revisions.load(ordering: .relaxed) }

    /// Notes that children may read something else than before.
    func noteRevision() {
        revisions.wrappingAdd(1, ordering: .relaxed)
    }

    /// Whether anybody follows.
    var hasFollowers: Bool { !followers.isEmpty }

    /// Begins or ends to let a child take in at once what changes here.
    func setFollowing(_ isFollowing: Bool, of child: ManagedObjectContext) {
        followers.removeAll { $0.context == nil || $0.context === child }
        if isFollowing { followers.append(Follower(context: child)) }
    }

    /// Lets children that follow take in what has changed.
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
        noteRevision()
    }

    /// Forgets all that was to be told of objects; children still follow.
    func reset() {
        mergedDeletes.removeAll()
        changes = ObjectChanges()
        noteRevision()
    }
}
