import DaybookJournalLog
import DaybookObjectModel
public import DaybookSnapshotStore

/// The entries of a store, one after the other, and each new one as soon as it is saved, whoever saves it: a
/// context, another coordinator or another process.
///
/// ```swift
/// for try await entry in store.changes(since: .head, where: .all.of(Employee.self)) {
///     print(entry.sequence, entry.changes.map(\.objectID))
/// }
/// ```
///
/// Entries are read from the file when the loop gets to them, a page at a time. So a loop that is slow costs those
/// who save nothing, no transaction is open while it works, and it may save to the store that it follows. It
/// then gets its own entries as well; ``EntryFilter/notBy(_:)`` leaves them out.
///
/// None is skipped, and none comes twice. When the next one cannot be told, because the store was closed, or its
/// file was replaced or restored to an earlier state, the loop throws. It ends when its task is cancelled.
/// The sequence may be iterated more than once; each iteration begins at its start.
public struct StoreChanges: AsyncSequence, Sendable {
    /// An entry.
    public typealias Element = FollowedEntry
    /// Why there is no next entry.
    public typealias Failure = StoreError

    private let reading: EntryReading

    init(_ reading: EntryReading) {
        self.reading = reading
    }

    /// Begins to follow.
    public func makeAsyncIterator() -> Iterator { Iterator(reading) }

    /// Takes entries, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private var reading: EntryReading
        /// Entries that have been read, the next one last.
        private var page: [FollowedEntry] = []
        private var isEnded = false
        /// Told when there may be more.
        private let mailbox = ResultsMailbox<Bool> { _, _ in true }
        private var watch: StoreWatch?

        fileprivate init(_ reading: EntryReading) {
            self.reading = reading
        }

        /// The next entry, as soon as there is one; nil when the task is cancelled.
        ///
        /// - Throws: ``StoreError`` with code `closed`, `replaced` or `generation`, or `corrupt` when an entry
        ///   cannot be trusted. The iteration is over then.
        public mutating func next() async throws(StoreError) -> FollowedEntry? {
            try await next(isolation: nil)
        }

        /// As ``next()``, on an actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StoreError) -> FollowedEntry? {
            while !isEnded {
                if Task.isCancelled { break }
                if let entry = page.popLast() { return entry }
                // A save from here on is either read below or told.
                begin()
                _ = mailbox.takeWaiting()
                do throws(StoreError) {
                    guard let more = try reading.next() else {
                        if await mailbox.next() == nil { break }
                        continue
                    }
                    page = more.reversed()
                } catch {
                    end()
                    throw error
                }
                if page.isEmpty { await Task.yield() }
            }
            end()
            return nil
        }

        private mutating func begin() {
            guard watch == nil else { return }
            watch = reading.watch { [mailbox] in mailbox.put(true) }
        }

        private mutating func end() {
            isEnded = true
            page = []
            watch = nil
        }
    }
}

/// The entries of a store that a filter selects, read a page at a time.
struct EntryReading: Sendable {
    private let store: PersistentStore
    private let model: GraphModel
    private let filter: ResolvedEntryFilter
    private var pages: JournalPages

    init(
        of store: PersistentStore, after place: JournalPlace, _ filter: EntryFilter
    ) throws {
        let model = try store.graphModel()
        self.init(of: store, after: place, try filter.resolved(in: store, model), model)
    }

    init(
        of store: PersistentStore, after place: JournalPlace, _ filter: ResolvedEntryFilter,
        _ model: GraphModel
    ) {
        self.store = store
        self.model = model
        self.filter = filter
        pages = JournalPages(of: store.store, after: place)
    }

    /// How far has been read.
    var reached: JournalPlace { pages.reached }

    /// The selected entries among the next ones up to `last`, of which there may be none; nil at the end.
    mutating func next(through last: SequenceNumber? = nil) throws(StoreError) -> [FollowedEntry]? {
        var pages = pages
        let entries = try store.store.refusing { try pages.next(through: last) }
        self.pages = pages
        guard !entries.isEmpty else { return nil }
        return entries.compactMap { entry in
            filter.selected(of: entry, in: model.schema).map {
                FollowedEntry(entry, $0, in: store, model)
            }
        }
    }

    /// Calls `listener` whenever there may be more.
    func watch(_ listener: @escaping @Sendable () -> Void) -> StoreWatch {
        store.store.watch(.everything, listener)
    }
}
