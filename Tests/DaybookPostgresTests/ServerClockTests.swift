import DaybookJournalLog
import DaybookPQ
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookPostgres

/// The time of entries, whatever clocks do.
@Suite struct ServerClockTests {
    private static let hour: Int64 = 3_600_000_000

    /// A journal of a machine whose clock is as far off as `jump` says.
    private static func journal(
        of store: SharedStore, _ jump: ClockJump
    ) throws -> PostgresJournal {
        let terms = try store.terms()
        return PostgresJournal(
            PostgresTerms(
                servers: terms.servers, store: terms.store, node: terms.node, program: "tests",
                protection: .waived, limits: terms.limits,
                clock: { microseconds() + jump.microseconds }), store.identity)
    }

    @Test(arguments: [-3_600_000_000, 3_600_000_000])
    func `a clock that is set while a journal is used changes no time of entries`(_ step: Int64)
        async throws
    {
        let store = try await onThread { try SharedStore() }
        let jump = ClockJump()

        try await onThread {
            let journal = try Self.journal(of: store, jump)
            _ = try journal.page(after: .start, bytes: 1)
            let before = journal.now()
            jump.set(step)
            // The way to the server and back takes longer than a microsecond.
            _ = try journal.marks(.tag)
            let after = journal.now()
            #expect(after > before)
            #expect(abs(microseconds() - after) < 60_000_000)
            #expect(try journal.append(group(after: .start, at: after, [1])) == .accepted)
        }
    }

    @Test func `a time from before a server was reached is taken back once`() async throws {
        let store = try await onThread { try SharedStore() }
        let jump = ClockJump()
        jump.set(Self.hour)

        try await onThread {
            let journal = try Self.journal(of: store, jump)
            let ahead = group(after: .start, at: journal.now(), [1])
            #expect(try journal.append(ahead) == .behind)
            #expect(abs(microseconds() - journal.now()) < 60_000_000)
            let error = #expect(throws: SharedJournalError.self) { try journal.append(ahead) }
            #expect(error?.message.contains("DB007") == true)
            let again = group(after: .start, at: journal.now(), [1])
            #expect(try journal.append(again) == .accepted)
        }
    }

    @Test func `a reading takes back what is later, and the times between two never fall`() throws {
        let clock = ServerClock(own: { 9_000_000_000 })
        #expect(clock.now() == 9_000_000_000)
        let start = ContinuousClock.now
        let first = try #require(
            ServerClock.Reading(5_000_000_000, askedAt: start, answeredAt: start))

        clock.follow(first)

        let told = [clock.now(), clock.now()]
        #expect(told[0] >= 5_000_000_000 && told[1] >= told[0] && told[1] < 9_000_000_000)
        #expect(!clock.hasTakenBack(9_000_000_001))
        #expect(clock.hasTakenBack(9_000_000_000))
        #expect(!clock.hasTakenBack(9_000_000_000))
    }

    @Test func `a clock that shows no time is no reading, and any other goes on`() {
        let start = ContinuousClock.now
        let readings = [Int64.min, -1, 1_000, 1 << 55, .max].map {
            ServerClock.Reading($0, askedAt: start, answeredAt: start + .microseconds(200))
        }

        #expect(readings.map { $0 == nil } == [true, true, false, true, true])
        #expect(readings[2]?.time(at: start + .seconds(2)) == 2_000_900)
    }
}

/// How far a clock is off.
private final class ClockJump: Sendable {
    private let value = Atomic<Int64>(0)

    func set(_ microseconds: Int64) { value.store(microseconds, ordering: .relaxed) }

    var microseconds: Int64 { value.load(ordering: .relaxed) }
}
