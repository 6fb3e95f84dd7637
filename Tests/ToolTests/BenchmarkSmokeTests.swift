import Foundation
import Testing

/// The benchmark at its smallest scale: that it runs, checks its results and prints its table.
@Suite struct BenchmarkSmokeTests {
    private static let workloads = [
        "a", "b", "f", "c", "h", "h'", "d", "e", "f'", "g", "g'",
    ]

    @Test func `the table has a line for every workload and a ratio to every peer`() throws {
        let run = try runBenchmark(["--scale", "tiny", "--rounds", "2"])

        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n")
        for workload in Self.workloads {
            let line = lines.first { $0.hasPrefix("(\(workload)) ") }
            #expect(line?.contains(" to ") == true, "(\(workload)) in \(run.output)")
        }
        for column in ["Daybook", "raw LMDB", "SQLite", "to raw LMDB", "to SQLite"] {
            #expect(run.output.contains(column))
        }
    }

    @Test func `the JSON holds a sample of every contender for every round`() throws {
        let run = try runBenchmark(["--scale", "tiny", "--rounds", "3", "--json"])

        #expect(run.status == 0, "\(run.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(report.lines.map(\.workload) == Self.workloads)
        for line in report.lines {
            #expect(line.series.map(\.contender) == ["Daybook", "raw LMDB", "SQLite"])
            #expect(line.series.allSatisfy { $0.samples.count == 3 && $0.samples.min() ?? 0 > 0 })
            #expect(Set(line.ratios.keys) == ["raw LMDB", "SQLite"])
        }
    }

    @Test func `stores of rising length are asked the same questions`() throws {
        let table = try runBenchmark(["--scaling", "--scale", "tiny"])
        let json = try runBenchmark(["--scaling", "--scale", "tiny", "--json"])

        #expect(table.status == 0, "\(table.errors)")
        for words in ["1,000 changes", "10,000 changes", "blame a property", "(1.00)"] {
            #expect(table.output.contains(words), "\(table.output)")
        }
        #expect(json.status == 0, "\(json.errors)")
        let report = try JSONDecoder().decode(ScalingReport.self, from: Data(json.output.utf8))
        #expect(report.sizes == [1_000, 10_000])
        #expect(report.lines.count == 6)
        for line in report.lines {
            #expect(line.microseconds.count == 2)
            #expect(line.microseconds.allSatisfy { $0 > 0 })
            #expect(line.ratios.first == 1)
        }
    }

    @Test(arguments: [["--rounds", "none"], ["--scale", "huge"], ["--fast"]])
    func `a mistyped command line is refused`(words: [String]) throws {
        let run = try runBenchmark(words)

        #expect(run.status == 2)
        #expect(run.errors.hasPrefix("error: "))
        #expect(run.output.isEmpty)
    }

    private struct ScalingReport: Decodable {
        struct Line: Decodable {
            let microseconds: [Double]
            let ratios: [Double]
        }

        let sizes: [Int]
        let lines: [Line]
    }

    private struct Report: Decodable {
        struct Line: Decodable {
            let workload: String
            let series: [Series]
            let ratios: [String: Double]
        }

        struct Series: Decodable {
            let contender: String
            let samples: [Double]
        }

        let lines: [Line]
    }

    /// The benchmark stands beside the test bundle, whichever folder the build uses.
    private func runBenchmark(
        _ words: [String]
    ) throws -> (status: Int32, output: String, errors: String) {
        let bundle = ProcessInfo.processInfo.arguments.first { $0.hasSuffix(".xctest") }
        let folders = [bundle.map { URL(fileURLWithPath: $0) }, Bundle.main.executableURL]
        let candidates = folders.compactMap { folder in
            folder?.deletingLastPathComponent().appendingPathComponent("daybook-benchmark")
        }
        let tool = candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }

        let process = Process()
        let output = Pipe()
        let errors = Pipe()
        let executable: URL = try #require(tool, "The benchmark has not been built.")
        process.executableURL = executable
        process.arguments = words
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // What the tool writes to the second pipe is one line, which the pipe holds.
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        let message = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (
            process.terminationStatus, String(decoding: text, as: UTF8.self),
            String(decoding: message, as: UTF8.self)
        )
    }
}
