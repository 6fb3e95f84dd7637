import DaybookSnapshotStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Waits until a program saves to a store.
final class SaveWait {
    /// Why the waiting ended.
    enum Waking {
        /// There may be a new entry, or another file in the place of the store's.
        case saved
        /// The user wants the command to end.
        case interrupted
        /// The reader of the output is gone.
        case outputClosed
    }

    private let bell: Bell
    private let watch: StoreWatch

    /// Begins: every save from now on ends a wait.
    init(for store: Store) throws {
        let bell = try Bell()
        self.bell = bell
        watch = store.watch(.everything) { bell.ring() }
    }

    /// Waits.
    func wait() -> Waking {
        var requests = [
            pollfd(fd: bell.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: Interruption.descriptor, events: Int16(POLLIN), revents: 0),
            // A pipe without a reader reports an error even if no events are requested.
            pollfd(fd: SystemCall.Descriptor.output.rawValue, events: 0, revents: 0),
        ]
        let count = poll(&requests, nfds_t(requests.count), -1)
        bell.silence()
        if Interruption.isThere { return .interrupted }
        if count > 0, Int32(requests[2].revents) & (POLLERR | POLLHUP) != 0 { return .outputClosed }
        return .saved
    }
}

/// A pipe that becomes readable when another thread rings.
private final class Bell: Sendable {
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ToolError.system("A pipe cannot be made", errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Does nothing when it rings already and the pipe is full.
    func ring() {
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    func silence() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}
