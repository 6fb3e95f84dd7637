import DaybookStopping
import Dispatch
import Foundation
import Synchronization

/// The right to work in a context: one thread has it at a time.
///
/// A context's blocks run on its queue one after the other, but a child reads and saves through its
/// parent, and programs wait for one context inside another. With queues alone, two threads could end up
/// waiting for each other. So besides the queue there is a lock:
///
/// - The thread that works in the context holds the lock.
/// - A thread that waits for another context *lends* the locks it holds. A thread that needs a lent lock
///   and would otherwise wait for ever, because the lender waits for it, works as a borrower; the lender
///   goes on only when the borrower has left. All others wait for their turn, which may also come while
///   the lock is lent, if it is not the queue that is waiting.
/// - A child that needs its parent keeps its own lock, since it is in the middle of something, and takes
///   the parent's as soon as it is free or lent. Waiting upwards ends, because a holder that also waits
///   upwards proceeds for the same reason, and one that waits sideways or downwards has lent.
///
/// All contexts of the main queue share one lock, which the main queue holds when nobody else does.
final class ContextLock: @unchecked Sendable {
    // @unchecked Sendable because `condition` guards all mutable state.

    /// When work that somebody waits for starts.
    enum Order {
        /// After the work that is queued already.
        case queued
        /// As soon as the lock is free: the next step of something that has begun.
        case atOnce
    }

    /// The lock of all contexts of the main queue.
    static let main = ContextLock(queue: .main, holders: [.mainQueue])

    /// The queue; nil until there is work for it, which most short-lived contexts never have.
    private var queue: DispatchQueue?
    private let condition = NSCondition()
    /// The holders of the lock, borrowers after lenders: the last one works.
    private var holders: [ThreadMark]
    /// Whether the last holder waits and lends the lock.
    private var isLent = false
    /// How much work is queued and has not started.
    private var queuedCount = 0
    /// Who works now, readable without a lock.
    private let worker: Atomic<UInt>
    /// The locks that the lenders of each lock wait for, the last lender last.
    private static let waits = Mutex<[ObjectIdentifier: [ContextLock]]>([:])
    /// The locks that threads hold.
    private static let held = Mutex<[ThreadMark: [ContextLock]]>([:])

    /// Makes the lock of a context with a queue of its own.
    convenience init() {
        self.init(queue: nil, holders: [])
    }

    private init(queue: DispatchQueue?, holders: [ThreadMark]) {
        self.queue = queue
        self.holders = holders
        worker = Atomic(holders.last?.rawValue ?? 0)
    }

    /// Whether the current thread works in the lock.
    var isMine: Bool {
        let worker = ThreadMark(rawValue: worker.load(ordering: .acquiring))
        return worker == .mainQueue ? MainQueue.isCurrent : worker == .current
    }

    /// Whether the current thread works in the lock. Unlike ``isMine``, this is false for the main
    /// thread when others serve the main queue.
    var isOfThisThread: Bool {
        let worker = ThreadMark(rawValue: worker.load(ordering: .acquiring))
        return worker == .mainQueue ? MainQueue.isServedHere : worker == .current
    }

    /// Where the current thread works, in words.
    static var whereabouts: String {
        MainQueue.isCurrent ? "the main queue" : "another queue"
    }

    // MARK: - Running

    /// Runs `work` on the queue later.
    func submit(_ work: @escaping () -> Void) {
        enqueue(Job(work), lending: [])
    }

    /// Runs `work` and waits for it.
    func run<Result, Failure: Error>(
        _ order: Order, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isMine { return try work() }
        let mine = Self.heldByCurrentThread()
        if let wasLent = enterAtOnce(order, mine) {
            defer { leave(wasLent) }
            return try work()
        }
        let levels = order == .queued ? mine.map { ($0, $0.lend(for: self)) } : []
        defer { for (lock, level) in levels { lock.takeBack(level) } }
        var outcome: Swift.Result<Result, Failure>?
        withoutActuallyEscaping(work) { work in
            let job = Job {
                do throws(Failure) {
                    outcome = .success(try work())
                } catch {
                    outcome = .failure(error)
                }
            }
            enqueue(job, lending: order == .queued ? [] : mine)
            wait(for: job, order, mine)
        }
        guard let outcome else { stop("A job that is done has an outcome.") }
        return try outcome.get()
    }

    /// Takes the lock without the queue if nobody is ahead in it.
    ///
    /// - Returns: What to leave with; nil when the work must be queued.
    private func enterAtOnce(_ order: Order, _ mine: [ContextLock]) -> Bool? {
        condition.lock()
        defer { condition.unlock() }
        switch order {
        case .queued:
            let isIdle = holders.isEmpty && queuedCount == 0
            guard isIdle || isWaiting(for: mine) else { return nil }
        case .atOnce:
            // The main queue holds its lock for ever, and must be asked.
            if self === Self.main, !isLent { return nil }
            while !isFree { condition.wait() }
        }
        return enter()
    }

    private var isFree: Bool { holders.isEmpty || isLent }

    /// Whether the lock is lent until one of the caller's locks is free, directly or through others.
    private func isWaiting(for mine: [ContextLock]) -> Bool {
        guard isLent else { return false }
        return Self.waits.withLock { waits in
            var lock = self
            for _ in 0..<waits.count {
                guard let next = waits[ObjectIdentifier(lock)]?.last else { return false }
                if mine.contains(where: { $0 === next }) { return true }
                lock = next
            }
            return false
        }
    }

    private func enqueue(_ job: Job, lending locks: [ContextLock]) {
        condition.lock()
        queuedCount += 1
        let queue = queue ?? DispatchQueue(label: "Daybook.ManagedObjectContext")
        self.queue = queue
        condition.unlock()
        queue.async { self.serve(job, lending: locks) }
    }

    /// Does a job on the queue, unless the waiting thread has done it itself.
    ///
    /// The job is part of what the waiting thread does, so it may work in the locks that this thread
    /// holds.
    private func serve(_ job: Job, lending locks: [ContextLock]) {
        condition.lock()
        while !job.isTaken, !isFree, self !== Self.main { condition.wait() }
        // It is counted until its turn has come, so that nobody enters directly before it.
        queuedCount -= 1
        guard !job.isTaken else { return condition.unlock() }
        job.isTaken = true
        let wasLent = enter()
        condition.unlock()
        let entered = locks.map { ($0, $0.enterForHolder()) }
        job.run()
        for (lock, wasLent) in entered { lock.leave(wasLent) }
        leave(wasLent, finishing: job)
    }

    /// Waits until a job is done, and does it here if nobody else can.
    private func wait(for job: Job, _ order: Order, _ mine: [ContextLock]) {
        condition.lock()
        while !job.isDone {
            let isMyTurn = order == .atOnce ? isLent : isWaiting(for: mine)
            guard isMyTurn, !job.isTaken else {
                condition.wait()
                continue
            }
            job.isTaken = true
            let wasLent = enter()
            condition.unlock()
            job.run()
            leave(wasLent, finishing: job)
            condition.lock()
        }
        condition.unlock()
    }

    // MARK: - Holding

    private func enterForHolder() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        return enter()
    }

    /// Makes the current thread the holder. The condition is locked.
    ///
    /// - Returns: Whether the previous holder has lent the lock.
    private func enter() -> Bool {
        let wasLent = isLent
        holders.append(.current)
        isLent = false
        recordWorker()
        Self.held.withLock { $0[.current, default: []].append(self) }
        return wasLent
    }

    private func leave(_ wasLent: Bool, finishing job: Job? = nil) {
        condition.lock()
        defer { condition.unlock() }
        holders.removeLast()
        isLent = wasLent
        job?.isDone = true
        recordWorker()
        Self.held.withLock { held in
            guard let last = held[.current]?.lastIndex(where: { $0 === self }) else { return }
            held[.current]?.remove(at: last)
            if held[.current]?.isEmpty == true { held[.current] = nil }
        }
        condition.broadcast()
    }

    /// Lends the lock until ``takeBack(_:)``.
    ///
    /// - Returns: How many threads hold it, for handing back.
    private func lend(for target: ContextLock) -> Int {
        condition.lock()
        defer { condition.unlock() }
        isLent = true
        Self.waits.withLock { $0[ObjectIdentifier(self), default: []].append(target) }
        recordWorker()
        condition.broadcast()
        return holders.count
    }

    /// Continues when all borrowers have left.
    private func takeBack(_ level: Int) {
        condition.lock()
        defer { condition.unlock() }
        while holders.count != level || !isLent { condition.wait() }
        isLent = false
        Self.waits.withLock { waits in
            waits[ObjectIdentifier(self)]?.removeLast()
            if waits[ObjectIdentifier(self)]?.isEmpty == true {
                waits[ObjectIdentifier(self)] = nil
            }
        }
        recordWorker()
    }

    private func recordWorker() {
        let mark = isLent ? 0 : holders.last?.rawValue ?? 0
        worker.store(mark, ordering: .releasing)
    }

    /// The locks in which the current thread works.
    private static func heldByCurrentThread() -> [ContextLock] {
        var locks: [ContextLock] = []
        let candidates = held.withLock { $0[.current] ?? [] }
        for lock in candidates + [main] where lock.isMine && !locks.contains(where: { $0 === lock })
        {
            locks.append(lock)
        }
        return locks
    }

    /// Work that somebody may wait for.
    private final class Job: @unchecked Sendable {
        // @unchecked Sendable because the condition of its lock guards the marks, and the work is done
        // once, while the waiting thread does nothing else.
        private var work: (() -> Void)?
        var isTaken = false
        var isDone = false

        init(_ work: @escaping () -> Void) {
            self.work = work
        }

        /// Does the work and releases it, so that nothing of the waiting thread is held when the wait is
        /// over.
        func run() {
            let work = work
            self.work = nil
            work?()
        }
    }
}

/// The identity of a thread.
struct ThreadMark: Hashable {
    let rawValue: UInt

    /// The mark of the thread that serves the main queue.
    static let mainQueue = ThreadMark(rawValue: 1)

    /// The mark of the current thread.
    static var current: ThreadMark {
        #if canImport(Darwin)
        ThreadMark(rawValue: UInt(bitPattern: pthread_self()))
        #else
        ThreadMark(rawValue: UInt(pthread_self()))
        #endif
    }
}

/// Tells whether the current code runs on the main queue, whichever thread serves it.
///
/// Where the main actor runs on Dispatch without a run loop, as on Linux, the main queue is served by
/// any thread once the first one waits in `dispatchMain`.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { isMainThread || isServedHere }

    /// The main thread, once it has asked; no other thread gets its mark, even after it has ended.
    private static let mainThread = Atomic<UInt>(0)

    /// Whether this is the main thread. Asking the system takes two calls, and this is checked for each
    /// object that is inserted.
    private static var isMainThread: Bool {
        let current = ThreadMark.current.rawValue
        if mainThread.load(ordering: .relaxed) == current { return true }
        guard Thread.isMainThread else { return false }
        mainThread.store(current, ordering: .relaxed)
        return true
    }

    /// Whether the current thread serves the main queue: the main thread does until it hands that over.
    static var isServedHere: Bool { DispatchQueue.getSpecific(key: key) == true }
}
