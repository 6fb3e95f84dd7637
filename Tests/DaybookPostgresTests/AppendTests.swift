import DaybookJournalLog
import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What a shared journal accepts, and how it answers.
@Suite struct AppendTests {
    @Test(arguments: SharedJournalRule.all)
    func `PostgreSQL's journal keeps the rules`(_ rule: SharedJournalRule) async throws {
        try await rule.check { try SharedStore(numbers: $0) }
    }

    @Test func `what follows an entry may have its time where the clock of the server is behind`()
        async throws
    {
        let store = try await onThread { try SharedStore(on: PostgresServer()) }
        let first = group(after: .start, [1])
        let time = first.entries[0].recordedAt
        let one = group(after: first.after, at: time, [2])
        let several = group(after: one.after, at: time, [3], [4])

        try await onThread {
            let journal = try store.journal()
            #expect(try journal.append(first) == .accepted)
            try store.server.administer(
                """
                CREATE OR REPLACE FUNCTION daybook.clock() RETURNS bigint LANGUAGE sql VOLATILE
                    SET search_path = pg_catalog, pg_temp AS $$
                    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 60000000
                $$
                """)
            #expect(try journal.append(one) == .accepted)
            #expect(try journal.append(several) == .accepted)
            let later = group(after: several.after, at: time + 1, [5])
            let error = #expect(throws: SharedJournalError.self) {
                try store.journal().append(later)
            }
            #expect(error?.message.contains("DB007") == true)
        }
    }

    @Test func `long payloads stand in chunks`() async throws {
        let store = try await onThread { try SharedStore() }
        let exact = [UInt8](repeating: 7, count: 1 << 20)
        let group = group(after: .start, [1], exact + exact + [1], exact, exact + [9])

        let chunks = try await onThread {
            #expect(try store.journal().append(group) == .accepted)
            return try store.number(
                "SELECT count(*) FROM daybook.chunk WHERE store = \(store.number)")
        }

        #expect(chunks == 5)
    }

    @Test func `entries that are too long together are sent one by one, and are there together`()
        async throws
    {
        let store = try await onThread { try SharedStore() }
        let payloads = (0..<9).map { [UInt8](repeating: UInt8($0), count: 1 << 20) }
        let group = SharedGroup(after: .start, at: microseconds(), token: 5, payloads: payloads)

        let (first, again, page) = try await onThread {
            let journal = try store.journal()
            return (
                try journal.append(group), try journal.append(group),
                try journal.page(after: .start, bytes: 64 << 20)
            )
        }

        #expect(first == .accepted)
        #expect(again == .accepted)
        #expect(page.entries.map(\.payload) == payloads)
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
