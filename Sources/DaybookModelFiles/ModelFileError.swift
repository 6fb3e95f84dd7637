/// Why a model file cannot be read, or cannot become a model of Daybook.
package struct ModelFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence for each reason, with its place and the remedy.
    package let problems: [String]

    /// Collects reasons.
    package init(_ problems: [String]) {
        self.problems = problems
    }

    /// One reason.
    init(_ problem: String) {
        problems = [problem]
    }

    /// All reasons in one line.
    package var description: String {
        problems.joined(separator: " ")
    }
}
