import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// A server whose standbys do not answer: it answers questions, and nothing it writes is confirmed.
@Suite struct CutOffTests {
    @Test func `nothing is read from a server that nobody confirms`() async throws {
        let store = try await onThread { try SharedStore(on: PostgresServer(standbys: "nobody")) }
        var limits = PostgresTerms.Limits()
        limits.connecting = .milliseconds(500)

        let silent = try await onThread { [limits] in
            let journal = PostgresJournal(
                try store.terms(protection: .required, limits: limits), store.identity)
            return #expect(throws: SharedJournalError.self) {
                try journal.page(after: .start, bytes: 1)
            }
        }
        #expect(silent?.code == .unreachable)
        #expect((silent?.cause as? PostgresError)?.code == .late)

        // A wait that an operator breaks off is a warning, and no confirmation.
        limits.connecting = .seconds(60)
        let isAnswered = Atomic(false)
        async let cancelled = onThread { [limits] in
            defer { isAnswered.store(true, ordering: .releasing) }
            let journal = PostgresJournal(
                try store.terms(protection: .required, limits: limits), store.identity)
            return #expect(throws: SharedJournalError.self) {
                try journal.page(after: .start, bytes: 1)
            }
        }
        _ = try await onThread {
            let operating = try store.server.connection(as: "postgres")
            let cancel = PostgresStatement(
                "cancel",
                """
                SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                WHERE wait_event = 'SyncRep' AND usename = '\(store.name)'
                """)
            while !isAnswered.load(ordering: .acquiring) {
                _ = try operating.run(cancel, until: limit)
            }
        }
        let told = try await cancelled
        #expect(told?.code == .unreachable)
        #expect(told?.message.contains("do not confirm") == true)
    }
}
