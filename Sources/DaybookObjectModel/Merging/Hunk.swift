/// A stretch of one sequence and the stretch that replaces it in another.
struct Hunk: Equatable {
    let base: Range<Int>
    let other: Range<Int>

    /// The greatest number of steps of the search: some tens of milliseconds, since a save waits
    /// for it.
    static let stepsMaximum = 8_000_000
    /// The greatest number of elements that may differ.
    static let differencesMaximum = 1_500

    /// The differences of two sequences: with as few elements as possible, in rising order, with at
    /// least one common element between two hunks.
    ///
    /// - Returns: The hunks; nil when too much differs.
    /// - Complexity: O(*n* + *d*²) on average, *n* the number of elements and *d* of those that
    ///   differ (E. Myers, "An O(ND) difference algorithm and its variations", 1986).
    static func all(from base: [Int], to other: [Int]) -> [Hunk]? {
        let start = zip(base, other).prefix { $0 == $1 }.count
        let tail = zip(base.dropFirst(start).reversed(), other.dropFirst(start).reversed())
            .prefix { $0 == $1 }.count
        let (before, after) = (base[start..<base.count - tail], other[start..<other.count - tail])
        if before.isEmpty, after.isEmpty { return [] }
        if before.isEmpty || after.isEmpty {
            return [Hunk(base: before.indices, other: after.indices)]
        }
        guard let common = EditGraph(Array(before), Array(after)).commonElements() else {
            return nil
        }
        var hunks: [Hunk] = []
        var position = (base: 0, other: 0)
        for next in common + [(base: before.count, other: after.count)] {
            if position.base < next.base || position.other < next.other {
                hunks.append(
                    Hunk(
                        base: start + position.base..<start + next.base,
                        other: start + position.other..<start + next.other))
            }
            position = (next.base + 1, next.other + 1)
        }
        return hunks
    }
}

/// The paths from one sequence to another: right deletes an element, down inserts one, a diagonal
/// keeps one.
private struct EditGraph {
    private let base: [Int]
    private let other: [Int]

    init(_ base: [Int], _ other: [Int]) {
        self.base = base
        self.other = other
    }

    /// The elements kept on the shortest path, by their positions in both.
    func commonElements() -> [(base: Int, other: Int)]? {
        let limit = min(base.count + other.count, Hunk.differencesMaximum)
        // The farthest position on each diagonal, from -depth to depth, before each step.
        var reached: [[Int]] = []
        var farthest = [0, 0, 0]
        var steps = 0
        for depth in 0...limit {
            reached.append(farthest)
            var next = [Int](repeating: 0, count: 2 * depth + 5)
            for diagonal in stride(from: -depth, through: depth, by: 2) {
                var x = start(of: diagonal, at: depth, farthest)
                var y = x - diagonal
                while x < base.count, y < other.count, y >= 0, base[x] == other[y] {
                    x += 1
                    y += 1
                    steps += 1
                }
                steps += 1
                next[diagonal + depth + 2] = x
                if x >= base.count, y >= other.count { return way(back: reached, depth) }
            }
            guard steps < Hunk.stepsMaximum else { return nil }
            farthest = next
        }
        return nil
    }

    /// The position at which a diagonal is entered from its neighbours; `farthest` starts at
    /// diagonal `-(depth + 1)`.
    private func start(of diagonal: Int, at depth: Int, _ farthest: [Int]) -> Int {
        guard depth > 0 else { return 0 }
        let (below, above) = (farthest[diagonal + depth], farthest[diagonal + depth + 2])
        if diagonal == -depth || (diagonal != depth && below < above) { return above }
        return below + 1
    }

    private func way(back reached: [[Int]], _ depth: Int) -> [(base: Int, other: Int)] {
        var common: [(base: Int, other: Int)] = []
        var (x, y) = (base.count, other.count)
        for depth in stride(from: depth, through: 0, by: -1) {
            let diagonal = x - y
            let entered = start(of: diagonal, at: depth, reached[depth])
            while x > entered {
                x -= 1
                y -= 1
                common.append((x, y))
            }
            guard depth > 0 else { break }
            let (below, above) = (
                reached[depth][diagonal + depth], reached[depth][diagonal + depth + 2]
            )
            if diagonal == -depth || (diagonal != depth && below < above) { y -= 1 } else { x -= 1 }
        }
        return common.reversed()
    }
}
