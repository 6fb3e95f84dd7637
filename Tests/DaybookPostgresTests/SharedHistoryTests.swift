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
        // Another copy may be behind, but no session ever goes back.
        try await way.expectNoOther(in: Self.histories, by: .sessions, committing: 40) { seed in
            try await onThread { try Self.disturbedHistory(way, seed) }
        }
    }

    /// What three programs do while the messages of one of them are lost, halved and delayed.
    private static func disturbedHistory(
        _ way: IsolationWork.Way, _ seed: UInt64
    ) throws -> TransactionHistory {
        let store = try SharedStore()
        let proxy = try FaultyProxy(to: store.server)
        var limits = PostgresTerms.Limits.patient
        (limits.connecting, limits.answering) = (.milliseconds(300), .milliseconds(300))
        limits.appending = .milliseconds(300)
        let disturbed = try SharedProgram.reached {
            try SharedProgram(
                store, through: store.servers(through: proxy), limits: limits,
                model: [IsolationCell.self])
        }
        let others = try (0..<2).map { _ in
            try SharedProgram(store, model: [IsolationCell.self])
        }
        return try history(of: others + [disturbed], way, seed) { proxy.disturb(by: seed) }
    }

    /// What programs do at the same time as somebody else does something, and what is there afterwards.
    ///
    /// - Parameters:
    ///   - programs: The programs. The first one prepares the store and reads it at the end.
    ///   - way: How they save.
    ///   - seed: What decides what they do.
    ///   - deed: What somebody else does.
    /// - Returns: The history.
    /// - Throws: What is neither a conflict nor a failure of servers.
    static func history(
        of programs: [SharedProgram], _ way: IsolationWork.Way, _ seed: UInt64,
        while deed: @escaping @Sendable () throws -> Void
    ) throws -> TransactionHistory {
        try IsolationWork(in: programs[0].container, way).prepare()
        for program in programs { try program.store.catchUp(within: .seconds(30)) }

        let sessions = programs.count * contexts
        let parts = try waitingForThreads(sessions + 1) { session in
            if session == sessions {
                try deed()
                return [TransactionHistory.Transaction]()
            }
            let work = IsolationWork(in: programs[session % programs.count].container, way)
            return try work.transactions(transactions, session: session, seed: seed)
        }
        try programs[0].store.catchUp(within: .seconds(60))
        let last = try IsolationWork(in: programs[0].container, way).readAll()
        return TransactionHistory(parts.flatMap { $0 } + [last])
    }
}
