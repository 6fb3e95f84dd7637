import DaybookTestSupport
import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// The benchmark at its smallest scale: that it runs, checks its results and prints its table.
@Suite struct BenchmarkSmokeTests {
    private static let workloads = [
        "a", "a8", "b", "b'", "f", "c", "c1", "c'", "c''", "h", "h'", "k", "k'", "d", "e",
        "d'", "d''", "f'",
        "g",
        "g'", "v", "r", "j", "i", "i'", "n", "l", "t", "t'", "t''",
        "w", "w'", "w''",
    ]
    /// The work of Daybook alone, and that of Daybook and one other.
    private static let own = ["v", "r", "j", "l", "t'", "t''", "w''"]
    private static let withLMDB = ["k", "k'"]
    private static let withSQLite = ["d'", "d''", "i", "i'", "n", "t", "w", "w'"]
    private static let once =
        (1...11).map { "q\($0)" }
        + ["q16", "q17", "s", "u", "uc", "u'", "u'c", "u''", "u''c", "z", "z'"]
        + ["q18", "q19", "q20", "q21", "q22", "j'", "j''"]
        + ["c0", "g''", "g'''", "q12", "q13", "q14", "q15", "d1", "d1'", "d2", "d2'", "d3"]
        + ["o", "p", "m", "q", "q'", "q''", "x", "y"]

    /// Who does some work, Daybook first.
    private static func contenders(_ workload: String) -> [String] {
        if own.contains(workload) { return ["Daybook"] }
        if withLMDB.contains(workload) { return ["Daybook", "raw LMDB"] }
        if withSQLite.contains(workload) { return ["Daybook", "SQLite"] }
        return ["Daybook", "raw LMDB", "SQLite"]
    }

    @Test func `the table has a line for every workload and a ratio to every peer`() throws {
        let run = try runBenchmark(["--scale", "tiny", "--rounds", "2"])

        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n")
        for workload in Self.workloads {
            let line = lines.first { $0.hasPrefix("(\(workload)) ") }
            #expect(line?.contains(" to ") == true, "(\(workload)) in \(run.output)")
        }
        for column in ["Daybook", "raw LMDB", "SQLite", "to raw LMDB", "to SQLite", "asked", "met"]
        {
            #expect(run.output.contains(column))
        }
    }

    @Test func `the JSON holds a sample of every contender for every round`() throws {
        let run = try runBenchmark(["--scale", "tiny", "--rounds", "3", "--json"])

        #expect(run.status == 0, "\(run.errors)")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(report.lines.map(\.workload) == Self.workloads)
        for line in report.lines {
            let contenders = Self.contenders(line.workload)
            #expect(line.series.map(\.contender) == contenders)
            #expect(line.series.allSatisfy { $0.samples.count == 3 && $0.samples.min() ?? 0 > 0 })
            #expect(Set(line.ratios.keys) == Set(contenders.dropFirst()))
            #expect((line.target == nil) == (line.isMet == nil), "(\(line.workload))")
        }
        #expect(report.machine.cores > 0)
        #expect(report.machine.lmdb.hasPrefix("LMDB 0.9."))
        #expect(report.machine.sqlite.hasPrefix("3."))
    }

    @Test func `whether a target is met follows from the median and the bound`() throws {
        let run = try runBenchmark(["--scale", "tiny", "--rounds", "1", "--json", "--until", "f"])

        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(report.lines.map(\.workload) == ["a", "a8", "b", "b'", "f"])
        for line in report.lines {
            let ratio = try #require(line.ratios["SQLite"])
            let bound = try #require(line.target?.bound)
            let isMet = line.workload == "f" ? ratio <= bound : ratio >= bound
            #expect(line.isMet == isMet, "(\(line.workload)): \(ratio) against \(bound)")
        }
    }

    @Test func `the report says which time was measured`() throws {
        let wall = try runBenchmark(["--scale", "tiny", "--rounds", "1", "--json", "--until", "b"])
        let spent = try runBenchmark([
            "--scale", "tiny", "--rounds", "1", "--json", "--until", "b", "--processor-time",
        ])

        #expect(wall.output.contains(#""clock" : "wall clock""#))
        #expect(spent.output.contains(#""clock" : "processor time""#))
        let report = try JSONDecoder().decode(Report.self, from: Data(spent.output.utf8))
        #expect(
            report.lines.allSatisfy { $0.series.allSatisfy { $0.samples.allSatisfy { $0 > 0 } } })
    }

    @Test func `everything is measured into JSON, a table in Markdown and a chart`() throws {
        let folder = try TemporaryDirectory()
        let counts = folder.path("counts.json")
        try Data(#"{"bytesOfFault": 200, "bytesOfObject": 700}"#.utf8)
            .write(to: URL(fileURLWithPath: counts))

        let run = try runBenchmark([
            "--scale", "tiny", "--rounds", "1", "--everything", "--counts", counts,
            "--compiler", "6 & later", "--json-file", folder.path("all.json"),
            "--markdown", folder.path("all.md"), "--svg", folder.path("all.svg"),
        ])

        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("registered objects"))
        let json = try Data(contentsOf: URL(fileURLWithPath: folder.path("all.json")))
        let report = try JSONDecoder().decode(Report.self, from: json)
        #expect(report.lines.map(\.workload) == Self.workloads + Self.once)
        #expect(report.lines.first { $0.workload == "x" }?.isMet == true)
        #expect(report.lines.first { $0.workload == "y" }?.isMet == false)
        let rows = try text(of: folder.path("all.md")).split(separator: "\n")
            .filter { $0.hasPrefix("| (") }
        #expect(rows.count == report.lines.count)
        #expect(rows.allSatisfy { $0.count { $0 == "|" } == 9 })
    }

    @Test func `the chart is XML that tells its figures in words as well`() throws {
        let folder = try TemporaryDirectory()
        let run = try runBenchmark([
            "--scale", "tiny", "--rounds", "1", "--compiler", "6 <& \"later\">",
            "--until", "b", "--svg", folder.path("all.svg"),
        ])

        let chart = try text(of: folder.path("all.svg"))

        #expect(run.status == 0, "\(run.errors)")
        let reader = ChartReader(chart)
        #expect(reader.isWellFormed)
        #expect(reader.attributes["aria-labelledby"] == "title desc")
        #expect(reader.attributes["role"] == "img")
        #expect(reader.description.contains("Swift 6 <& \"later\">"))
        #expect(reader.description.contains("300 objects inserted in one save: Daybook "))
        #expect(reader.counts["rect"] ?? 0 >= 9)
        #expect(chart.contains("prefers-color-scheme: dark"))
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

    @Test func `a save is merged into contexts of rising size`() throws {
        let run = try runBenchmark(["--merging", "--scale", "tiny", "--json"])

        #expect(run.status == 0, "\(run.errors)")
        let report = try JSONDecoder().decode(MergingReport.self, from: Data(run.output.utf8))
        #expect(report.sizes == [200, 2_000])
        #expect(report.ratios.count == 2)
        #expect(report.microseconds.allSatisfy { $0.allSatisfy { $0 > 0 } })
    }

    @Test(arguments: [
        ["--rounds", "none"], ["--scale", "huge"], ["--fast"], ["--svg"],
        ["--counts", "/nowhere"], ["--counts", "/dev/null"], ["--until", "zz"],
    ])
    func `a mistyped command line is refused`(words: [String]) throws {
        let run = try runBenchmark(words)

        #expect(run.status == 2)
        #expect(run.errors.hasPrefix("error: "))
        #expect(run.output.isEmpty)
    }

    // MARK: - Output

    private struct MergingReport: Decodable {
        let sizes: [Int]
        let microseconds: [[Double]]
        let ratios: [Double]
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
        struct Machine: Decodable {
            let cores: Int
            let lmdb: String
            let sqlite: String
        }

        struct Target: Decodable {
            let bound: Double
        }

        struct Line: Decodable {
            let workload: String
            let series: [Series]
            let ratios: [String: Double]
            let target: Target?
            let isMet: Bool?
        }

        struct Series: Decodable {
            let contender: String
            let samples: [Double]
        }

        let machine: Machine
        let lines: [Line]
    }

    private func text(of path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    private func runBenchmark(
        _ words: [String]
    ) throws -> (status: Int32, output: String, errors: String) {
        let ran = try ChildProcess.run(BuiltTool.url("daybook-benchmark"), words)
        guard case .exited(let status) = ran.ending else {
            Issue.record("The benchmark ended with \(ran.ending): \(ran.talk)")
            return (-1, "", ran.talk)
        }
        return (status, ran.lines.joined(separator: "\n"), ran.talk)
    }
}

/// Reads a chart like a browser.
private final class ChartReader: NSObject, XMLParserDelegate {
    private(set) var isWellFormed = false
    private(set) var attributes: [String: String] = [:]
    private(set) var counts: [String: Int] = [:]
    private(set) var text: [String: String] = [:]
    private var path: [String] = []

    override var description: String { text["svg/desc"] ?? "" }

    init(_ chart: String) {
        super.init()
        let parser = XMLParser(data: Data(chart.utf8))
        parser.delegate = self
        isWellFormed = parser.parse()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        if path.isEmpty { self.attributes = attributes }
        path.append(name)
        counts[name, default: 0] += 1
    }

    func parser(_ parser: XMLParser, foundCharacters characters: String) {
        text[path.joined(separator: "/"), default: ""] += characters
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        path.removeLast()
    }
}
