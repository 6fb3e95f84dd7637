internal import CDaybookLMDB
internal import Foundation
internal import Synchronization

/// One byte of a lock file, held by one thread of one process at a time.
///
/// The kernel's lock belongs to the process. On its own it would let in another thread of the same
/// process, which would release what the first one holds.
final class ByteLock: Sendable {
    private let descriptor: Int32
    private let file: FilePath
    private let offset: Int64
    private let deed: LockObstacle.Deed
    private let held = Mutex(false)

    /// The lock on a byte.
    ///
    /// - Parameters:
    ///   - offset: The byte.
    ///   - descriptor: The lock file.
    ///   - file: The data file it belongs to.
    ///   - deed: What is done by those who hold it.
    init(_ offset: Int64, of descriptor: Int32, _ file: FilePath, _ deed: LockObstacle.Deed) {
        self.offset = offset
        self.descriptor = descriptor
        self.file = file
        self.deed = deed
    }

    /// Whether a thread of this process holds the lock, so that no other process does.
    var isHeld: Bool { held.withLock(\.self) }

    /// Takes the lock as soon as nobody holds it.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/locked`` when that takes too long.
    func take(_ wait: LockWait) throws(LMDBError) {
        var wait = wait
        while try !tryToTake() {
            if let end = wait.pauseOrEnd() { throw .locked(file.name, by: obstacle, end) }
        }
    }

    /// Takes the lock unless somebody holds it.
    func tryToTake() throws(LMDBError) -> Bool {
        try held.withLock { isHeld throws(LMDBError) -> Bool in
            guard !isHeld else { return false }
            let number = daybook_lock(descriptor, daybook_exclusive, offset, 1)
            switch number {
            case 0: isHeld = true
            case EAGAIN, EACCES: break
            default: throw .status(number, "locking '\(file.lockPath)'")
            }
            return isHeld
        }
    }

    /// Takes the lock, for a caller that is retried as a whole while another holds it.
    func takeNow() throws(LMDBError) {
        guard try tryToTake() else { throw .held(by: obstacle) }
    }

    func giveBack() {
        held.withLock { isHeld in
            let number = daybook_lock(descriptor, daybook_unlocked, offset, 1)
            assert(number == 0)
            isHeld = false
        }
    }

    /// Waits until no other process holds the lock; one may take it right afterwards.
    func awaitFree(_ patience: LockPatience) throws(LMDBError) {
        var wait = LockWait(patience)
        while LockHolder.holder(of: offset, in: descriptor) != nil {
            if let end = wait.pauseOrEnd() { throw .locked(file.name, by: obstacle, end) }
        }
    }

    private var obstacle: LockObstacle {
        let holder = LockHolder.holder(of: offset, in: descriptor)
        return LockObstacle(deed) { holder }
    }
}
