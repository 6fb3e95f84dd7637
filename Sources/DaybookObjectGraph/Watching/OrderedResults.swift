import DaybookObjectModel
import Foundation

/// An object of a list, with the values by which it is sorted and what else the list keeps of it.
struct ResultEntry {
    let id: GraphID
    /// One for each sorting, and one more where a value of each object is kept.
    let keys: [Value]
}

/// The order of a list: by the sortings, then as a fetch orders equals.
struct ResultOrder {
    let sortings: [Sorting]
    /// The place of each store among those that are searched, by its number.
    let ranks: [UInt32: Int]

    func precedes(_ left: ResultEntry, _ right: ResultEntry) -> Bool {
        for index in sortings.indices {
            switch sortings[index].order(ofKeys: left.keys[index], right.keys[index]) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        if left.id.store != right.id.store {
            return (ranks[left.id.store] ?? .max) < (ranks[right.id.store] ?? .max)
        }
        let (first, second) = (left.id.object, right.id.object)
        return (first.number, first.entity) < (second.number, second.entity)
    }
}

/// The objects that meet a request, in order: a search tree that knows how many objects are in each part of it.
///
/// Invariants:
/// - The entries rise by ``ResultOrder``, from left to right.
/// - Of two siblings, neither has more than three times the weight of the other (its count and one).
/// - A freed node is in the list of free ones and in no other place; node 0 stands for none.
struct OrderedResults {
    private struct Node {
        var entry: ResultEntry
        var left: Int32 = 0
        var right: Int32 = 0
        var parent: Int32 = 0
        var count: Int32 = 1
    }

    let order: ResultOrder
    private var nodes: [Node]
    private var free: [Int32] = []
    private var root: Int32 = 0
    private var places: [GraphID: Int32] = [:]

    /// Makes a list.
    ///
    /// - Parameters:
    ///   - entries: The entries, in order.
    ///   - order: The order.
    /// - Complexity: O(*n*).
    init(_ entries: [ResultEntry] = [], in order: ResultOrder) {
        self.order = order
        let none = GraphID(
            store: 0, object: ObjectID(entity: EntityNumber(rawValue: 0), number: 0))
        nodes = [Node(entry: ResultEntry(id: none, keys: []), count: 0)]
        nodes.reserveCapacity(entries.count + 1)
        places.reserveCapacity(entries.count)
        for entry in entries {
            places[entry.id] = Int32(nodes.count)
            nodes.append(Node(entry: entry))
        }
        root = join(1..<Int32(nodes.count))
    }

    /// Makes a tree of nodes that stand in order.
    private mutating func join(_ range: Range<Int32>) -> Int32 {
        guard !range.isEmpty else { return 0 }
        let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
        link(middle, left: join(range.lowerBound..<middle))
        link(middle, right: join(middle + 1..<range.upperBound))
        recount(middle)
        return middle
    }

    // MARK: - Asking

    /// The number of entries.
    var count: Int { Int(nodes[Int(root)].count) }

    /// The entry of an object; nil when it is not in the list.
    subscript(id: GraphID) -> ResultEntry? { places[id].map { nodes[Int($0)].entry } }

    /// The entry at an offset, which must be in the list.
    ///
    /// - Complexity: O(log *n*).
    subscript(offset: Int) -> ResultEntry {
        var node = root
        var rest = Int32(offset)
        while true {
            let before = nodes[Int(nodes[Int(node)].left)].count
            if rest == before { return nodes[Int(node)].entry }
            if rest < before {
                node = nodes[Int(node)].left
            } else {
                rest -= before + 1
                node = nodes[Int(node)].right
            }
        }
    }

    /// Where an object is; nil when it is not in the list.
    ///
    /// - Complexity: O(log *n*).
    func offset(of id: GraphID) -> Int? {
        guard var node = places[id] else { return nil }
        var offset = nodes[Int(nodes[Int(node)].left)].count
        while nodes[Int(node)].parent != 0 {
            let parent = nodes[Int(node)].parent
            if nodes[Int(parent)].right == node {
                offset += nodes[Int(nodes[Int(parent)].left)].count + 1
            }
            node = parent
        }
        return Int(offset)
    }

    /// The offset of the first entry for which a condition holds that holds from there on.
    ///
    /// - Complexity: O(log *n*).
    func firstOffset(where holds: (ResultEntry) -> Bool) -> Int {
        var node = root
        var offset: Int32 = 0
        while node != 0 {
            if holds(nodes[Int(node)].entry) {
                node = nodes[Int(node)].left
            } else {
                offset += nodes[Int(nodes[Int(node)].left)].count + 1
                node = nodes[Int(node)].right
            }
        }
        return Int(offset)
    }

    /// Calls `body` with the entries of a range, in order.
    ///
    /// - Complexity: O(log *n* + *k*), *k* the length of the range.
    func forEach(in range: Range<Int>, _ body: (ResultEntry) throws -> Void) rethrows {
        try visit(root, Int32(range.lowerBound), Int32(range.upperBound), body)
    }

    private func visit(
        _ node: Int32, _ lower: Int32, _ upper: Int32, _ body: (ResultEntry) throws -> Void
    ) rethrows {
        guard node != 0, lower < upper, lower < nodes[Int(node)].count, upper > 0 else { return }
        let here = nodes[Int(nodes[Int(node)].left)].count
        try visit(nodes[Int(node)].left, lower, min(upper, here), body)
        if lower <= here, here < upper { try body(nodes[Int(node)].entry) }
        try visit(nodes[Int(node)].right, max(0, lower - here - 1), upper - here - 1, body)
    }

    // MARK: - Changing

    /// Puts in an entry whose object is not in the list.
    ///
    /// - Complexity: O(log *n*) comparisons.
    mutating func insert(_ entry: ResultEntry) {
        var parent: Int32 = 0
        var next = root
        var isLeft = false
        while next != 0 {
            parent = next
            isLeft = order.precedes(entry, nodes[Int(next)].entry)
            next = isLeft ? nodes[Int(next)].left : nodes[Int(next)].right
        }
        let node = makeNode(entry)
        places[entry.id] = node
        if parent == 0 {
            root = node
        } else if isLeft {
            link(parent, left: node)
        } else {
            link(parent, right: node)
        }
        balance(from: parent)
    }

    private mutating func makeNode(_ entry: ResultEntry) -> Int32 {
        guard let node = free.popLast() else {
            nodes.append(Node(entry: entry))
            return Int32(nodes.count - 1)
        }
        nodes[Int(node)] = Node(entry: entry)
        return node
    }

    /// Takes out an object.
    ///
    /// - Returns: Its entry; nil when it was not in the list.
    /// - Complexity: O(log *n*).
    @discardableResult
    mutating func remove(_ id: GraphID) -> ResultEntry? {
        guard var node = places.removeValue(forKey: id) else { return nil }
        let entry = nodes[Int(node)].entry
        if nodes[Int(node)].left != 0, nodes[Int(node)].right != 0 {
            // The next entry takes its place.
            var next = nodes[Int(node)].right
            while nodes[Int(next)].left != 0 { next = nodes[Int(next)].left }
            nodes[Int(node)].entry = nodes[Int(next)].entry
            places[nodes[Int(next)].entry.id] = node
            node = next
        }
        let child = nodes[Int(node)].left != 0 ? nodes[Int(node)].left : nodes[Int(node)].right
        let parent = nodes[Int(node)].parent
        replace(node, with: child)
        free.append(node)
        nodes[Int(node)].entry = nodes[0].entry
        balance(from: parent)
        return entry
    }

    // MARK: - Balance

    private mutating func link(_ parent: Int32, left node: Int32) {
        nodes[Int(parent)].left = node
        if node != 0 { nodes[Int(node)].parent = parent }
    }

    private mutating func link(_ parent: Int32, right node: Int32) {
        nodes[Int(parent)].right = node
        if node != 0 { nodes[Int(node)].parent = parent }
    }

    /// Puts another node in the place of one.
    private mutating func replace(_ node: Int32, with other: Int32) {
        let parent = nodes[Int(node)].parent
        if parent == 0 {
            root = other
            if other != 0 { nodes[Int(other)].parent = 0 }
        } else if nodes[Int(parent)].left == node {
            link(parent, left: other)
        } else {
            link(parent, right: other)
        }
    }

    private mutating func recount(_ node: Int32) {
        let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
        nodes[Int(node)].count = nodes[Int(left)].count + nodes[Int(right)].count + 1
    }

    private func weight(_ node: Int32) -> Int32 { nodes[Int(node)].count + 1 }

    /// Counts again and balances from a node up to the root.
    private mutating func balance(from node: Int32) {
        var node = node
        while node != 0 {
            recount(node)
            let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
            if weight(right) > 3 * weight(left) {
                let inner = nodes[Int(right)].left
                if weight(inner) >= 2 * weight(nodes[Int(right)].right) { rotateRight(right) }
                node = rotateLeft(node)
            } else if weight(left) > 3 * weight(right) {
                let inner = nodes[Int(left)].right
                if weight(inner) >= 2 * weight(nodes[Int(left)].left) { rotateLeft(left) }
                node = rotateRight(node)
            }
            node = nodes[Int(node)].parent
        }
    }

    /// - Returns: The node that has taken the place.
    @discardableResult
    private mutating func rotateLeft(_ node: Int32) -> Int32 {
        let up = nodes[Int(node)].right
        replace(node, with: up)
        link(node, right: nodes[Int(up)].left)
        link(up, left: node)
        recount(node)
        recount(up)
        return up
    }

    @discardableResult
    private mutating func rotateRight(_ node: Int32) -> Int32 {
        let up = nodes[Int(node)].left
        replace(node, with: up)
        link(node, left: nodes[Int(up)].right)
        link(up, right: node)
        recount(node)
        recount(up)
        return up
    }

    // MARK: - Invariants

    /// What is wrong with the tree; empty for a sound one.
    func findings() -> [String] {
        var findings: [String] = []
        var last: ResultEntry?
        var seen = 0
        func check(_ node: Int32) {
            guard node != 0 else { return }
            let (left, right) = (nodes[Int(node)].left, nodes[Int(node)].right)
            check(left)
            let entry = nodes[Int(node)].entry
            seen += 1
            if let last, !order.precedes(last, entry) {
                findings.append("\(entry.id) is not in order")
            }
            last = entry
            if places[entry.id] != node { findings.append("\(entry.id) is not where it is found") }
            for child in [left, right] where child != 0 && nodes[Int(child)].parent != node {
                findings.append("a child of \(entry.id) has another parent")
            }
            if nodes[Int(node)].count != nodes[Int(left)].count + nodes[Int(right)].count + 1 {
                findings.append("\(entry.id) counts wrong")
            }
            if weight(left) > 3 * weight(right) || weight(right) > 3 * weight(left) {
                findings.append("\(entry.id) is not balanced")
            }
            check(right)
        }
        check(root)
        if seen != places.count { findings.append("\(places.count) places for \(seen) entries") }
        return findings
    }
}
