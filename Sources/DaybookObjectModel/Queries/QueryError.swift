/// The reason why a predicate cannot be understood, with its location, the mistake and the remedy.
public struct QueryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The mistake and the remedy, in sentences.
    public let message: String
    /// The character of the predicate with the mistake, from 1; nil when there is no text.
    public let column: Int?

    /// Describes a mistake.
    package init(_ message: String, at column: Int? = nil) {
        self.message = message
        self.column = column
    }

    /// The message after its location.
    public var description: String {
        column.map { "Column \($0): \(message)" } ?? message
    }
}

extension String {
    /// The most similar candidate; nil when none is near enough.
    package func nearest(among candidates: some Sequence<String>) -> String? {
        let limit = max(1, count / 3)
        var best: (name: String, distance: Int)?
        for candidate in candidates.sorted() {
            let distance = lowercased().editDistance(to: candidate.lowercased())
            if distance <= limit, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.name
    }

    /// `; did you mean 'name'?` or nothing.
    package func suggestion(among candidates: some Sequence<String>) -> String {
        nearest(among: candidates).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The number of characters to add, remove, replace or swap with a neighbour.
    private func editDistance(to other: String) -> Int {
        let left = Array(self)
        let right = Array(other)
        var older: [Int] = []
        var above = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var line = [row + 1]
            for (column, candidate) in right.enumerated() {
                var cost = Swift.min(
                    above[column] + (character == candidate ? 0 : 1), above[column + 1] + 1,
                    line[column] + 1)
                if row > 0, column > 0, character == right[column - 1],
                    left[row - 1] == candidate
                {
                    cost = Swift.min(cost, older[column - 1] + 1)
                }
                line.append(cost)
            }
            (older, above) = (above, line)
        }
        return above[right.count]
    }
}
