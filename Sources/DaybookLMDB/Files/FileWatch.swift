internal import Foundation
internal import Synchronization

/// Calls a closure whenever a file may have been written, by any process, until this object is released.
///
/// The kernel tells of each write (`inotify(7)`), whoever makes it and by whatever name of the file, and
/// nothing is asked of the writer. LMDB writes what it commits a moment before it lets readers see it, so
/// after each notice the closure is called several times more, at growing distances. A write that was told
/// of in no way is found after a few seconds; where the kernel does not tell of writes, after half a second.
///
/// A word in shared memory that writers wake (a futex) would cost each of them a call, and nobody would be woken
/// for one that is killed after its commit and before that call. The file tells of every write by itself.
///
/// The closure is called on a thread of its own, one for all files, and must be quick. It may still be called
/// once after the end.
package final class FileWatch: Sendable {
    private let number: Int

    /// Begins to watch. Writes from now on are told.
    init(_ path: String, _ look: @escaping @Sendable () -> Void) {
        number = FileWatcher.shared.add(path, look)
    }

    deinit {
        FileWatcher.shared.remove(number)
    }
}

extension Environment {
    /// Calls `look` whenever somebody may have written to the file; see ``FileWatch``.
    ///
    /// - Returns: What ends it when it is released; nil for a file without a name, which only this process has.
    package func watch(_ look: @escaping @Sendable () -> Void) -> FileWatch? {
        core.pair.isUnnamed ? nil : FileWatch(path, look)
    }
}

/// Waits for writes to all files that are watched in this process, on one thread, which begins with the first.
///
/// Invariant: a file that is watched by the kernel has one number there, however often it is watched here.
private final class FileWatcher: Sendable {
    static let shared = FileWatcher()

    /// After a notice, and twice as long each time.
    private static let firstPause = Duration.milliseconds(1)
    /// When this is passed, what a notice announced has been seen, or its writer was stopped in the middle.
    private static let lastPause = Duration.milliseconds(600)
    /// How long a write may go unnoticed of which the kernel has not told.
    private static let longestWait = Duration.seconds(5)
    private static let longestWaitUntold = Duration.milliseconds(500)

    private struct Watch {
        /// The kernel's number of the file; -1 when it does not tell of its writes.
        let file: Int32
        let look: @Sendable () -> Void
        var due: ContinuousClock.Instant
        /// How long to wait after the next look; nil when there was no notice for long.
        var pause: Duration?
    }

    private struct State {
        var next = 0
        var watches: [Int: Watch] = [:]
        var isRunning = false
    }

    private let state = Mutex(State())
    private let notices: Int32
    /// Wakes the thread when files come.
    private let wakeUp: (read: Int32, write: Int32)

    private init() {
        #if os(Linux)
        notices = inotify_init1(Int32(bitPattern: UInt32(IN_CLOEXEC | IN_NONBLOCK)))
        #else
        notices = -1
        #endif
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        wakeUp = (ends[0], ends[1])
    }

    // MARK: - Coming and going

    func add(_ path: String, _ look: @escaping @Sendable () -> Void) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.next += 1
            let file = beginNotices(of: path)
            state.watches[state.next] = Watch(
                file: file, look: look, due: .now.advanced(by: Self.wait(for: file)))
            defer { state.isRunning = true }
            return (state.next, !state.isRunning)
        }
        if isFirst {
            Thread.detachNewThread { self.run() }
        } else {
            wake()
        }
        return number
    }

    func remove(_ number: Int) {
        state.withLock { state in
            guard let gone = state.watches.removeValue(forKey: number) else { return }
            if !state.watches.values.contains(where: { $0.file == gone.file }) {
                endNotices(of: gone.file)
            }
        }
    }

    private static func wait(for file: Int32) -> Duration {
        file < 0 ? longestWaitUntold : longestWait
    }

    private func wake() {
        var byte: UInt8 = 0
        _ = write(wakeUp.write, &byte, 1)
    }

    private func beginNotices(of path: String) -> Int32 {
        #if os(Linux)
        // Besides writes: another file under the name, and the name given up.
        let kinds = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF
        return notices < 0 ? -1 : inotify_add_watch(notices, path, UInt32(kinds))
        #else
        return -1
        #endif
    }

    private func endNotices(of file: Int32) {
        #if os(Linux)
        if file >= 0 { _ = inotify_rm_watch(notices, file) }
        #endif
    }

    // MARK: - The thread

    private func run() {
        while true {
            let (touched, isOverflow) = waitForNotices()
            for (number, look) in due(touched, isOverflow) {
                look()
                plan(number)
            }
        }
    }

    /// The looks to take now.
    private func due(
        _ touched: Set<Int32>, _ isOverflow: Bool
    ) -> [(number: Int, look: @Sendable () -> Void)] {
        let now = ContinuousClock.now
        return state.withLock { state in
            var found: [(number: Int, look: @Sendable () -> Void)] = []
            for (number, watch) in state.watches {
                let isTouched = isOverflow || touched.contains(watch.file)
                if isTouched { state.watches[number]?.pause = Self.firstPause }
                if isTouched || watch.due <= now { found.append((number, watch.look)) }
            }
            return found
        }
    }

    /// Decides when to look again if there is no notice before.
    private func plan(_ number: Int) {
        state.withLock { state in
            guard var watch = state.watches[number] else { return }
            watch.due = .now.advanced(by: watch.pause ?? Self.wait(for: watch.file))
            watch.pause = watch.pause.flatMap { $0 > Self.lastPause ? nil : $0 * 2 }
            state.watches[number] = watch
        }
    }

    /// Waits until a file is touched, one comes, or a look is due.
    private func waitForNotices() -> (files: Set<Int32>, isOverflow: Bool) {
        let next = state.withLock { $0.watches.values.map(\.due).min() }
        var requests = [
            pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&requests, nfds_t(requests.count), Self.milliseconds(until: next)) > 0 else {
            return ([], false)
        }
        if requests[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(wakeUp.read, &bytes, bytes.count) > 0 {}
        }
        return requests[0].revents != 0 ? takeNotices() : ([], false)
    }

    /// Rounded up, so that what is due is due afterwards; -1 for ever.
    private static func milliseconds(until due: ContinuousClock.Instant?) -> Int32 {
        guard let due else { return -1 }
        let wait = max(.zero, ContinuousClock.now.duration(to: due))
        let (seconds, fraction) = wait.components
        return Int32(seconds * 1_000 + (fraction + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    private func takeNotices() -> (files: Set<Int32>, isOverflow: Bool) {
        var touched: Set<Int32> = []
        var isOverflow = false
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(notices, &buffer, buffer.count)
            guard count > 0 else { break }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    touched.insert(event.wd)
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isOverflow = true }
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
        #endif
        return (touched, isOverflow)
    }
}
