internal import DaybookJournalLog
internal import DaybookPQ
import DaybookSnapshotStore
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Sends and receives the news of a store, on a thread and a connection of its own.
///
/// News are sent after the append that they tell of is final: in the same transaction of PostgreSQL, the appends of all
/// stores would wait for each other.
///
/// Invariants:
/// - The thread runs from the first use on until ``stop()``, or until the process ends.
/// - Followers are called by the thread, with no lock held.
final class PostgresListener: Sendable {
    private let terms: PostgresTerms
    private let clock: ServerClock
    private let state = Mutex(State())
    /// Nil in a process that may open no more files: what is announced then waits for the next look.
    private let wake = Wake()

    private struct State {
        var followers: [Int: @Sendable (SequenceNumber) -> Void] = [:]
        var followersSoFar = 0
        /// The last entry that is still to be announced.
        var announced: SharedHead?
        /// The last entry that somebody has announced.
        var heard: SharedHead?
        /// The last entry of this node's file, as far as it has told.
        var known = SequenceNumber.zero
        var isRunning = false
        var isStopped = false
        /// The thread, while it runs.
        var thread: pthread_t?
    }

    /// Entered while the thread is to run, or runs.
    private let running = DispatchGroup()

    /// A listener that has not begun.
    ///
    /// - Parameters:
    ///   - terms: The terms of the store.
    ///   - clock: What follows the clock of the server.
    init(_ terms: PostgresTerms, _ clock: ServerClock) {
        self.terms = terms
        self.clock = clock
    }

    /// Calls `body` with each piece of news.
    ///
    /// - Parameter body: What is called.
    /// - Returns: What ends the calls when it is released.
    func follow(_ body: @escaping @Sendable (SequenceNumber) -> Void) -> any AnyObject & Sendable {
        let number = state.withLock { state in
            state.followersSoFar += 1
            state.followers[state.followersSoFar] = body
            return state.followersSoFar
        }
        run()
        return Following { [weak self] in
            self?.state.withLock { $0.followers[number] = nil }
        }
    }

    /// Has the end of the journal announced, soon.
    ///
    /// - Parameter head: The last entry, which was accepted.
    func announce(_ head: SharedHead) {
        state.withLock { state in
            guard state.announced.map({ $0.sequence < head.sequence }) ?? true else { return }
            state.announced = head
        }
        run()
        wake?.call()
    }

    /// The last entry of which its appender has told that it was accepted; nil before the first.
    var heard: SharedHead? { state.withLock(\.heard) }

    /// Says where this node's file ends: news of entries up to there are none to it.
    ///
    /// - Parameter sequence: The last entry.
    func know(_ sequence: SequenceNumber) {
        state.withLock { $0.known = sequence }
    }

    /// Ends the thread, when it has announced what there is to announce.
    ///
    /// It waits for that, but not longer than for a server: who ends the process next must not take libraries down
    /// under a thread that uses them.
    func stop() {
        // Nil also for a thread that is about to begin, which cannot be this one.
        let thread = state.withLock { state in
            state.isStopped = true
            return state.thread
        }
        wake?.call()
        if let thread, pthread_equal(thread, pthread_self()) != 0 { return }
        let limit = Int((terms.limits.connecting + terms.limits.connecting).components.seconds)
        _ = running.wait(timeout: .now() + .seconds(max(1, limit)))
    }

    // MARK: - The thread

    private func run() {
        let isFirst = state.withLock { state in
            guard !state.isRunning, !state.isStopped else { return false }
            state.isRunning = true
            running.enter()
            return true
        }
        guard isFirst else { return }
        EndOfProcess.add(self)
        Thread.detachNewThread {
            self.state.withLock { $0.thread = pthread_self() }
            self.loop()
            self.state.withLock { $0.thread = nil }
            EndOfProcess.remove(self)
            self.running.leave()
        }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Whether the thread is to end, and has nothing left to announce.
    private var isDone: Bool { state.withLock { $0.isStopped && $0.announced == nil } }

    private func loop() {
        var backoff = Backoff()
        while !isDone {
            do {
                try listen { backoff.reset() }
            } catch {
                // Whoever saves or reads is told; here it is tried again.
                guard !isStopped else { return }
                let end = ContinuousClock.now + backoff.wait()
                guard let wake else { rest(until: end); continue }
                while !isStopped && wake.wait(until: end) {}
            }
        }
    }

    private func listen(_ hasBegun: () -> Void) throws(PostgresError) {
        let server = try ConfirmedServer(terms, clock)
        let channel = "daybook_\(server.store)"
        // News are lost with a server, and need not wait for its disk.
        try server.connection.run(
            script: "SET synchronous_commit = off; LISTEN \(channel)", until: limit)
        hasBegun()
        var nextLook = ContinuousClock.now
        while !isDone {
            if nextLook <= .now, !isStopped {
                try server.confirm(terms)
                try look(on: server)
                nextLook = .now + terms.limits.looking
            }
            try sendAnnounced(channel, on: server)
            guard !isStopped else { return }
            let payloads = try server.connection.waitForNotifications(orFor: wake, until: nextLook)
            // Anybody may notify: what is told is what the journal says. This node's own news come back, too, and
            // while several append, most of the others' have been taken in before.
            let announced = payloads.map { SharedHead(announced: $0) }
            let last = announced.compactMap(\.self).max { $0.sequence < $1.sequence }
            let known = state.withLock { state in
                state.heard = last ?? state.heard
                return state.known
            }
            if announced.contains(where: { $0.map { $0.sequence > known } ?? true }) {
                try look(on: server)
            }
        }
    }

    private func look(on server: ConfirmedServer) throws(PostgresError) {
        let rows = try server.connection.run(Self.lastEntry, [.int4(server.store)], until: limit)
        guard let row = rows.first, !row.isNull(0) else { return }
        tell(SequenceNumber(UInt64(clamping: try row.integer(0))))
    }

    private func sendAnnounced(
        _ channel: String, on server: ConfirmedServer
    ) throws(PostgresError) {
        let announced = state.withLock { state in
            defer { state.announced = nil }
            return state.announced
        }
        guard let announced else { return }
        _ = try server.connection.run(
            Self.notify, [.text(channel), .text(announced.announcement)], until: limit)
    }

    private func tell(_ sequence: SequenceNumber) {
        for body in state.withLock({ Array($0.followers.values) }) { body(sequence) }
    }

    private var limit: ContinuousClock.Instant { .now + terms.limits.connecting }

    private static let lastEntry = PostgresStatement(
        "daybook_last", "SELECT max(sequence) FROM daybook.entry WHERE store = $1")
    private static let notify = PostgresStatement("daybook_notify", "SELECT pg_notify($1, $2)")
}

// An announcement is the number of an entry and its digest, with a space between. Who has the digest has seen the entry.
extension SharedHead {
    fileprivate var announcement: String { "\(sequence) \(digest.hexadecimal)" }

    /// What an announcement says; nil when it is none.
    fileprivate init?(announced text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[0]),
            let digest = Digest(hexadecimal: String(parts[1]))
        else { return nil }
        self.init(SequenceNumber(number), digest)
    }
}

/// Ends something when it is released.
private final class Following: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}
