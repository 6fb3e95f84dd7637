import Dispatch
import Foundation
import Stopping
import Synchronization

/// The right to work in a context: one thread has it at a time.
///
/// A context's blocks run on its queue one after the other, but a child reads and saves through its
/// parent, and programs wait for one context inside another. With queues alone that would end in two
/// threads waiting for each other. So besides the queue there is a lane:
///
/// - Whoever works in the context holds the lane, on whichever thread.
/// - A thread that waits for another context *parks* the lanes it holds. Whoever needs a parked lane
///   and would otherwise wait for ever, because the one that parked it waits for him, works in it as
///   a guest; the waiting thread goes on only when the guest has left. Everybody else waits his turn,
///   which comes while the lane is parked, too, if the queue is not what is waiting.
/// - A child that needs its parent keeps its own lane, since it is in the middle of something, and
///   takes the parent's as soon as it is free or parked. Waiting upwards ends, because a holder that
///   waits upwards as well gets on for the same reason, and one that waits sideways or downwards has
///   parked.
///
/// All contexts of the main queue share one lane, which the main queue holds when nobody else does.
final class ExecutionLane: @unchecked Sendable {
    // @unchecked Sendable because `condition` guards all mutable state.

    /// When work starts that somebody waits for.
    enum Order {
        /// After the work that is queued already.
        case queued
        /// As soon as the lane is free: the next step of something that has begun.
        case atOnce
    }

    /// The lane of all contexts of the main queue.
    static let main = ExecutionLane(queue: .main, holders: [.mainQueue])

    private let queue: DispatchQueue
    private let condition = NSCondition()
    /// Who holds the lane, guests after hosts: the last one works.
    private var holders: [ThreadMark]
    /// Whether the last holder waits and lends the lane.
    private var isParked = false
    /// How much work is queued and not begun.
    private var queuedCount = 0
    /// Who works now, to be asked without a lock.
    private let worker: Atomic<UInt>
    /// What the holders of each lane that have parked it wait for, the last one last.
    private static let waits = Mutex<[ObjectIdentifier: [ExecutionLane]]>([:])
    /// The lanes that threads hold.
    private static let held = Mutex<[ThreadMark: [ExecutionLane]]>([:])

    /// Makes the lane of a context with a queue of its own.
    convenience init(queue: DispatchQueue) {
        self.init(queue: queue, holders: [])
    }

    private init(queue: DispatchQueue, holders: [ThreadMark]) {
        self.queue = queue
        self.holders = holders
        worker = Atomic(holders.last?.rawValue ?? 0)
    }

    /// Whether the current thread works in the lane.
    var isMine: Bool {
        let worker = ThreadMark(rawValue: worker.load(ordering: .acquiring))
        return worker == .mainQueue ? MainQueue.isCurrent : worker == .current
    }

    /// Whether the current thread works in the lane, for those who are not to take its place: unlike
    /// ``isMine`` false for the main thread where others serve the main queue.
    var isOfThisThread: Bool {
        let worker = ThreadMark(rawValue: worker.load(ordering: .acquiring))
        return worker == .mainQueue ? MainQueue.isServedHere : worker == .current
    }

    /// Where the current thread works, in words.
    static var whereabouts: String {
        MainQueue.isCurrent ? "the main queue" : "another queue"
    }

    // MARK: - Running

    /// Runs `work` on the queue some time later.
    func submit(_ work: @escaping () -> Void) {
        enqueue(Job(work), lending: [])
    }

    /// Runs `work` and waits for it.
    func run<Result, Failure: Error>(
        _ order: Order, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        if isMine { return try work() }
        let mine = Self.heldByCurrentThread()
        if let wasParked = enterAtOnce(order, mine) {
            defer { leave(wasParked) }
            return try work()
        }
        let levels = order == .queued ? mine.map { ($0, $0.park(for: self)) } : []
        defer { for (lane, level) in levels { lane.unpark(level) } }
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

    /// Takes the lane without a queue where that jumps nobody's place.
    ///
    /// - Returns: What to leave with; nil when the work has to be queued.
    private func enterAtOnce(_ order: Order, _ mine: [ExecutionLane]) -> Bool? {
        condition.lock()
        defer { condition.unlock() }
        switch order {
        case .queued:
            let isIdle = holders.isEmpty && queuedCount == 0
            guard isIdle || isWaiting(for: mine) else { return nil }
        case .atOnce:
            // The main queue holds its lane for ever, and has to be asked.
            if self === Self.main, !isParked { return nil }
            while !isFree { condition.wait() }
        }
        return enter()
    }

    private var isFree: Bool { holders.isEmpty || isParked }

    /// Whether the lane is parked until one of the caller's lanes is free, be it over several others.
    private func isWaiting(for mine: [ExecutionLane]) -> Bool {
        guard isParked else { return false }
        return Self.waits.withLock { waits in
            var lane = self
            for _ in 0..<waits.count {
                guard let next = waits[ObjectIdentifier(lane)]?.last else { return false }
                if mine.contains(where: { $0 === next }) { return true }
                lane = next
            }
            return false
        }
    }

    private func enqueue(_ job: Job, lending lanes: [ExecutionLane]) {
        condition.lock()
        queuedCount += 1
        condition.unlock()
        queue.async { self.serve(job, lending: lanes) }
    }

    /// Does a job on the queue, unless the one who waits for it has found another way.
    ///
    /// The job is part of what the waiting thread does, so it may work in the lanes that one holds.
    private func serve(_ job: Job, lending lanes: [ExecutionLane]) {
        condition.lock()
        while !job.isTaken, !isFree, self !== Self.main { condition.wait() }
        // Counted until its turn has come, so that nobody enters at once before it.
        queuedCount -= 1
        guard !job.isTaken else { return condition.unlock() }
        job.isTaken = true
        let wasParked = enter()
        condition.unlock()
        let entered = lanes.map { ($0, $0.enterForHolder()) }
        job.run()
        for (lane, wasParked) in entered { lane.leave(wasParked) }
        leave(wasParked, finishing: job)
    }

    /// Waits until a job is done, and does it here when nobody else can.
    private func wait(for job: Job, _ order: Order, _ mine: [ExecutionLane]) {
        condition.lock()
        while !job.isDone {
            let isMyTurn = order == .atOnce ? isParked : isWaiting(for: mine)
            guard isMyTurn, !job.isTaken else {
                condition.wait()
                continue
            }
            job.isTaken = true
            let wasParked = enter()
            condition.unlock()
            job.run()
            leave(wasParked, finishing: job)
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
    /// - Returns: Whether the holder before has parked.
    private func enter() -> Bool {
        let wasParked = isParked
        holders.append(.current)
        isParked = false
        noteWorker()
        Self.held.withLock { $0[.current, default: []].append(self) }
        return wasParked
    }

    private func leave(_ wasParked: Bool, finishing job: Job? = nil) {
        condition.lock()
        defer { condition.unlock() }
        holders.removeLast()
        isParked = wasParked
        job?.isDone = true
        noteWorker()
        Self.held.withLock { held in
            guard let last = held[.current]?.lastIndex(where: { $0 === self }) else { return }
            held[.current]?.remove(at: last)
            if held[.current]?.isEmpty == true { held[.current] = nil }
        }
        condition.broadcast()
    }

    /// Lends the lane until ``unpark(_:)``.
    ///
    /// - Returns: How many hold it, to be handed back.
    private func park(for target: ExecutionLane) -> Int {
        condition.lock()
        defer { condition.unlock() }
        isParked = true
        Self.waits.withLock { $0[ObjectIdentifier(self), default: []].append(target) }
        noteWorker()
        condition.broadcast()
        return holders.count
    }

    /// Goes on when all guests have left.
    private func unpark(_ level: Int) {
        condition.lock()
        defer { condition.unlock() }
        while holders.count != level || !isParked { condition.wait() }
        isParked = false
        Self.waits.withLock { waits in
            waits[ObjectIdentifier(self)]?.removeLast()
            if waits[ObjectIdentifier(self)]?.isEmpty == true {
                waits[ObjectIdentifier(self)] = nil
            }
        }
        noteWorker()
    }

    private func noteWorker() {
        let mark = isParked ? 0 : holders.last?.rawValue ?? 0
        worker.store(mark, ordering: .releasing)
    }

    /// The lanes in which the current thread works.
    private static func heldByCurrentThread() -> [ExecutionLane] {
        var lanes: [ExecutionLane] = []
        let candidates = held.withLock { $0[.current] ?? [] }
        for lane in candidates + [main] where lane.isMine && !lanes.contains(where: { $0 === lane })
        {
            lanes.append(lane)
        }
        return lanes
    }

    /// Work that somebody waits for, or nobody.
    private final class Job: @unchecked Sendable {
        // @unchecked Sendable because the condition of its lane guards the marks, and the work is
        // done once, while the one who waits for it does nothing else.
        private var work: (() -> Void)?
        var isTaken = false
        var isDone = false

        init(_ work: @escaping () -> Void) {
            self.work = work
        }

        /// Does the work and lets go of it, so that nothing of the one who waits is held when the
        /// wait is over.
        func run() {
            let work = work
            self.work = nil
            work?()
        }
    }
}

/// What tells threads apart.
struct ThreadMark: Hashable {
    let rawValue: UInt

    /// The mark of whichever thread serves the main queue.
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

/// Tells whether the code at hand runs on the main queue, whichever thread serves it.
///
/// Where the main actor runs on Dispatch without a run loop, as on Linux, the main queue is served by
/// any thread once the first one waits in `dispatchMain`.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool { Thread.isMainThread || isServedHere }

    /// Whether the current thread serves the main queue: the main thread does until it hands that over.
    static var isServedHere: Bool { DispatchQueue.getSpecific(key: key) == true }
}
