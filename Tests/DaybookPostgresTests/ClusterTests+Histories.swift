import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookPQ
import DaybookTestSupport
import Foundation
import Testing

// In the suite of the cluster: its tests kill servers, one after the other.

extension ClusterTests {
    @Test(arguments: IsolationWork.Way.allCases)
    func `histories of copies whose servers fail over have no anomaly that is ruled out`(
        way: IsolationWork.Way
    ) async throws {
        for _ in 0..<SharedHistoryTests.histories {
            let seed = UInt64.random(in: 1...1_000_000_000)
            let history = try await onThread { try Self.historyOfFailover(way, seed) }
            CountedWork.add(1, "histories")
            CountedWork.add(history.transactions.count, "transactions")
            let found = history.anomalies(by: .sessions).filter { !way.allows.contains($0.anomaly) }
            #expect(found == [], "seed \(seed)")
            #expect(history.transactions.contains { $0.outcome == .committed }, "seed \(seed)")
        }
    }

    /// What three programs do while the server that leads is killed or left by the others.
    private static func historyOfFailover(
        _ way: IsolationWork.Way, _ seed: UInt64
    ) throws -> TransactionHistory {
        let store = try ClusterStore()
        let programs = try (0..<3).map { _ in
            try SharedProgram(store.link(), model: [IsolationCell.self])
        }
        try IsolationWork(in: programs[0].container, way).prepare()
        for program in programs { try program.store.catchUp(within: .seconds(30)) }

        // One of the threads is the operator's.
        let sessions = programs.count * 2
        let parts = try waitingForThreads(sessions + 1) { session in
            if session == sessions {
                let leader = try store.cluster.leader
                if seed.isMultiple(of: 2) { try store.cluster.run("kill", String(leader)) }
                try store.cluster.run("failover")
                return [TransactionHistory.Transaction]()
            }
            let work = IsolationWork(in: programs[session % programs.count].container, way)
            return try work.transactions(40, session: session, seed: seed)
        }
        try programs[1].store.catchUp(within: .seconds(60))
        let last = try IsolationWork(in: programs[1].container, way).readAll()
        return TransactionHistory(parts.flatMap { $0 } + [last])
    }
}
