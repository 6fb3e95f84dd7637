/// Why a Core Data store cannot be imported.
package struct CoreDataError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistake and the remedy, in full sentences.
    package let message: String
    /// Each reason, with its table and row; none if the message tells it.
    package let problems: [String]

    init(_ message: String, problems: [String] = []) {
        self.message = message
        self.problems = problems
    }

    /// The message, and a line for each reason.
    package var description: String {
        ([message] + problems).joined(separator: "\n  ")
    }
}

/// Gathers what is wrong with the rows of a source: the first ten, and how many there are.
struct RowProblems {
    private var first: [String] = []
    private var count = 0

    mutating func add(_ table: String, _ row: Int64, _ problem: String) {
        count += 1
        if first.count < 10 { first.append("Table \(table), row \(row): \(problem)") }
    }

    /// - Throws: ``CoreDataError`` if there is a problem.
    func check() throws {
        guard count > 0 else { return }
        let more = count > first.count ? ["There are \(count - first.count) more."] : []
        throw CoreDataError(
            count == 1
                ? "A row does not fit the model." : "\(count) values or rows do not fit the model.",
            problems: first + more)
    }
}
