// The room of projecting: what a program folds out of the journal and keeps in the same file, with how far it
// has come. It reads entries through the room of following, and writes only what folds have made of them.

public import DaybookJournalLog
public import DaybookSnapshotStore
import Foundation

/// What a fold of a program's own makes of the journal: a durable dictionary, kept in the store.
///
/// ```swift
/// let balances = try store.project("balances", as: [String: Decimal].self) { entry, state in
///     for change in entry.changes(of: Posting.self) where change.kind == .inserted {
///         let account = change.new(\Posting.account) ?? "unknown"
///         state[account, default: 0] += change.new(\Posting.amount) ?? 0
///     }
/// }
/// try balances.catchUp()
/// let cash = try balances.read { state, at in try state["cash"] }
/// ```
///
/// The fold gets every entry exactly once, in order. What it changes in the state is kept in the same write as how
/// far it has come, a page of entries at a time. Any number of programs may run one projection: each page is kept by
/// the one that is first, and the others go on from there.
///
/// The fold must come to the same whenever it is given the same entries: it may depend on the entry and the state,
/// and on nothing else, and it may not use the store. While it works on a page no other thread can enlarge the
/// memory map of the file, so it computes and does not wait. What it has set it sees as it has set it until the page
/// ends, and from then on as `Codable` gives it back.
///
/// - Precondition: A fold writes nothing to the store: it neither saves nor makes objects in a context, sets cursors or
///   moves projections. Doing so stops the program.
///
/// A fold with a higher version builds a new state beside the one of before, which is read until the new one has
/// come as far, and is then replaced in one write. Any thread may use a projection.
public struct JournalProjection<Key: ProjectionKey, Value: Codable & Sendable>: Sendable {
    /// What is done with each entry.
    public typealias Fold =
        @Sendable (FollowedEntry, inout ProjectionState<Key, Value>) throws -> Void

    /// The name.
    public let name: String
    /// The version of the fold.
    public let version: Int
    /// The store.
    public let store: PersistentStore
    private let filter: ResolvedEntryFilter
    private let model: GraphModel
    private let fold: Fold

    init(
        _ name: String, version: Int, in store: PersistentStore, _ filter: ResolvedEntryFilter,
        _ model: GraphModel, _ fold: @escaping Fold
    ) {
        self.name = name
        self.version = version
        self.store = store
        self.filter = filter
        self.model = model
        self.fold = fold
    }

    // MARK: - Folding

    /// Folds all entries that have not been folded yet.
    ///
    /// It goes on from page to page up to the last entry that there was at the begin, so that each page that is done
    /// stays done.
    ///
    /// - Returns: The entry behind which the state stands that is read now.
    /// - Throws: ``StoreError`` with code `foldFailed`, and the fold's own error as its cause, when the fold throws;
    ///   with `unreadableValue` when it reads what is not of its types; with `projectionSuperseded` when a program
    ///   with a higher version has taken over; with `readOnly`, `closed`, `busy`, `full`, `replaced`, `generation`,
    ///   `inputOutput`, or `corrupt` when an entry cannot be trusted. The state and its place are then as they were
    ///   before the page.
    /// - Complexity: O(*b* + *k* log *n*) page reads and writes, *b* the pages of the entries, *k* the number of keys
    ///   that are used; one durable write for each 256 KiB of entries, or each 50 ms of folding. While it follows the
    ///   journal, ``updates()`` makes one for each save.
    @discardableResult
    public func catchUp() throws(StoreError) -> SequenceNumber {
        try run(rebuilding: false)
    }

    /// Folds the whole journal again into a new state beside the present one, which is read until the new one takes
    /// its place in one write.
    ///
    /// If the program ends in between, ``catchUp()`` goes on with it, once the state that is read has come as far as the
    /// journal, or at once where that was folded out of entries that are gone. Calling this again begins anew.
    ///
    /// - Returns: The entry behind which the state stands then.
    /// - Throws: As ``catchUp()``; also with `projectionSuperseded` when a newer version began its own state meanwhile.
    /// - Complexity: As ``catchUp()`` for all entries; the state of before is removed in writes of a bounded size.
    @discardableResult
    public func rebuild() throws(StoreError) -> SequenceNumber {
        let begun = try store.store.refusing {
            try store.whileNotMoving {
                try store.store.beginState(of: name, version: version, Key.projectionKeyForm)
            }
        }
        let reached = try run(rebuilding: true)
        if let begun {
            try store.store.refusing { try store.store.checkReplaced(by: begun, name, version) }
        }
        return reached
    }

    private func run(rebuilding: Bool) throws(StoreError) -> SequenceNumber {
        var work = ProjectionWork(self, rebuilding: rebuilding)
        while try work.step() == .went {}
        return try position()
    }

    /// The entry behind which the state stands that is read now; zero when nothing has been folded.
    ///
    /// - Throws: ``StoreError`` when the store cannot be read; with code `generation` when the journal does not have
    ///   that entry any more.
    /// - Complexity: O(log *n*) page reads.
    public func position() throws(StoreError) -> SequenceNumber {
        try generation()?.place.sequence ?? .zero
    }

    /// The state that is read now; nil when there is none yet.
    func generation() throws(StoreError) -> StateGeneration? {
        try store.store.refusing { try store.store.readState(of: name) { $0.generation } }
    }

    // MARK: - Reading

    /// Runs `body` on the state, as it is at one entry.
    ///
    /// Programs that have the store open for reading only may do so as well. It does not fold what has been saved
    /// since; ``catchUp()`` does.
    ///
    /// - Parameter body: Takes the state, which is valid only inside, and the entry behind which it stands: zero
    ///   when nothing has been folded. It should be short, because the file cannot reuse pages meanwhile, and must not
    ///   wait for another thread that uses the store.
    /// - Precondition: `body` writes nothing to the store: it neither saves nor makes objects in a context, which may
    ///   take numbers from the store, nor sets cursors or moves projections. Doing so stops the program.
    /// - Returns: What `body` returns.
    /// - Throws: ``StoreError`` when the store cannot be read; with code `unreadableValue` when the keys are of another
    ///   form; with `generation` when the state was folded out of entries that the journal does not have any more;
    ///   what `body` throws.
    /// - Complexity: O(log *n*) page reads, apart from those of `body`.
    public func read<Result>(
        _ body: (borrowing ProjectionSnapshot<Key, Value>, SequenceNumber) throws -> Result
    ) throws -> Result {
        try store.store.readState(of: name) { reader in
            let place = reader.generation?.place.sequence ?? .zero
            try reader.generation?.check(Key.projectionKeyForm, of: name)
            return try body(ProjectionSnapshot(reader, StateCoding(name, in: store)), place)
        }
    }

    /// The value under a key; nil when there is none.
    ///
    /// - Parameter key: The key.
    /// - Returns: The value, as it was kept last.
    /// - Throws: ``StoreError`` with code `unreadableValue` when key or value are of other types; as
    ///   ``read(_:)``.
    /// - Complexity: O(log *n*) page reads.
    public func value(for key: Key) throws(StoreError) -> Value? {
        try store.store.refusing { try read { state, _ in try state[key] } }
    }

    // MARK: - One page

    /// The entries after a place.
    func entries(after place: JournalPlace) -> EntryReading {
        EntryReading(of: store, after: place, filter, model)
    }

    /// Folds some entries.
    ///
    /// - Parameters:
    ///   - entries: The entries, of which the first are folded: all of them, unless that takes long.
    ///   - end: The place behind them all.
    ///   - task: The state to move.
    /// - Returns: What is to be kept; nil when the state stands elsewhere by now.
    /// - Throws: ``StoreError`` with code `foldFailed` or `unreadableValue`; when the store cannot be read.
    func fold(
        _ entries: [FollowedEntry], through end: JournalPlace, _ task: FoldTask
    ) throws -> StatePage? {
        // A generation that begins is none yet: no number is 0.
        let number = task.generation?.number ?? 0
        return try store.store.readState(of: name, generation: number) { reader in
            guard reader.generation == task.generation else { return nil }
            var state = ProjectionState(reader, StateCoding<Key, Value>(name, in: store))
            let latest = ContinuousClock.now.advanced(by: Self.durationMaximum)
            var reached = end
            for (index, entry) in entries.enumerated() {
                do {
                    try fold(entry, &state)
                } catch {
                    // Where the state cannot be read, not the fold has failed, whatever it made of that.
                    if let failure = state.failure { throw failure }
                    throw StoreError.foldFailed(name, entry.sequence, error)
                }
                if let failure = state.failure { throw failure }
                guard index < entries.count - 1, ContinuousClock.now >= latest else { continue }
                reached = JournalPlace(entry.sequence, entry.digest)
                break
            }
            return StatePage(task, to: reached, try state.changes())
        }
    }

    /// A page is cut short after so long, because no page of the file is reused meanwhile.
    private static var durationMaximum: Duration { .milliseconds(50) }
}

/// Folding, page after page.
struct ProjectionWork<Key: ProjectionKey, Value: Codable & Sendable>: Sendable {
    enum Step: Equatable {
        /// Nothing is left to do.
        case done
        /// Nothing is left of what there was to do when the work began, or was last done; more has been saved since.
        case reached
        /// Something was folded or removed, or another program was faster.
        case went
    }

    private let projection: JournalProjection<Key, Value>
    /// Whether a state that is being built goes before the one that is read.
    private let isRebuilding: Bool
    /// The entries after the place where the last page has ended.
    private var reading: EntryReading?
    /// The last entry when the work began. Without such an end, what others save meanwhile would keep a state that is
    /// being built, and the removal of the one before it, from their turn.
    private var target: SequenceNumber?

    init(_ projection: JournalProjection<Key, Value>, rebuilding: Bool) {
        self.projection = projection
        isRebuilding = rebuilding
    }

    /// Folds one page, or removes some of what has been replaced.
    mutating func step() throws(StoreError) -> Step {
        let store = projection.store
        var (reading, target) = (reading, target)
        defer { (self.reading, self.target) = (reading, target) }
        return try store.store.refusing {
            try store.store.checkIsInPlace()
            let task = try store.store.foldTask(
                of: projection.name, version: projection.version, Key.projectionKeyForm,
                rebuilds: isRebuilding, through: target)
            target = task.target
            guard !task.isDone else {
                if try store.whileNotMoving({ try store.store.removeSomeDiscardedStates() }) {
                    return .went
                }
                target = nil
                return task.head > task.target ? .reached : .done
            }
            if reading?.reached != task.place {
                reading = projection.entries(after: task.place)
            }
            guard let page = try Self.page(&reading, projection, task) else { return .went }
            _ = try store.whileNotMoving { try store.store.keep(page) }
            return .went
        }
    }

    /// Calls `listener` whenever there may be more to fold.
    func watch(_ listener: @escaping @Sendable () -> Void) -> StoreWatch {
        projection.store.store.watch(.everything, listener)
    }

    private static func page(
        _ reading: inout EntryReading?, _ projection: JournalProjection<Key, Value>,
        _ task: FoldTask
    ) throws -> StatePage? {
        guard var pages = reading else { return nil }
        // Pages without a wanted entry are passed together.
        var entries: [FollowedEntry] = []
        var count = 0
        while entries.isEmpty, count < pagesPassedTogether, let more = try pages.next() {
            entries = more
            count += 1
        }
        reading = pages
        return try projection.fold(entries, through: pages.reached, task)
    }

    private static var pagesPassedTogether: Int { 64 }
}

extension StoreError {
    fileprivate static func foldFailed(
        _ name: String, _ sequence: SequenceNumber, _ error: any Error
    ) -> StoreError {
        StoreError(
            .foldFailed,
            "The fold of the projection '\(name)' failed at entry \(sequence): \(error)",
            cause: error)
    }
}
