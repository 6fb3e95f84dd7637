import Foundation

/// The command line of the benchmark.
@main
struct Command {
    static func main() {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.showsHelp { return print(Options.help, terminator: "") }
            if options.isScaling {
                let report = try Scaling(scaleName: options.scale.name).run()
                return print(options.isJSON ? try report.json() : report.table())
            }
            let report = try Benchmark(options: options).run()
            print(options.isJSON ? try report.json() : report.table())
        } catch let error as UsageError {
            stop("\(error) Try 'daybook-benchmark --help'.", status: 2)
        } catch {
            stop("\(error)", status: 1)
        }
    }

    private static func stop(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("error: \(message)\n".utf8))
        exit(status)
    }
}
