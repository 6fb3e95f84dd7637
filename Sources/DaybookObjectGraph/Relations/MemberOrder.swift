/// Finds positions for the members of an ordered relationship.
enum MemberOrder {
    /// Rising positions for members in a new order, changing as few as possible.
    ///
    /// - Parameter current: The position each member has now, in the new order; nil for a new member.
    /// - Returns: A position for each. The longest run of members that are already in order keeps its
    ///   positions, and the others go between them; only when two neighbours are so close that no
    ///   number lies between are all numbered anew.
    /// - Complexity: O(*n* log *n*).
    static func positions(for current: [Double?]) -> [Double] {
        let kept = longestRisingRun(current)
        var positions = Array(repeating: 0.0, count: current.count)
        var next = 0
        while next < current.count {
            let end = (next..<current.count).first { kept[$0] } ?? current.count
            let lower = next > 0 ? positions[next - 1] : nil
            let upper = end < current.count ? current[end] : nil
            let count = end - next
            for step in 0..<count {
                positions[next + step] = position(step, of: count, after: lower, before: upper)
            }
            if end < current.count, let position = current[end] { positions[end] = position }
            next = end + 1
        }
        guard zip(positions, positions.dropFirst()).allSatisfy({ $0 < $1 }) else {
            return (0..<current.count).map { Double($0 + 1) }
        }
        return positions
    }

    private static func position(
        _ step: Int, of count: Int, after lower: Double?, before upper: Double?
    ) -> Double {
        switch (lower, upper) {
        case (nil, nil): Double(step + 1)
        case (let lower?, nil): lower + Double(step + 1)
        case (nil, let upper?): upper - Double(count - step)
        case (let lower?, let upper?):
            lower + (upper - lower) * Double(step + 1) / Double(count + 1)
        }
    }

    /// Which members are in the longest run whose positions already rise.
    private static func longestRisingRun(_ current: [Double?]) -> [Bool] {
        var tails: [Int] = []
        var previous = Array(repeating: -1, count: current.count)
        for (index, position) in current.enumerated() {
            guard let position else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if (current[tails[middle]] ?? 0) < position {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            if low > 0 { previous[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var kept = Array(repeating: false, count: current.count)
        var index = tails.last ?? -1
        while index >= 0 {
            kept[index] = true
            index = previous[index]
        }
        return kept
    }
}
