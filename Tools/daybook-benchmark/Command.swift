import Foundation

/// The command line of the benchmark.
@main
struct Command {
    static func main() {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            // Not for users: see Waking and FirstFetch.
            if words.count == 2, words[0] == Waking.writer { return try Waking.write(to: words[1]) }
            if words.first == FirstFetch.word {
                return try FirstFetch.answer(Array(words.dropFirst()))
            }
            let options = try Options(words)
            if options.showsHelp { return print(Options.help, terminator: "") }
            Stopwatch.clock = options.clock
            if options.isScaling {
                let report = try Scaling(scaleName: options.scale.name).run()
                return print(options.isJSON ? try report.json() : report.table())
            }
            if options.isMerging {
                let report = try Merging(scaleName: options.scale.name).run()
                return print(options.isJSON ? try Report.text(of: report) : report.table())
            }
            if options.isWatching {
                let outcome = try Watching(scaleName: options.scale.name).run()
                return print(outcome.line)
            }
            if options.isQuestions || options.isSaveCosts { return try askOfTwo(options) }
            let report = try Benchmark(options: options).run()
            try write(report, options)
            print(options.isJSON ? try report.json() : report.wholeTable())
        } catch let error as UsageError {
            stop("\(error) Try 'daybook-benchmark --help'.", status: 2)
        } catch {
            stop("\(error)", status: 1)
        }
    }

    /// Measures what only Daybook and SQLite are asked.
    private static func askOfTwo(_ options: Options) throws {
        guard !Questions.contenders(options).isEmpty else {
            throw UsageError(
                "'--questions' and '--save-costs' are asked of Daybook and SQLite only.")
        }
        var report = Report(options: options, contenders: Questions.contenders(options))
        if options.isQuestions {
            try Questions(options).run(addingTo: &report)
            try PastQuestions(options).run(addingTo: &report)
            try Shapes(options).run(addingTo: &report)
        }
        if options.isSaveCosts { try SaveCosts(options).run(addingTo: &report) }
        print(options.isJSON ? try report.json() : report.wholeTable())
    }

    private static func write(_ report: Report, _ options: Options) throws {
        if let path = options.jsonPath { try write(try report.json() + "\n", to: path) }
        if let path = options.markdownPath { try write(report.markdown(), to: path) }
        if let path = options.chartPath { try write(report.chart(), to: path) }
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private static func stop(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("error: \(message)\n".utf8))
        exit(status)
    }
}
