import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Dispatch
import Synchronization

/// How the objects of a request are found for somebody who waits elsewhere than on the context's queue.
enum BackgroundSearch: Sendable {
    /// A store finds them, on any thread, as of an entry, and what was pending is laid over.
    case inStore(PersistentStore, Query, at: SequenceNumber?, PendingOverlay?)
    /// Only the context finds them, on its queue.
    case inContext
}

extension ManagedObjectContext {
    /// How to find the objects of a request as they are now, with what is pending now.
    func search<Object>(for request: FetchRequest<Object>) throws -> BackgroundSearch {
        requireQueue()
        processPendingChanges()
        let stores = try stores(for: request)
        guard parentStore.rowFinder != nil, stores.count == 1, let target = targets(stores).first,
            let store = target.store, case .query(let query) = try plan(request, for: target)
        else { return .inContext }
        let sequence = try parentStore.stateToRead().sequences[store.number]
        guard request.includesPendingChanges, !journal.isAtBase else {
            return .inStore(store, query, at: sequence, nil)
        }
        guard isAnsweredBelow(query, store), let overlay = try overlay(query, store) else {
            return .inContext
        }
        return .inStore(store, query, at: sequence, overlay)
    }
}

/// A search that is under way on a thread of its own, and how far it has come.
final class SearchUnderWay: Sendable {
    /// Has an element after each step; steps that nobody has looked at yet are one.
    let steps: AsyncStream<Void>
    private let toldOfStep: AsyncStream<Void>.Continuation
    private let expected = Atomic(0)
    private let looked = Atomic(0)
    private let isStopped = Atomic(false)
    private let watch = Mutex<ReadWatch?>(nil)
    private let store: PersistentStore
    private let query: Query
    private let sequence: SequenceNumber?
    private let overlay: PendingOverlay?

    /// Nil for a search that only the context can do.
    init?(_ search: BackgroundSearch) {
        guard case .inStore(let store, let query, let sequence, let overlay) = search else {
            return nil
        }
        (self.store, self.query, self.sequence, self.overlay) = (store, query, sequence, overlay)
        (steps, toldOfStep) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// About how many objects have been looked at, and will have been.
    var counts: (looked: Int, expected: Int) {
        (looked.load(ordering: .relaxed), expected.load(ordering: .relaxed))
    }

    /// Ends the search soon; it throws `CancellationError`.
    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        watch.withLock { $0 }?.stop()
    }

    /// Finds the objects on another thread.
    func find() async throws -> [GraphID] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    let found = Result { try self.found() }
                    self.toldOfStep.finish()
                    continuation.resume(with: found)
                }
            }
        } onCancel: {
            stop()
        }
    }

    private func found() throws -> [GraphID] {
        let own = ReadWatch { [weak self] rows in
            guard let self else { return }
            looked.add(rows, ordering: .relaxed)
            toldOfStep.yield()
        }
        watch.withLock { $0 = own }
        if isStopped.load(ordering: .sequentiallyConsistent) { throw CancellationError() }
        let objects = try store.read(at: sequence, watchedBy: own) { snapshot in
            let below = overlay?.below ?? query
            expected.store(try snapshot.expectedCount(of: below), ordering: .relaxed)
            toldOfStep.yield()
            let found = try snapshot.fetch(below)
            return try overlay?.laid(over: found) { try query.keys(of: $0, in: snapshot) } ?? found
        }
        return objects.map { GraphID(store: store.number, object: $0) }
    }
}
