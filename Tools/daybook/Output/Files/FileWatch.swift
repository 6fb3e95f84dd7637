#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Waits until a program writes to a file.
///
/// The kernel reports that if it can (`inotify`); otherwise the wait ends twice a second.
final class FileWatch {
    /// Why the waiting ended.
    enum Waking {
        /// The file may have been written.
        case written
        /// The user wants the command to end.
        case interrupted
        /// The reader of the output is gone.
        case outputClosed
    }

    private let notices: Int32
    /// A write that caused no wake-up, for whatever reason, is seen after this time.
    private let longestWait: Int32
    private var isFresh = false

    init(_ path: String) {
        #if os(Linux)
        let notices = inotify_init1(Int32(bitPattern: UInt32(IN_CLOEXEC | IN_NONBLOCK)))
        let isWatched = notices >= 0 && inotify_add_watch(notices, path, UInt32(IN_MODIFY)) >= 0
        self.notices = notices
        #else
        let isWatched = false
        notices = -1
        #endif
        longestWait = isWatched ? 5_000 : 500
    }

    deinit {
        if notices >= 0 { close(notices) }
    }

    /// Waits.
    ///
    /// LMDB writes an entry a moment before it lets readers see it, so the first wait after a
    /// notice is short.
    func wait() -> Waking {
        var requests = [
            pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
            pollfd(fd: Interruption.descriptor, events: Int16(POLLIN), revents: 0),
            // A pipe without a reader reports an error even if no events are requested.
            pollfd(fd: SystemCall.Descriptor.output.rawValue, events: 0, revents: 0),
        ]
        let limit = isFresh ? Self.settling : longestWait
        let count = poll(&requests, nfds_t(requests.count), limit)
        isFresh = count > 0 && requests[0].revents != 0
        if isFresh { drain() }
        if Interruption.isThere { return .interrupted }
        if count > 0, Int32(requests[2].revents) & (POLLERR | POLLHUP) != 0 { return .outputClosed }
        return .written
    }

    /// Milliseconds.
    private static let settling: Int32 = 20

    private func drain() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while read(notices, &buffer, buffer.count) > 0 {}
    }
}
