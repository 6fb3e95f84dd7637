internal import Synchronization

/// A page of the shared journal that is read while the one before it is folded.
///
/// Whoever comes first reads it, a thread beside or the one that needs it: so nothing waits for a thread to be free.
final class PageAhead: Sendable {
    private enum State {
        case unread
        case read(Result<SharedPage, SharedJournalError>)
        /// Nobody needs it any more.
        case ended
    }

    private let gate: JournalGate
    private let head: SharedHead
    /// Held by whoever reads it.
    private let state = Mutex(State.unread)

    /// The page after a place; nothing is read yet.
    init(of gate: JournalGate, after head: SharedHead) {
        self.gate = gate
        self.head = head
    }

    /// Lets it be read on another thread.
    func begin() {
        OtherCores.all.run { [self] in
            state.withLock { if case .unread = $0 { $0 = .read(read()) } }
        }
    }

    /// The page; waits until it is read.
    ///
    /// - Returns: The page.
    /// - Throws: As ``SharedJournal/page(after:bytes:)``.
    func page() throws(SharedJournalError) -> SharedPage {
        let page = state.withLock { state in
            if case .read(let page) = state { return page }
            let page = read()
            state = .read(page)
            return page
        }
        return try page.get()
    }

    /// Sees to it that nobody reads it any more.
    func end() { state.withLock { $0 = .ended } }

    private func read() -> Result<SharedPage, SharedJournalError> {
        do throws(SharedJournalError) {
            return .success(
                try gate.asking { journal throws(SharedJournalError) in
                    try journal.page(after: head, bytes: SharedPage.bytesUsual)
                })
        } catch {
            return .failure(error)
        }
    }
}
