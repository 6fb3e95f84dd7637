import CallCounts
import Foundation

/// Counts what Daybook asks of memory, disk and digests, and prints it as JSON.
///
/// Counts do not depend on how busy a machine is, so tests can put bounds on them.
@main
struct Command {
    private static let help = """
        USAGE: daybook-counts [--objects N]

        Counts memory, allocations, pages written and bytes digested for single acts of Daybook's, in
        a store of N objects (default 100000), and prints JSON: a number for each name.

        """

    static func main() {
        do {
            var rest = CommandLine.arguments.dropFirst()
            var objects = 100_000
            while let word = rest.popFirst() {
                switch word {
                case "--help", "-h": return print(help, terminator: "")
                case "--objects":
                    guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 100 else {
                        stop("'--objects' needs a whole number of at least 100.", status: 2)
                    }
                    objects = number
                default: stop("There is no option '\(word)'.", status: 2)
                }
            }
            guard call_counts_are_kept() != 0 else {
                stop("Nothing can be counted in this build.", status: 3)
            }
            print(try json(Subject.counts(ofObjects: objects)))
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
