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
        let count = SharedHistoryTests.histories
        try await way.expectNoOther(in: count, by: .sessions, committing: 1) { seed in
            try await onThread { try Self.historyOfFailover(way, seed) }
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
        return try SharedHistoryTests.history(of: programs, way, seed) {
            let leader = try store.cluster.leader
            if seed.isMultiple(of: 2) { try store.cluster.run("kill", String(leader)) }
            try store.cluster.run("failover")
        }
    }
}
