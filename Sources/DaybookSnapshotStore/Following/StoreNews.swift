// The room of following: how a reader learns that there are new entries, whichever process saved them, and
// reads them page by page. It writes nothing, and holds no transaction while a reader works.

internal import DaybookJournalLog
internal import DaybookLMDB
internal import Synchronization

/// Tells listeners that there may be something new in a store, and nothing else: they look themselves.
///
/// What this opening saves it knows at once. What others save it learns from the operating system, while there
/// is a listener; see `FileWatch`.
final class StoreNews: Sendable {
    private struct Listener {
        let interest: StoreWatch.Interest
        let tell: @Sendable () -> Void
    }

    private struct State {
        var next = 0
        var listeners: [Int: Listener] = [:]
        var watch: FileWatch?
        /// The end of the journal that listeners were told of.
        var told = JournalEnd(head: .zero, rewinds: 0)
    }

    private let state = Mutex(State())

    func add(
        _ interest: StoreWatch.Interest, of store: Store, _ tell: @escaping @Sendable () -> Void
    ) -> Int {
        // The file is not read inside the lock, which savers ask for. Where it cannot be read, one notice too many
        // is given, and who looks then meets the error.
        let end = (try? store.end()) ?? JournalEnd(head: .zero, rewinds: 0)
        return state.withLock { state in
            state.next += 1
            state.listeners[state.next] = Listener(interest: interest, tell: tell)
            if state.watch == nil {
                state.told = end
                state.watch = store.watchFile { [weak self, weak store] in
                    guard let self, let store else { return }
                    look(at: store)
                }
            }
            return state.next
        }
    }

    /// Whether there is a listener, for whom the file is watched.
    var isListenedTo: Bool { state.withLock { !$0.listeners.isEmpty } }

    func remove(_ number: Int) {
        // Its end asks for a lock, which is not to be held inside this one for long.
        let watch = state.withLock { state -> FileWatch? in
            state.listeners[number] = nil
            return state.listeners.isEmpty ? state.watch.take() : nil
        }
        withExtendedLifetime(watch) {}
    }

    /// Tells those who want to hear of everything that this opening has saved an entry.
    func tell(of sequence: SequenceNumber) {
        let listeners = state.withLock { state in
            state.told.head = max(state.told.head, sequence)
            return state.listeners.values.filter { $0.interest == .everything }
        }
        for listener in listeners { listener.tell() }
    }

    /// Tells everybody to look: there is an entry, or the store is closed.
    func tellEverybody() {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.tell() }
    }

    /// Looks whether others have saved, or entries were cut off.
    func look(at store: Store) {
        do {
            try store.checkIsInPlace()
            let end = try store.end()
            let isNews = state.withLock { state in
                guard end.isNews(after: state.told) else { return false }
                state.told = end
                return true
            }
            guard isNews else { return }
        } catch {
            // The listeners meet the error themselves when they look.
        }
        tellEverybody()
    }
}

/// A listener that is told when there may be something new in a store; it ends when this object is released.
package final class StoreWatch: Sendable {
    /// What is told.
    package enum Interest: Sendable, Hashable {
        /// Every save, through this opening or another.
        case everything
        /// What other openings and processes have saved. A save through this one may be told as well.
        case others
    }

    private let news: StoreNews
    private let number: Int

    fileprivate init(_ news: StoreNews, _ number: Int) {
        self.news = news
        self.number = number
    }

    deinit {
        news.remove(number)
    }
}

extension Store {
    /// Calls `listener` whenever there may be something new: an entry, one that is gone, the end of this opening, or
    /// another file in the place of the store's.
    ///
    /// What is saved after this has returned is told. The listener is called on the thread that saved or on
    /// one that watches files, with no lock held; it should only make a note, and look later.
    package func watch(
        _ interest: StoreWatch.Interest, _ listener: @escaping @Sendable () -> Void
    ) -> StoreWatch {
        StoreWatch(news, news.add(interest, of: self, listener))
    }
}
