import DaybookJournalLog
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import Foundation
import Synchronization
import Testing

/// What a shared journal accepts, and how it answers.
@Suite struct AppendTests {
    @Test func `what was appended is read back, in order, with who appended it`() async throws {
        let store = try await onThread { try SharedStore() }
        let first = group(after: .start, [1, 2], [], [3])
        let second = group(after: first.after, [4])

        let page = try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(first) == .accepted)
            #expect(try journal.append(second) == .accepted)
            return try journal.page(after: .start, bytes: SharedPage.bytesUsual)
        }

        #expect(page.isLast)
        #expect(page.entries.map(\.payload) == [[1, 2], [], [3], [4]])
        #expect(page.entries.map(\.digest) == (first.entries + second.entries).map(\.digest))
        #expect(
            page.entries.map(\.recordedAt) == (first.entries + second.entries).map(\.recordedAt))
        #expect(page.entries.map(\.token) == [first.token, first.token, first.token, second.token])
        #expect(page.entries.map(\.login) == Array(repeating: store.name, count: 4))
    }

    @Test func `a group that does not begin at the end is behind, whatever else it says`()
        async throws
    {
        let store = try await onThread { try SharedStore() }
        let theirs = group(after: .start, [1])
        let ours = group(after: .start, [2])
        let ahead = group(after: SharedHead(SequenceNumber(9), theirs.after.digest), [3])
        let other = group(after: SharedHead(SequenceNumber(1), ours.after.digest), [4], [5])

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(theirs) == .accepted)
            for late in [ours, ahead, other] { #expect(try journal.append(late) == .behind) }
            let page = try journal.page(after: .start, bytes: 1 << 20)
            #expect(page.entries.map(\.payload) == [[1]])
        }
    }

    @Test func `appending again with the same token is accepted and adds nothing`() async throws {
        let store = try await onThread { try SharedStore() }
        let several = group(after: .start, [1], [2])
        let one = group(after: several.after, [3])
        let impostor = SharedGroup(after: several.after, token: one.token + 1, one.entries)

        try await onThread {
            let node = UUID()
            let journal = PostgresJournal(try store.terms(node: node), store.identity)
            for again in [several, several, one, one] {
                #expect(try journal.append(again) == .accepted)
            }
            #expect(try journal.append(several) == .accepted)
            #expect(try journal.append(impostor) == .behind)
            #expect(try store.journal().append(one) == .behind)
            let page = try journal.page(after: .start, bytes: 1 << 20)
            #expect(page.entries.map(\.payload) == [[1], [2], [3]])
        }
    }

    @Test func `a digest that does not fit is refused, in a list and alone`() async throws {
        let store = try await onThread { try SharedStore() }
        let good = group(after: .start, [1], [2], [3])
        let swapped = SharedGroup(after: .start, token: 1, [good.entries[1]])
        let broken = SharedGroup(after: .start, token: 1, [good.entries[0], good.entries[2]])

        try await onThread {
            let journal = try store.journal()
            for group in [swapped, broken] {
                let error = #expect(throws: SharedJournalError.self) { try journal.append(group) }
                #expect(error?.code == .refused)
                #expect(error?.message.contains("DB004") == true)
            }
            #expect(try journal.append(good) == .accepted)
        }
    }

    @Test func `clocks may be ten seconds ahead, and times never fall`() async throws {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            let journal = try store.journal()
            let ahead = group(after: .start, at: microseconds() + 3_600_000_000, [1])
            let error = #expect(throws: SharedJournalError.self) { try journal.append(ahead) }
            #expect(error?.message.contains("DB007") == true)
            let aheadTogether = group(after: .start, at: microseconds() + 3_600_000_000, [1], [2])
            #expect(throws: SharedJournalError.self) { try journal.append(aheadTogether) }

            let now = microseconds() + 5_000_000
            let first = group(after: .start, at: now, [1])
            #expect(try journal.append(first) == .accepted)
            for payloads in [[[2]], [[2], [3]]] as [[[UInt8]]] {
                let earlier = SharedGroup(
                    after: first.after, token: 1, entries(after: first.after, at: now - 1, payloads)
                )
                let error = #expect(throws: SharedJournalError.self) { try journal.append(earlier) }
                #expect(error?.message.contains("DB003") == true)
            }
            #expect(try journal.append(group(after: first.after, at: now, [2])) == .accepted)
        }
    }

    @Test func `the clock of the journal is the server's and never goes back`() async throws {
        let store = try await onThread { try SharedStore() }

        try await onThread {
            let terms = try store.terms()
            let slow = PostgresTerms(
                servers: terms.servers, store: terms.store, node: terms.node, program: "tests",
                protection: .waived, limits: .patient,
                clock: { microseconds() - 3_600_000_000 })
            let journal = PostgresJournal(slow, store.identity)
            _ = try journal.page(after: .start, bytes: 1)
            let behind = microseconds() - journal.now()
            #expect(abs(behind) < 60_000_000)
            #expect(journal.now() <= journal.now())
        }
    }

    @Test func `a clock that was set forward is followed no longer than to the first refusal`()
        async throws
    {
        let store = try await onThread { try SharedStore() }
        let jump = Atomic<Int64>(0)

        try await onThread {
            let terms = try store.terms()
            let journal = PostgresJournal(
                PostgresTerms(
                    servers: terms.servers, store: terms.store, node: terms.node, program: "tests",
                    protection: .waived, limits: terms.limits,
                    clock: { microseconds() + jump.load(ordering: .relaxed) }), store.identity)
            _ = try journal.page(after: .start, bytes: 1)
            jump.store(3_600_000_000, ordering: .relaxed)
            let error = #expect(throws: SharedJournalError.self) {
                try journal.append(group(after: .start, at: journal.now(), [1]))
            }
            #expect(error?.message.contains("DB007") == true)
            #expect(abs(microseconds() - journal.now()) < 60_000_000)
            let again = group(after: .start, at: journal.now(), [1])
            #expect(try journal.append(again) == .accepted)
        }
    }

    @Test func `long payloads stand in chunks and come back whole`() async throws {
        let store = try await onThread { try SharedStore() }
        var generator = SystemRandomNumberGenerator()
        let long = (0..<(5 << 17) + 77).flatMap { _ in
            withUnsafeBytes(of: generator.next() as UInt64) { Array($0) }
        }
        let exact = Array(long[..<(1 << 20)])
        let group = group(after: .start, [1], long, exact, Array(exact + [9]))

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(group) == .accepted)
            #expect(try journal.append(group) == .accepted)
            let page = try journal.page(after: .start, bytes: 1 << 30)
            #expect(page.entries.map(\.payload) == group.entries.map(\.payload))
            #expect(try journal.append(DaybookPostgresTests.group(after: .start, long)) == .behind)
            let chunks = try store.number(
                "SELECT count(*) FROM daybook.chunk WHERE store = \(store.number)")
            #expect(chunks == 8)
        }
    }

    @Test func `pages end when they have enough, and say whether there is more`() async throws {
        let store = try await onThread { try SharedStore() }
        let all = group(after: .start, [1, 1], [2, 2], [3, 3], [4, 4], [5, 5])

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(all) == .accepted)
            let first = try journal.page(after: .start, bytes: 3)
            #expect(first.entries.map(\.payload) == [[1, 1], [2, 2]])
            #expect(!first.isLast)
            let second = try journal.page(after: first.after(.start), bytes: 6)
            #expect(second.entries.map(\.payload) == [[3, 3], [4, 4], [5, 5]])
            #expect(second.isLast)
            let none = try journal.page(after: all.after, bytes: 6)
            #expect(none.entries.isEmpty)
            #expect(none.isLast)
        }
    }

    @Test func `a place that the journal does not have is another way`() async throws {
        let store = try await onThread { try SharedStore() }
        let theirs = group(after: .start, [1], [2])
        let ours = group(after: .start, [1], [3])

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(theirs) == .accepted)
            for head in [ours.after, SharedHead(SequenceNumber(7), theirs.after.digest)] {
                let error = #expect(throws: SharedJournalError.self) {
                    try journal.page(after: head, bytes: 1)
                }
                #expect(error?.code == .diverged)
            }
        }
    }

    @Test func `an entry that is longer than any may be is too large`() async throws {
        let store = try await onThread { try SharedStore() }
        let one = group(after: .start, [1]).entries[0]
        let long = JournalEntry(one, payload: Array(repeating: 0, count: (512 << 20) + 1))

        let error = try await onThread {
            #expect(throws: SharedJournalError.self) {
                try store.journal().append(SharedGroup(after: .start, token: 1, [long]))
            }
        }

        #expect(error?.code == .tooLarge)
    }
}
