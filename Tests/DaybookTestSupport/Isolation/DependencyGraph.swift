/// Which transactions of a history came before which, and why.
struct DependencyGraph {
    /// Why one transaction comes before another one.
    struct Reasons: OptionSet {
        let rawValue: UInt8

        /// It wrote the version that the other one followed with its own.
        static let write = Reasons(rawValue: 1)
        /// It wrote what the other one read.
        static let read = Reasons(rawValue: 2)
        /// It read what the other one then overwrote.
        static let overwrite = Reasons(rawValue: 4)
        /// It ended before the other one began, in the same session or on the same clock.
        static let order = Reasons(rawValue: 8)
    }

    private(set) var edges: [[Int: Reasons]]

    init(count: Int) {
        edges = Array(repeating: [:], count: count)
    }

    mutating func add(_ before: Int, _ after: Int, _ reason: Reasons) {
        guard before != after else { return }
        edges[before][after, default: []].insert(reason)
    }

    /// The groups of transactions, of two at least, each of which leads to each other one by these reasons.
    ///
    /// - Complexity: O(*n* + *e*): Tarjan's strongly connected components, without recursion.
    func components(by reasons: Reasons) -> [[Int]] {
        var search = ComponentSearch(
            edges.map { edge in
                edge.filter { !$0.value.isDisjoint(with: reasons) }.map(\.key)
            })
        return search.run()
    }

    /// The shortest way from one transaction to another one by these reasons, within a set.
    ///
    /// - Returns: The transactions on it, with both ends; nil when there is none.
    func way(from start: Int, to end: Int, by reasons: Reasons, within allowed: Set<Int>) -> [Int]?
    {
        var previous: [Int: Int] = [start: start]
        var waiting = [start]
        var next = 0
        while next < waiting.count {
            let place = waiting[next]
            next += 1
            for (after, why) in edges[place]
            where allowed.contains(after) && !why.isDisjoint(with: reasons) {
                if after == end {
                    var way = [end, place]
                    while let before = previous[way[way.count - 1]], before != way[way.count - 1] {
                        way.append(before)
                    }
                    return way.reversed()
                }
                if previous[after] == nil {
                    previous[after] = place
                    waiting.append(after)
                }
            }
        }
        return nil
    }

    /// Adds an edge from each transaction to those that began after it had ended, but for those that follow from
    /// others.
    mutating func addClockOrder(_ spans: [(index: Int, began: UInt64, ended: UInt64)]) {
        let ends = spans.sorted { $0.ended < $1.ended }
        var position = 0
        // Those that have ended, and that no other one that has ended comes after.
        var frontier: [(index: Int, ended: UInt64)] = []
        for span in spans.sorted(by: { $0.began < $1.began }) {
            while position < ends.count, ends[position].ended < span.began {
                let done = ends[position]
                frontier.removeAll { $0.ended < done.began }
                frontier.append((done.index, done.ended))
                position += 1
            }
            for before in frontier { add(before.index, span.index, .order) }
        }
    }
}

/// Tarjan's search for strongly connected components.
private struct ComponentSearch {
    private let next: [[Int]]
    private var numbers: [Int?]
    private var lowest: [Int]
    private var isOpen: [Bool]
    private var open: [Int] = []
    private var count = 0
    private var found: [[Int]] = []

    init(_ next: [[Int]]) {
        self.next = next
        numbers = Array(repeating: nil, count: next.count)
        lowest = Array(repeating: 0, count: next.count)
        isOpen = Array(repeating: false, count: next.count)
    }

    mutating func run() -> [[Int]] {
        for start in next.indices where numbers[start] == nil { visit(start) }
        return found
    }

    private mutating func visit(_ start: Int) {
        var path = [(place: enter(start), edge: 0)]
        while let (place, edge) = path.last {
            if edge < next[place].count {
                path[path.count - 1].edge += 1
                let after = next[place][edge]
                if let number = numbers[after] {
                    if isOpen[after] { lowest[place] = min(lowest[place], number) }
                } else {
                    path.append((enter(after), 0))
                }
                continue
            }
            path.removeLast()
            if let below = path.last?.place { lowest[below] = min(lowest[below], lowest[place]) }
            if lowest[place] == numbers[place] { close(place) }
        }
    }

    private mutating func enter(_ place: Int) -> Int {
        numbers[place] = count
        lowest[place] = count
        count += 1
        open.append(place)
        isOpen[place] = true
        return place
    }

    private mutating func close(_ root: Int) {
        var component: [Int] = []
        while let place = open.popLast() {
            isOpen[place] = false
            component.append(place)
            if place == root { break }
        }
        if component.count > 1 { found.append(component.sorted()) }
    }
}
