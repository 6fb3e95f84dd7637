import DaybookPQ
import DaybookPostgres
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// A shared journal on a leader with two standbys, one of which has to confirm.
@Suite(.serialized) struct ClusterTests {
    @Test func `each connection begins with a write, and a server that comes back confirms`()
        async throws
    {
        try await onThread {
            let store = try ClusterStore()
            let cluster = store.cluster
            let (leader, others) = (try cluster.leader, try cluster.others)
            let journal = try store.journal()
            let first = group(after: .start, [1])
            #expect(try journal.append(first) == .accepted)
            let connected = try store.connections(on: leader)
            #expect(connected.count == 1)

            try cluster.administer(
                leader,
                """
                SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity
                WHERE usename = 'ledger'
                """)
            #expect(try journal.retriedPage(after: .start).entries.map(\.payload) == [[1]])
            let again = try store.connections(on: leader)
            #expect(again.count == 1)
            #expect(again != connected)

            // One of two is enough, and then the other one alone, which was down meanwhile.
            let second = group(after: first.after, [2])
            let third = group(after: second.after, [3])
            try cluster.run("kill", String(others[0]))
            #expect(try journal.append(second) == .accepted)
            try cluster.run("rejoin", String(others[0]))
            try cluster.run("kill", String(others[1]))
            #expect(try journal.append(third) == .accepted)
            #expect(try store.journal().payloads() == [[1], [2], [3]])
        }
    }

    @Test(arguments: [1, 2])
    func `a failover in the middle of appends loses nothing and doubles nothing`(_ seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let before = Int.random(in: 20...120, using: &random)
        // Otherwise it lives on, and is only followed by nobody any more.
        let isKilled = seed % 2 == 1
        let tally = Tally()
        let store = try await onThread { try ClusterStore() }

        async let written = onThreads(3) { index in
            let journal = try store.journal(limits: .short)
            return try journal.appendMany(as: index, tally)
        }
        try await onThread {
            defer { tally.end() }
            tally.wait(for: before)
            let old = try store.cluster.leader
            if isKilled { try store.cluster.run("kill", String(old)) }
            try store.cluster.run("failover")
            #expect(try store.cluster.leader != old)
            tally.wait(for: tally.count + 60)
        }
        let acknowledged = try await written.flatMap { $0 }

        let kept = try await onThread { try store.journal(limits: .short).payloads() }
        #expect(
            kept.count == Set(kept).count, "Doubled with seed \(seed), after \(before) appends.")
        #expect(
            Set(kept) == Set(acknowledged), "Lost with seed \(seed), after \(before) appends.")
        #expect(acknowledged.count >= before + 60)
    }

    @Test func `a leader that was cut off is not believed, nor after its restart`() async throws {
        try await onThread {
            let store = try ClusterStore()
            let cluster = store.cluster
            let old = try cluster.leader
            let all = [old] + (try cluster.others)
            let journal = try store.journal(all, limits: .short)
            let first = group(after: .start, [1])
            let second = group(after: first.after, [2])
            #expect(try journal.retried(first) == .accepted)

            try cluster.run("cut", String(old))
            let doubt = #expect(throws: SharedJournalError.self) { try journal.append(second) }
            #expect(doubt?.code == .inDoubt)
            #expect((doubt?.cause as? PostgresError)?.code == .late)
            try cluster.run("failover")
            try cluster.run("kill", String(old))
            try cluster.run("start", String(old))

            // What nobody has confirmed is there for all to see.
            #expect(try store.entries(on: old) == 2)
            let alone = #expect(throws: SharedJournalError.self) {
                try store.journal([old], limits: .short).page(after: .start, bytes: 1)
            }
            #expect(alone?.code == .unreachable)
            #expect((alone?.cause as? PostgresError)?.code == .late)
            #expect(try store.journal(all, limits: .short).payloads() == [[1]])

            // In doubt is settled where the others are.
            #expect(try journal.retried(second) == .accepted)
            #expect(try journal.payloads() == [[1], [2]])
            #expect(try store.entries(on: try cluster.leader) == 2)

            try cluster.run("heal")
            try cluster.run("rejoin", String(old))
            let third = group(after: second.after, [3])
            let other = try #require(try cluster.others.first { $0 != old })
            try cluster.run("kill", String(other))
            #expect(try journal.retried(third) == .accepted)
            #expect(try store.journal(all).payloads() == [[1], [2], [3]])
        }
    }

    @Test func `a server whose port was taken follows when that is free again`() async throws {
        try await onThread {
            let cluster = try ClusterStore().cluster
            let old = try cluster.leader
            try cluster.run("kill", String(old))
            try cluster.run("failover")
            let (file, _) = try listeningSocket(port: cluster.port(of: old))
            let error = #expect(throws: (any Error).self) { try cluster.run("rejoin", String(old)) }
            #expect(error.map { "\($0)".contains("Address already in use") } == true)

            close(file)
            try cluster.run("rejoin", String(old))
            #expect(try cluster.others.contains(old))
        }
    }

    @Test func `without standbys appends wait, and a wait that is broken off leaves a doubt`()
        async throws
    {
        let store = try await onThread { try ClusterStore() }
        let cluster = store.cluster
        let (leader, others) = try await onThread { (try cluster.leader, try cluster.others) }
        let (first, patient, hasty) = try await onThread {
            let patient = try store.journal()
            let first = group(after: .start, [1])
            #expect(try patient.append(first) == .accepted)
            let hasty = try store.journal([leader], limits: .short)
            #expect(try hasty.payloads() == [[1]])
            for server in others { try cluster.run("kill", String(server)) }
            return (first, patient, hasty)
        }
        let second = group(after: first.after, [2])
        let third = group(after: second.after, [3])

        let isAnswered = Atomic(false)
        async let cancelled = onThread {
            defer { isAnswered.store(true, ordering: .releasing) }
            return #expect(throws: SharedJournalError.self) { try patient.append(second) }
        }
        try await onThread {
            while !isAnswered.load(ordering: .acquiring) {
                try cluster.administer(
                    leader,
                    """
                    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
                    WHERE wait_event = 'SyncRep' AND usename = 'ledger'
                    """)
            }
        }
        let warned = try await cancelled
        #expect(warned?.code == .inDoubt)
        #expect(warned?.message.contains("with a warning") == true)

        try await onThread {
            let late = #expect(throws: SharedJournalError.self) { try hasty.append(third) }
            #expect(late?.code == .inDoubt)
            #expect((late?.cause as? PostgresError)?.code == .late)
            let new = #expect(throws: SharedJournalError.self) {
                try hasty.page(after: .start, bytes: 1)
            }
            #expect(new?.code == .unreachable)

            for server in others { try cluster.run("start", String(server)) }
            #expect(try patient.retried(second) == .accepted)
            #expect(try hasty.retried(third) == .accepted)
            #expect(try patient.payloads() == [[1], [2], [3]])
        }
    }

    @Test func `servers of which none has to confirm are refused, also by open connections`()
        async throws
    {
        try await onThread {
            let store = try ClusterStore()
            let leader = try store.cluster.leader
            let journal = try store.journal()
            let first = group(after: .start, [1])
            #expect(try journal.payloads() == [])

            try store.cluster.setStandbys("''", on: leader)
            defer {
                #expect(throws: Never.self) {
                    try store.cluster.setStandbys("'ANY 1 (n0, n1, n2)'", on: leader)
                }
            }
            for journal in [journal, try store.journal()] {
                let error = #expect(throws: SharedJournalError.self) { try journal.append(first) }
                #expect(error?.code == .unprotected)
            }
            #expect(try store.entries(on: leader) == 0)
            #expect(try store.journal(protection: .waived).append(first) == .accepted)
        }
    }
}

extension PostgresCluster {
    /// Says which standbys have to confirm what a server writes, and waits until it has heard of it.
    fileprivate func setStandbys(_ names: String, on server: Int) throws {
        let isEmpty = names == "''"
        try administer(server, "ALTER SYSTEM SET synchronous_standby_names = \(names)")
        try administer(server, "SELECT pg_reload_conf()")
        // A new connection goes by what the server has read.
        let question = "SELECT current_setting('synchronous_standby_names') = ''"
        while try administer(server, question) != (isEmpty ? "t" : "f") {}
    }
}
