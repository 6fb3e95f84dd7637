public import DaybookJournalLog
public import DaybookSnapshotStore

extension JournalProjection {
    /// Folds what has been saved and then each new entry as soon as it is saved, by whatever process.
    ///
    /// ```swift
    /// for try await entry in balances.updates() {
    ///     print("up to entry \(entry)")
    /// }
    /// ```
    ///
    /// - Returns: A sequence for a loop; nothing is folded before.
    public func updates() -> ProjectionUpdates<Key, Value> { ProjectionUpdates(self) }
}

/// The entries behind which the state of a projection stands, one after the other, while it is kept up to date.
///
/// The loop does the folding: while it works on something else nothing is folded, and then everything at once. It
/// ends when its task is cancelled. The sequence may be iterated more than once. An entry comes again when a state that
/// was built anew has taken the place of the one before; a state of an older version is not told.
public struct ProjectionUpdates<Key: ProjectionKey, Value: Codable & Sendable>: AsyncSequence,
    Sendable
{
    /// The entry behind which the state stands.
    public typealias Element = SequenceNumber
    /// Why the state cannot be moved on.
    public typealias Failure = StoreError

    private let projection: JournalProjection<Key, Value>

    init(_ projection: JournalProjection<Key, Value>) {
        self.projection = projection
    }

    /// Begins to fold.
    public func makeAsyncIterator() -> Iterator { Iterator(projection) }

    /// Folds entries, a page after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let projection: JournalProjection<Key, Value>
        private var work: ProjectionWork<Key, Value>
        private var told: (state: UInt32, entry: SequenceNumber)?
        private var isEnded = false
        /// Told when there may be more.
        private let mailbox = ResultsMailbox<Bool> { _, _ in true }
        private var watch: StoreWatch?

        fileprivate init(_ projection: JournalProjection<Key, Value>) {
            self.projection = projection
            work = ProjectionWork(projection, rebuilding: false)
        }

        /// The entry behind which the state stands once it has moved; nil when the task is cancelled.
        ///
        /// - Throws: ``StoreError`` as ``JournalProjection/catchUp()``. The iteration is over then.
        public mutating func next() async throws(StoreError) -> SequenceNumber? {
            try await next(isolation: nil)
        }

        /// As ``next()``, on an actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StoreError) -> SequenceNumber? {
            while !isEnded, !Task.isCancelled {
                // A save from here on is either folded below or told.
                begin()
                _ = mailbox.takeWaiting()
                do throws(StoreError) {
                    let step = try work.step()
                    if let position = try untold() { return position }
                    if step == .done, await mailbox.next() == nil { break }
                } catch {
                    end()
                    throw error
                }
                await Task.yield()
            }
            end()
            return nil
        }

        /// Behind which entry the state stands, unless that has been told.
        private mutating func untold() throws(StoreError) -> SequenceNumber? {
            let state: StateGeneration?
            do throws(StoreError) {
                state = try projection.generation()
            } catch  where error.code == .generation {
                // Of entries that are gone, while another is built in its place.
                return nil
            }
            guard (state?.version ?? projection.version) == projection.version else { return nil }
            let now = (state: state?.number ?? 0, entry: state?.place.sequence ?? .zero)
            if let told, told == now { return nil }
            told = now
            return now.entry
        }

        private mutating func begin() {
            guard watch == nil else { return }
            watch = work.watch { [mailbox] in mailbox.put(true) }
        }

        private mutating func end() {
            isEnded = true
            watch = nil
        }
    }
}
