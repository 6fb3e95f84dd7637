/// Finds the word that a mistyped one was probably meant to be.
enum Suggestion {
    /// The candidate nearest to a word, if one is near enough.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let wanted = Array(word.lowercased())
        guard !wanted.isEmpty else { return nil }
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let offered = Array(candidate.lowercased())
            var distance = editDistance(wanted, offered)
            if wanted.count >= 3, offered.starts(with: wanted) { distance = min(distance, 1) }
            guard distance <= max(1, min(wanted.count, offered.count) / 3) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// A clause for the end of a sentence: `; did you mean 'fetch'?`, or `.` when nothing is near.
    static func clause(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean '\($0)'?" } ?? "."
    }

    /// Insertions, deletions, replacements and swaps of neighbours between two words.
    private static func editDistance(_ source: [Character], _ target: [Character]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...target.count)
        for row in source.indices {
            var current = [row + 1]
            for column in target.indices {
                let isSame = source[row] == target[column]
                var cost = min(
                    previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1,
                    current[column] + 1)
                if row > 0, column > 0, source[row] == target[column - 1],
                    source[row - 1] == target[column]
                {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[target.count]
    }
}
