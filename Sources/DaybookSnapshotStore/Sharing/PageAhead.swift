internal import Dispatch
internal import Synchronization

/// A page of the shared journal that is read while the one before it is folded.
///
/// Whoever comes first reads it, a thread beside or the one that needs it: so nothing waits for a thread to be free.
final class PageAhead: Sendable {
    private let gate: JournalGate
    private let head: SharedHead
    private let isClaimed = Atomic(false)
    private let found = Mutex<Result<SharedPage, SharedJournalError>?>(nil)
    private let isRead = DispatchSemaphore(value: 0)

    /// The page after a place; nothing is read yet.
    init(of gate: JournalGate, after head: SharedHead) {
        self.gate = gate
        self.head = head
    }

    /// Lets it be read on another thread.
    func begin() {
        OtherCores.all.run { [self] in
            guard claim() else { return }
            let page = read()
            found.withLock { $0 = page }
            isRead.signal()
        }
    }

    /// The page; waits until it is read. Once only.
    ///
    /// - Returns: The page.
    /// - Throws: As ``SharedJournal/page(after:bytes:)``.
    func page() throws(SharedJournalError) -> SharedPage {
        if claim() { return try read().get() }
        isRead.wait()
        guard let page = found.withLock(\.self) else { return try read().get() }
        return try page.get()
    }

    /// Sees to it that nobody is reading any more.
    func end() {
        if !claim() { isRead.wait() }
    }

    private func claim() -> Bool {
        isClaimed.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing)
            .exchanged
    }

    private func read() -> Result<SharedPage, SharedJournalError> {
        do throws(SharedJournalError) {
            return .success(
                try gate.reaching { journal throws(SharedJournalError) in
                    try journal.page(after: head, bytes: SharedPage.bytesUsual)
                })
        } catch {
            return .failure(error)
        }
    }
}
