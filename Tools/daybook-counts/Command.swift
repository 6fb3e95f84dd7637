import CDaybookCallCounts
import Foundation

/// Counts what Daybook asks of memory, disk and digests, and prints it as JSON.
///
/// Counts do not depend on the load of a machine, so tests can put bounds on them.
@main
struct Command {
    private static let help = """
        USAGE: daybook-counts [--objects N] [--check]

        Counts memory, allocations, pages written and bytes digested for single acts of Daybook's, in
        a store of N objects (default 100000), and prints JSON: a number for each name. With --check,
        ends with exit code 1 and a sentence for each when counts are over their bounds.

        """

    static func main() {
        do {
            var rest = CommandLine.arguments.dropFirst()
            var objects = 100_000
            var isChecking = false
            while let word = rest.popFirst() {
                switch word {
                case "--help", "-h": return print(help, terminator: "")
                case "--objects":
                    guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 100 else {
                        stop("'--objects' needs a whole number of at least 100.", status: 2)
                    }
                    objects = number
                case "--check": isChecking = true
                default: stop("There is no option '\(word)'.", status: 2)
                }
            }
            guard call_counts_are_kept() != 0 else {
                stop("Nothing can be counted in this build.", status: 3)
            }
            let counts = try Subject.counts(ofObjects: objects)
            print(try json(counts))
            let findings = isChecking ? Bound.findings(in: counts) : []
            if !findings.isEmpty { stop(findings.joined(separator: "\nerror: "), status: 1) }
        } catch {
            stop("\(error)", status: 1)
        }
    }

    private static func json(_ counts: [String: Double]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(counts), as: UTF8.self)
    }

    private static func stop(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data("error: \(message)\n".utf8))
        exit(status)
    }
}
