import DaybookGraphTestSupport
import DaybookObjectGraph
import DaybookPQ
import DaybookPostgres
import DaybookTestSupport
import Foundation
import Testing

/// Programs with a copy each that read and write a few lists and registers, and what each of them has seen.
@Suite(.serialized)
struct SharedHistoryTests {
    private static let contexts = 2
    private static let transactions = 40

    /// How many histories are made for each way to save.
    static let histories =
        ProcessInfo.processInfo.environment["DAYBOOK_SHARED_HISTORIES"].flatMap(Int.init) ?? 1

    @Test(arguments: IsolationWork.Way.allCases)
    func `histories of three copies have no anomaly that the way of saving rules out`(
        way: IsolationWork.Way
    ) async throws {
        for _ in 0..<Self.histories {
            let seed = UInt64.random(in: 1...1_000_000_000)
            let history = try await onThread { try Self.history(way, seed) }
            CountedWork.add(1, "histories")
            CountedWork.add(history.transactions.count, "transactions")
            let committed = history.transactions.count { $0.outcome == .committed }
            #expect(committed > 40, "seed \(seed)")
            // Another copy may be behind, but no session ever goes back.
            let found = history.anomalies(by: .sessions).filter { !way.allows.contains($0.anomaly) }
            #expect(found == [], "seed \(seed)")
        }
    }

    /// What three programs do at the same time, and what is there afterwards. The messages of one of them are lost,
    /// halved and delayed.
    private static func history(
        _ way: IsolationWork.Way, _ seed: UInt64
    ) throws -> TransactionHistory {
        let store = try SharedStore()
        let proxy = try FaultyProxy(to: store.server)
        var limits = PostgresTerms.Limits.patient
        (limits.connecting, limits.answering) = (.milliseconds(300), .milliseconds(300))
        limits.appending = .milliseconds(300)
        let disturbed = try SharedProgram(
            store, through: store.servers(through: proxy), limits: limits,
            model: [IsolationCell.self])
        let programs = try [
            disturbed, SharedProgram(store, model: [IsolationCell.self]),
            SharedProgram(store, model: [IsolationCell.self]),
        ]
        try IsolationWork(in: programs[1].container, way).prepare()
        for program in programs { try program.store.catchUp(within: .seconds(30)) }

        proxy.disturb(by: seed)
        let parts = try waitingForThreads(programs.count * contexts) { session in
            let work = IsolationWork(in: programs[session % programs.count].container, way)
            return try work.transactions(transactions, session: session, seed: seed)
        }
        proxy.disturb(by: nil)
        try programs[1].store.catchUp(within: .seconds(30))
        let last = try IsolationWork(in: programs[1].container, way).readAll()
        return TransactionHistory(parts.flatMap { $0 } + [last])
    }
}
