import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// Contexts of several programs that read and write a few lists and registers, and what each of them has seen.
///
/// What the page *How it is tested* promises of each way to save is looked for in these histories, and not found.
@Suite(.serialized)
struct ProgramHistoryTests {
    /// How many histories are made for each way to save.
    private static let histories =
        ProcessInfo.processInfo.environment["DAYBOOK_HISTORIES"].flatMap(Int.init) ?? 3

    @Test(
        .ownStores("The other process does not have the server, which is in this one."),
        arguments: IsolationWork.Way.allCases)
    func `histories of two programs have no anomaly that the way of saving rules out`(
        way: IsolationWork.Way
    ) async throws {
        try await way.expectNoOther(
            in: Self.histories, by: .clock, committing: ListProgram.threads * 8
        ) { try await Self.history(way, $0) }
    }

    /// What two programs do at the same time, and what is there afterwards.
    private static func history(
        _ way: IsolationWork.Way, _ seed: UInt64
    ) async throws -> TransactionHistory {
        let folder = try TemporaryDirectory()
        let path = folder.path("lists.daybook")
        try await onThread { try IsolationWork(in: ListProgram.open(path), way).prepare() }
        let (first, second) = (folder.path("first"), folder.path("second"))

        async let one = #expect(processExitsWith: .success) {
            [
                path = path as String, first = first as String, way = way as IsolationWork.Way,
                seed = seed as UInt64
            ] in
            try ListProgram.run(path, way, seed, program: 0, into: first)
        }
        async let other = #expect(processExitsWith: .success) {
            [
                path = path as String, second = second as String, way = way as IsolationWork.Way,
                seed = seed as UInt64
            ] in
            try ListProgram.run(path, way, seed, program: 1, into: second)
        }
        _ = await (one, other)

        return try await onThread {
            var all: [TransactionHistory.Transaction] = []
            for file in [first, second] {
                let data = try Data(contentsOf: URL(fileURLWithPath: file))
                all += try JSONDecoder().decode(TransactionHistory.self, from: data).transactions
            }
            all.append(try IsolationWork(in: ListProgram.open(path), way).readAll())
            return TransactionHistory(all)
        }
    }
}

/// One program of the test.
private enum ListProgram {
    static let threads = 4
    private static let transactions = 40

    static func open(_ path: String) throws -> PersistentContainer {
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        return try TestContainer.make(
            URL(fileURLWithPath: path), model: [IsolationCell.self], options: options)
    }

    /// What one program does, in several threads, and writes down.
    static func run(
        _ path: String, _ way: IsolationWork.Way, _ seed: UInt64, program: Int, into file: String
    ) throws {
        let work = IsolationWork(in: try open(path), way)
        let made = Mutex<[Result<[TransactionHistory.Transaction], any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            let result = Result {
                try work.transactions(
                    transactions, session: program * threads + thread, seed: seed)
            }
            made.withLock { $0.append(result) }
        }
        let history = TransactionHistory(try made.withLock { $0 }.flatMap { try $0.get() })
        try JSONEncoder().encode(history).write(to: URL(fileURLWithPath: file))
    }
}
