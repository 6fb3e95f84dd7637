import DaybookJournalLog
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

    /// Connections that were confirmed when they began are not asked for more than they can give later.
    @Test func `an entry whose wait for the standbys was broken off is handed out to nobody`()
        async throws
    {
        let store = try await onThread { try SharedStore(on: PostgresServer(standbys: "")) }
        let first = group(after: .start, [1])
        let writer = PostgresJournal(try store.terms(), store.identity)
        var limits = PostgresTerms.Limits.patient
        limits.connecting = .seconds(2)
        let readers = [
            PostgresJournal(try store.terms(limits: limits), store.identity),
            PostgresJournal(try store.terms(limits: limits), store.identity),
        ]
        try await onThread {
            #expect(try writer.append(first) == .accepted)
            for reader in readers {
                #expect(try reader.page(after: .start, bytes: 1).entries.count == 1)
            }
            // For a turn: the connection beside it is there, too.
            _ = try readers[1].enter(after: first.after, bytes: 1)
            _ = try readers[1].takeNumbers(1)
            readers[1].leave()
            let operating = try store.server.connection(as: "postgres")
            try operating.run(
                script: "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", until: limit)
            try operating.run(script: "SELECT pg_reload_conf()", until: limit)
        }

        let isAnswered = Atomic(false)
        // The server takes its new setting up a little later.
        async let doubtful = onThread {
            () throws -> (code: SharedJournalError.Code, head: SharedHead) in
            defer { isAnswered.store(true, ordering: .releasing) }
            var head = first.after
            while true {
                let next = group(after: head, [UInt8(truncatingIfNeeded: head.sequence.rawValue)])
                do throws(SharedJournalError) {
                    _ = try writer.append(next)
                    head = next.after
                } catch {
                    return (error.code, head)
                }
            }
        }
        try await onThread {
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
        let (code, head) = try await doubtful
        #expect(code == .inDoubt)
        let count = try await onThread { try store.number("SELECT count(*) FROM daybook.entry") }
        #expect(count == Int64(head.sequence.rawValue) + 1)
        try await onThread {
            for (reader, takesTurn) in zip(readers, [false, true]) {
                let refusal = #expect(throws: SharedJournalError.self) {
                    try takesTurn
                        ? reader.enter(after: head, bytes: 1)
                        : reader.page(after: head, bytes: 1)
                }
                #expect(refusal?.code == .unreachable)
            }
        }
    }
}
