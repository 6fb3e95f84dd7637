/// Decides how long a group of writes waits for missing requests.
///
/// Threads that have just been answered together are likely to come again together, but not at the
/// same moment. So a group waits for as many as took part or were queued when the last one ended,
/// for a time that is short compared with the sync it saves.
///
/// All times are nanoseconds of one clock that does not go back.
///
/// Invariants:
/// - A thread that was alone last time does not wait, nor does one that comes long after the last
///   group.
/// - The waiting time depends only on the previous group, and only if that was complete.
struct GroupPatience: Sendable {
    /// A wait of a group.
    struct Wait: Sendable, Hashable {
        /// The number of arrivals that end it early.
        var count: Int
        /// Its limit.
        var nanoseconds: UInt64
    }

    /// The expected size of the current group, or else of the next one.
    private(set) var countExpected = 1
    /// Its total waiting time.
    private(set) var nanoseconds: UInt64 = 0
    /// The end of the wait, and the size of the group when it began; nil before it waits.
    private var waiting: (deadline: UInt64, count: Int)?
    /// The time at which it was complete; nil as long as more may join.
    private var completed: UInt64?
    /// The time at which the last group ended.
    private var ended: UInt64 = 0
    /// The number of groups that will not wait, and the number that will not after the next wait in
    /// vain.
    private var groupsToPass = 0
    private var groupsToPassNext = 1

    /// Begins a group when there is no writer: after some time, no other request is on its way
    /// either.
    mutating func beginAlone(at now: UInt64) {
        if now > ended + Self.longest { countExpected = 1 }
    }

    /// Decides whether a group with no request queued behind it waits for missing ones.
    ///
    /// - Parameters:
    ///   - count: The size of the group.
    ///   - now: The time.
    /// - Returns: The wait; nil when it is complete.
    mutating func wait(having count: Int, at now: UInt64) -> Wait? {
        let missing = countExpected - count
        let deadline = waiting?.deadline ?? now + nanoseconds
        guard missing > 0, groupsToPass == 0, now < deadline else {
            completed = now
            return nil
        }
        if waiting == nil { waiting = (deadline, count) }
        // Half of them at a time, so that some are run while others are still on their way, and the
        // writer is not woken for each.
        return Wait(count: (missing + 1) / 2, nanoseconds: deadline - now)
    }

    /// Records that no request came while the group waited: it is complete.
    mutating func recordVainWait(at now: UInt64) {
        completed = now
    }

    /// Learns from a group for the next one.
    ///
    /// - Parameters:
    ///   - count: Its size.
    ///   - countNext: The number that may come next: the group itself and the queued requests.
    ///   - now: The time of its end.
    mutating func end(having count: Int, expecting countNext: Int, at now: UInt64) {
        if groupsToPass > 0 { groupsToPass -= 1 }
        if let waiting {
            let wasInVain = count == waiting.count
            groupsToPass = wasInVain ? groupsToPassNext : 0
            groupsToPassNext = wasInVain ? min(2 * groupsToPassNext, Self.groupsToPassMaximum) : 1
        }
        let patience = completed.map { min((now - min(now, $0)) / 2, Self.longest) } ?? 0
        nanoseconds = patience < Self.shortest ? 0 : patience
        countExpected = countNext
        waiting = nil
        completed = nil
        ended = now
    }

    /// In nanoseconds. A shorter wait costs more than it saves.
    private static let shortest: UInt64 = 50_000
    /// In nanoseconds. A running thread prepares a small save in much less time.
    private static let longest: UInt64 = 1_000_000
    private static let groupsToPassMaximum = 64
}
