internal import Dispatch

/// The right to open tables after the file: LMDB allows that to one transaction at a time.
///
/// Its holder waits for no reader and for no write, because a thread inside a read may wait for it.
final class TableOpening: Sendable {
    private let free = DispatchSemaphore(value: 1)

    /// Waits until no transaction opens a table.
    func take() {
        free.wait()
    }

    func giveBack() {
        free.signal()
    }
}
