import DaybookJournalLog
import DaybookPQ
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookPostgres

/// Settings that administrators give logins, and what stands between programs and servers.
@Suite struct SettingTests {
    @Test(arguments: [
        "statement_timeout = '200ms'", "lock_timeout = '200ms'", "idle_session_timeout = '200ms'",
        "standard_conforming_strings = off", "row_security = off",
        "default_transaction_isolation = 'serializable'", "client_min_messages = 'error'",
        "\"DateStyle\" = 'German'", "bytea_output = 'escape'", "search_path = 'nowhere'",
    ])
    func `a setting of a login neither ends its waits nor changes what it does`(_ setting: String)
        async throws
    {
        let store = try await onThread { try SharedStore() }
        let first = group(after: .start, [1])
        let second = group(after: first.after, [2])
        let long = group(after: second.after, [UInt8](repeating: 0x5C, count: (2 << 20) + 1))
        let journal = try store.journal()
        let (held, tellHeld) = AsyncStream.makeStream(of: Void.self)

        try await onThread {
            try store.server.administer("ALTER ROLE \(store.name) SET \(setting)")
            #expect(try journal.append(first) == .accepted)
            // Longer than any of the limits; the connection of the journal is idle.
            try store.server.administer("SELECT pg_sleep(0.4)")
            #expect(try journal.append(second) == .accepted)
        }
        async let ended: Void = onThread {
            defer { tellHeld.finish() }
            let holder = try store.server.connection(as: "postgres")
            try holder.run(script: "BEGIN; SELECT daybook.enter(\(store.number))", until: limit)
            tellHeld.finish()
            try holder.run(script: "SELECT pg_sleep(0.6); COMMIT", until: limit)
        }
        for await _ in held {}
        // Whoever has the turn is expected to go on at once, so nothing is awaited in between.
        let (page, answer) = try await onThread {
            (try journal.enter(after: second.after, bytes: 1), try journal.append(long))
        }
        try await ended

        #expect(page.entries.isEmpty)
        #expect(answer == .accepted)
    }

    @Test(arguments: ["26000", "42P05"])
    func `a pooler that lends connections by transaction is named`(_ state: String) {
        let error = SharedJournalError(
            PostgresError(.refused, state: state, "prepared statement \"daybook_find\" is strange"))

        #expect(error.code == .refused)
        #expect(error.message.contains("by session"))
        #expect(error.message.contains(state))
    }
}
