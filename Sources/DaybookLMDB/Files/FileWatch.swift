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
/// While this process itself writes, nobody else does, and it knows what it writes: notices of that wait, so that
/// a program that saves all the time is not kept from it by looking at each of its own writes.
///
/// The closure is called on a thread of its own, one for all files, and must be quick. The end waits for a call
/// that is under way, so it is not to come while a lock is held that the closure asks for; after it there is none.
/// In a forked process nothing is told of what was watched before: it has no such thread.
package final class FileWatch: Sendable {
    private let watcher: FileWatcher
    private let number: Int

    /// Begins to watch. Writes from now on are told.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - watcher: Who waits for the notices.
    ///   - isWriting: Whether this process writes to the file, so that nobody else can. It must be quick.
    ///   - look: What is called.
    init(
        _ path: String, by watcher: FileWatcher = .shared,
        isWriting: @escaping @Sendable () -> Bool = { false },
        _ look: @escaping @Sendable () -> Void
    ) {
        self.watcher = watcher
        number = watcher.add(path, isWriting, look)
    }

    deinit {
        watcher.remove(number)
    }
}

extension Environment {
    /// Calls `look` whenever somebody may have written to the file; see ``FileWatch``.
    ///
    /// - Returns: What ends it when it is released; nil for a file without a name, which only this process has.
    package func watch(_ look: @escaping @Sendable () -> Void) -> FileWatch? {
        guard !core.pair.isUnnamed else { return nil }
        let writing = core.pair.writing
        return FileWatch(path, isWriting: { writing.isHeld }, look)
    }
}

/// Waits for writes to all files that are watched in this process, on one thread, which begins with the first.
///
/// Invariant: a file that is watched by the kernel has one number there, however often it is watched here.
/// No file is watched through a watcher of before a fork, which shares the kernel's watches with the parent.
final class FileWatcher: Sendable {
    private static let current = Mutex(FileWatcher())

    /// The watcher of this process.
    static var shared: FileWatcher {
        current.withLock { watcher in
            if watcher.forks != ProcessForks.count { watcher = FileWatcher() }
            return watcher
        }
    }

    /// How long a write may go unnoticed of which the kernel has not told.
    struct Waits: Sendable {
        /// For a file that it tells of.
        var told = Duration.seconds(5)
        /// For one that it does not.
        var untold = Duration.milliseconds(500)
    }

    /// After a notice, and twice as long each time.
    private static let firstPause = Duration.milliseconds(1)
    /// When this is passed, what a notice announced has been seen, or its writer was stopped in the middle.
    private static let lastPause = Duration.milliseconds(600)
    /// How long notices of this process's own writes wait to be looked at together.
    private static let ownPause = Duration.milliseconds(2)

    fileprivate struct Watch {
        let path: String
        /// The kernel's number of the file; -1 when it does not tell of its writes.
        var file: Int32
        let isWriting: @Sendable () -> Bool
        let look: @Sendable () -> Void
        var due: ContinuousClock.Instant
        /// How long to wait after the next look; nil when there was no notice for long.
        var pause: Duration?
    }

    fileprivate struct State {
        var next = 0
        fileprivate var watches: [Int: Watch] = [:]
        /// Where the kernel tells of writes; -1 when it does not, which is asked again for each watch.
        var notices: Int32 = -1
        var thread: pthread_t?
        var isRunning = false
        /// The watch whose closure is being called.
        var looking: Int?
        /// Until then no notice is taken.
        var deafUntil: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    /// Held while a closure is called.
    private let turn = Mutex(())
    private let waits: Waits
    private let forks: Int
    /// Wakes the thread when files come.
    private let wakeUp: (read: Int32, write: Int32)

    init(_ waits: Waits = Waits()) {
        self.waits = waits
        // Where memory does not suffice for that, an environment could not be opened either.
        try? ProcessForks.startWatching()
        forks = ProcessForks.count
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

    func add(
        _ path: String, _ isWriting: @escaping @Sendable () -> Bool,
        _ look: @escaping @Sendable () -> Void
    ) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.next += 1
            let file = state.beginNotices(of: path)
            state.watches[state.next] = Watch(
                path: path, file: file, isWriting: isWriting, look: look,
                due: .now.advanced(by: wait(for: file)))
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

    /// Ends a watch. Its closure is not called any more afterwards, except by itself.
    func remove(_ number: Int) {
        // In a child the kernel's watches are the parent's, and the locks may be held by threads that are not here.
        guard forks == ProcessForks.count else { return }
        let gone = state.withLock { state -> (watch: Watch, isLooking: Bool)? in
            guard let gone = state.watches.removeValue(forKey: number) else { return nil }
            if !state.watches.values.contains(where: { $0.file == gone.file }) {
                state.endNotices(of: gone.file)
            }
            let isOwn = state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
            return (gone, state.looking == number && !isOwn)
        }
        if gone?.isLooking == true { turn.withLock { _ in } }
        // What the closure holds ends here, with no lock held.
        withExtendedLifetime(gone) {}
    }

    private func wait(for file: Int32) -> Duration {
        file < 0 ? waits.untold : waits.told
    }

    private func wake() {
        var byte: UInt8 = 0
        _ = write(wakeUp.write, &byte, 1)
    }

    // MARK: - The thread

    private func run() {
        state.withLock { $0.thread = pthread_self() }
        while true {
            let notices = waitForNotices()
            for number in due(notices) {
                turn.withLock { _ in look(number) }
                plan(number)
            }
        }
    }

    /// Calls the closure of a watch, if it has not ended.
    private func look(_ number: Int) {
        let look = state.withLock { state in
            state.looking = number
            return state.watches[number]?.look
        }
        look?()
        state.withLock { $0.looking = nil }
    }

    /// The watches whose closures are to be called now.
    private func due(_ notices: Notices) -> [Int] {
        let now = ContinuousClock.now
        return state.withLock { state in
            var found: [Int] = []
            var isOwn = false
            for (number, watch) in state.watches {
                let isTouched = notices.isOverflow || notices.touched.contains(watch.file)
                // The kernel has ended its watch: the file is gone, or its file system.
                if notices.ended.contains(watch.file) { state.watches[number]?.file = -1 }
                if isTouched, watch.isWriting() {
                    state.watches[number]?.pause = Self.ownPause
                    state.watches[number]?.due = min(watch.due, now + Self.ownPause)
                    isOwn = true
                } else if isTouched {
                    state.watches[number]?.pause = Self.firstPause
                    found.append(number)
                    continue
                }
                if watch.due <= now { found.append(number) }
            }
            state.deafUntil = isOwn && found.isEmpty ? now + Self.ownPause : nil
            return found
        }
    }

    /// Decides when to look again if there is no notice before.
    private func plan(_ number: Int) {
        state.withLock { state in
            guard var watch = state.watches[number] else { return }
            // There may be a file of that name by now, or room for one more watch.
            if watch.file < 0 {
                watch.file = state.beginNotices(of: watch.path)
                // What was written since the look that has just ended, nobody has told of.
                if watch.file >= 0 { watch.pause = Self.firstPause }
            }
            watch.due = .now.advanced(by: watch.pause ?? wait(for: watch.file))
            watch.pause = watch.pause.flatMap { $0 > Self.lastPause ? nil : $0 * 2 }
            state.watches[number] = watch
        }
    }

    /// Waits until a file is touched, one comes, or a look is due.
    private func waitForNotices() -> Notices {
        let (due, known, deafUntil) = state.withLock { state in
            (state.watches.values.map(\.due).min(), state.notices, state.deafUntil)
        }
        var next = due
        // A negative descriptor is passed over.
        var notices = known
        if let deafUntil, deafUntil > .now {
            notices = -1
            next = min(next ?? deafUntil, deafUntil)
        }
        // Without the pipe nobody tells of a new watch, and of a kernel that tells only now.
        if wakeUp.read < 0 {
            let latest = ContinuousClock.now.advanced(by: waits.untold)
            next = min(next ?? latest, latest)
        }
        var requests = [
            pollfd(fd: notices, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp.read, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&requests, nfds_t(requests.count), Self.milliseconds(until: next)) > 0 else {
            return Notices()
        }
        if requests[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(wakeUp.read, &bytes, bytes.count) > 0 {}
        }
        return requests[0].revents != 0 ? Self.takeNotices(from: notices) : Notices()
    }

    /// Rounded up, so that what is due is due afterwards; -1 for ever.
    private static func milliseconds(until due: ContinuousClock.Instant?) -> Int32 {
        guard let due else { return -1 }
        let wait = max(.zero, ContinuousClock.now.duration(to: due))
        let (seconds, fraction) = wait.components
        return Int32(seconds * 1_000 + (fraction + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// What the kernel has told, by its numbers of the files.
    private struct Notices {
        var touched: Set<Int32> = []
        /// Of these it tells no more.
        var ended: Set<Int32> = []
        var isOverflow = false
    }

    private static func takeNotices(from descriptor: Int32) -> Notices {
        var notices = Notices()
        #if os(Linux)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            buffer.withUnsafeBytes { bytes in
                var offset = 0
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    notices.touched.insert(event.wd)
                    if event.mask & UInt32(IN_IGNORED) != 0 { notices.ended.insert(event.wd) }
                    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { notices.isOverflow = true }
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
        #endif
        return notices
    }
}

extension FileWatcher.State {
    /// Asks the kernel to tell of writes to a file.
    ///
    /// - Returns: Its number of the file; -1 when it does not tell.
    fileprivate mutating func beginNotices(of path: String) -> Int32 {
        #if os(Linux)
        if notices < 0 {
            notices = inotify_init1(Int32(bitPattern: UInt32(IN_CLOEXEC | IN_NONBLOCK)))
        }
        // Besides writes: another file under the name, and the name given up.
        let kinds = IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF
        return notices < 0 ? -1 : inotify_add_watch(notices, path, UInt32(kinds))
        #else
        return -1
        #endif
    }

    fileprivate func endNotices(of file: Int32) {
        #if os(Linux)
        if file >= 0 { _ = inotify_rm_watch(notices, file) }
        #endif
    }
}
