/// For how long a group of writes waits for those who are missing.
///
/// Those who have just been answered together are likely to come again together, but not at the same
/// moment. So a group waits for as many as took part or stood in line when the last one ended, for a
/// while that is short beside the sync that they are spared.
///
/// All times are nanoseconds of one clock that does not go back.
///
/// Invariants:
/// - Who was alone the last time waits for nobody, nor does who comes long after the last group.
/// - Patience is learned from the group before alone, and only if that was complete.
struct GroupPatience: Sendable {
    /// How a group waits.
    struct Wait: Sendable, Hashable {
        /// How many must come for it to end early.
        var count: Int
        /// How long it may take.
        var nanoseconds: UInt64
    }

    /// How many the group under way, or else the next one, is expected to have.
    private(set) var countExpected = 1
    /// For how long it may wait, in all.
    private(set) var nanoseconds: UInt64 = 0
    /// When it has waited long enough, and how many it had when it began to; nil before it waits.
    private var waiting: (deadline: UInt64, count: Int)?
    /// When it was complete; nil as long as more may join.
    private var completed: UInt64?
    /// When the last one ended.
    private var ended: UInt64 = 0
    /// How many groups are still not to wait, and how many shall not the next time that waiting
    /// was in vain.
    private var groupsToPass = 0
    private var groupsToPassNext = 1

    /// Begins a group when nobody is writing: after a while, nobody is on the way either.
    mutating func beginAlone(at now: UInt64) {
        if now > ended + Self.longest { countExpected = 1 }
    }

    /// Decides whether a group, behind which nobody stands, waits for those who are missing.
    ///
    /// - Parameters:
    ///   - count: How many the group has.
    ///   - now: The time.
    /// - Returns: How it waits; nil when it is complete.
    mutating func wait(having count: Int, at now: UInt64) -> Wait? {
        let missing = countExpected - count
        let deadline = waiting?.deadline ?? now + nanoseconds
        guard missing > 0, groupsToPass == 0, now < deadline else {
            completed = now
            return nil
        }
        if waiting == nil { waiting = (deadline, count) }
        // Half of them at a time, so that some are run while others are still on the way, and the
        // writer is not woken for each.
        return Wait(count: (missing + 1) / 2, nanoseconds: deadline - now)
    }

    /// Notes that nobody has come while the group waited: it is complete.
    mutating func noteNobodyCame(at now: UInt64) {
        completed = now
    }

    /// Learns from a group what to expect of the next one.
    ///
    /// - Parameters:
    ///   - count: How many it had.
    ///   - countNext: How many may come next: itself, and those who stand in line.
    ///   - now: When it has ended.
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

    /// In nanoseconds. To wait for less takes longer than it spares.
    private static let shortest: UInt64 = 50_000
    /// In nanoseconds. In that time a thread that is awake has long prepared a small save.
    private static let longest: UInt64 = 1_000_000
    private static let groupsToPassMaximum = 64
}
