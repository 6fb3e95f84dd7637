internal import DaybookJournalLog
internal import Synchronization

/// Tells listeners that there are new entries, and up to which number.
///
/// It keeps nothing else: listeners read the entries themselves. So a slow reader costs nothing,
/// and no listener is called while a lock or an LMDB transaction is held.
final class CommitFeed: Sendable {
    private struct State {
        var next = 0
        var listeners: [Int: @Sendable (SequenceNumber) -> Void] = [:]
    }

    private let state = Mutex(State())

    func add(_ listener: @escaping @Sendable (SequenceNumber) -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in state.listeners[number] = nil }
    }

    /// Calls every listener, in the order in which they subscribed.
    func publish(_ sequence: SequenceNumber) {
        let listeners = state.withLock { state in
            state.listeners.isEmpty
                ? [] : state.listeners.sorted { $0.key < $1.key }.map(\.value)
        }
        for listener in listeners { listener(sequence) }
    }
}

/// A subscription to new entries; it ends when this object is released or ``cancel()`` is called.
package final class Subscription: Sendable {
    private let feed: CommitFeed
    private let number: Int

    init(to feed: CommitFeed, _ listener: @escaping @Sendable (SequenceNumber) -> Void) {
        self.feed = feed
        number = feed.add(listener)
    }

    deinit {
        feed.remove(number)
    }

    /// Ends the subscription. A call under way on another thread may still finish.
    package func cancel() {
        feed.remove(number)
    }
}
