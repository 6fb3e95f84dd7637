import DaybookJournalLog
import DaybookObjectGraph
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The program that another process runs; nothing without a store.
@Suite struct StockProgram {
    static let store = "DAYBOOK_STOCK"

    @Test(.enabled(if: ProcessInfo.processInfo.environment[StockProgram.store] != nil))
    func `opens a stock by its plan`() throws {
        let path = try #require(ProcessInfo.processInfo.environment[Self.store])
        #expect(try Stock.open(path) == Stock.expected)
    }
}

/// Programs that die while they take a store through a plan, and several that do so at once.
@Suite(.serialized)
struct PlanKillTests {
    /// No run makes more calls of a kind.
    private static let callsMaximum = 100

    @Test(arguments: ["pwrite64", "fdatasync"])
    func `killed at any write or sync of its stages, a plan is gone on with at the next open`(
        call: String
    ) throws {
        let directory = try TemporaryDirectory()
        let (base, path) = (directory.path("base"), directory.path("stock"))
        try Stock.make(at: base)
        let head = try Self.versions(of: base).head
        var left: Set<Int> = []
        var killed = 0

        for number in 1...Self.callsMaximum {
            for file in [path, path + "-lock"] where FileManager.default.fileExists(atPath: file) {
                try FileManager.default.removeItem(atPath: file)
            }
            try FileManager.default.copyItem(atPath: base, toPath: path)
            let ran = try Self.run(path, in: directory, call, number)
            guard ran.wasKilled else {
                #expect(ran.ending == .exited(0), "\(call) \(number): \(ran.talk)")
                break
            }
            killed += 1

            let report = try Store.verify(path: path)
            #expect(report.isSound, "\(call) \(number): \(report.findings)")
            let stages = try Self.versions(of: path)
            // A stage is there with its entry, or not at all.
            #expect(stages.head == head + UInt64(stages.count - 1), "\(call) \(number)")
            left.insert(stages.count)
            #expect(try Stock.open(path) == Stock.expected, "\(call) \(number)")
            let done = try Self.versions(of: path)
            #expect(done.count == 4 && done.head == head + 3, "\(call) \(number)")
            #expect(try Store.verify(path: path).isSound, "\(call) \(number)")
        }

        #expect(killed < Self.callsMaximum)
        // Killed inside each stage.
        #expect(left.isSuperset(of: [1, 2, 3]), "\(call): \(left)")
    }

    private static func versions(of path: String) throws -> (count: Int, head: UInt64) {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        let found = (try store.modelHistory().versions.count, try store.head().rawValue)
        try store.close()
        return found
    }

    /// Runs the program, and kills it as it makes its call of a number.
    private static func run(
        _ path: String, in directory: TemporaryDirectory, _ call: String, _ number: Int
    ) throws -> (wasKilled: Bool, ending: ChildProcess.Ending, talk: String) {
        let env = try #require(BuiltTool.system("env"))
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let trace = directory.path("trace")
        let ran = try ChildProcess.run(
            env,
            [
                "\(StockProgram.store)=\(path)", strace.path, "-f", "-qqq", "-o", trace, "-e",
                "trace=\(call)", "-e", "inject=\(call):signal=SIGKILL:when=\(number)",
                BuiltTool.url("DaybookPackageTests.xctest").path, "--testing-library",
                "swift-testing", "--filter", "StockProgram",
            ])
        let calls = try String(contentsOfFile: trace, encoding: .utf8)
        return (calls.contains("killed by SIGKILL"), ran.ending, ran.talk)
    }

    // MARK: - At once

    /// Opens the stock by the plan in a process of its own, and saves.
    private static func open(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let items = try Stock.open(path)
            guard items == Stock.expected else { exit(3) }
        }
    }

    @Test func `of several programs that open a store by one plan each stage is taken once`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path("stock")
        try Stock.make(at: path)
        let head = try Self.versions(of: path).head

        async let first: Void = Self.open(path)
        async let second: Void = Self.open(path)
        async let third: Void = Self.open(path)
        _ = await (first, second, third)

        let versions = try Self.versions(of: path)
        #expect(versions.count == 4)
        #expect(versions.head == head + 3)
        let report = try Store.verify(path: path)
        #expect(report.isSound, "\(report.findings)")
    }
}
