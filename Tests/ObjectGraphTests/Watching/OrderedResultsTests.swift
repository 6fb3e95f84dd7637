import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// The tree under a list, and the arithmetic of differences, against arrays.
@Suite struct OrderedResultsTests {
    private func entry(_ number: Int, _ key: Int) -> ResultEntry {
        ResultEntry(
            id: GraphID(
                store: 0,
                object: ObjectID(entity: EntityNumber(rawValue: 1), number: UInt64(number + 1))),
            keys: [.int(Int64(key))])
    }

    private let order: ResultOrder

    init() throws {
        let model = try GraphModel(classes: watchedClasses)
        let person = try #require(model.schema.entity(named: "WatchedPerson"))
        let property = try #require(person.property(named: "points"))
        order = ResultOrder(sortings: [Sorting(FilterPath([property]))], ranks: [0: 0])
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `the tree is the array that is sorted again after each change`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let start = Int.random(in: 0...200, using: &random)
        let keys = Int.random(in: 1...60, using: &random)
        var plain = (0..<start).map { entry($0, Int.random(in: 0..<keys, using: &random)) }
        plain.sort(by: order.precedes)
        var tree = OrderedResults(plain, in: order)
        var next = start

        for _ in 0..<300 {
            if plain.isEmpty || Int.random(in: 0..<(seed % 2 == 0 ? 3 : 2), using: &random) == 0 {
                let new = entry(next, Int.random(in: 0..<keys, using: &random))
                next += 1
                tree.insert(new)
                plain.append(new)
                plain.sort(by: order.precedes)
            } else {
                let index = Int.random(in: plain.indices, using: &random)
                #expect(tree.remove(plain[index].id)?.keys == plain[index].keys, "seed \(seed)")
                plain.remove(at: index)
            }
            let found = tree.findings()
            #expect(found.isEmpty, "seed \(seed): \(found)")
            #expect(tree.count == plain.count, "seed \(seed)")
        }

        for (offset, entry) in plain.enumerated() {
            #expect(tree[offset].id == entry.id, "seed \(seed)")
            #expect(tree.offset(of: entry.id) == offset, "seed \(seed)")
        }
        let lower = Int.random(in: 0...plain.count, using: &random)
        let upper = Int.random(in: lower...plain.count, using: &random)
        var visited: [GraphID] = []
        tree.forEach(in: lower..<upper) { visited.append($0.id) }
        #expect(visited == plain[lower..<upper].map(\.id), "seed \(seed)")
        let least = Value.int(Int64(keys / 2))
        let first = plain.firstIndex { $0.keys[0].order(to: least) != .orderedAscending }
        #expect(
            tree.firstOffset { $0.keys[0].order(to: least) != .orderedAscending }
                == first ?? plain.count, "seed \(seed)")
    }

    @Test func `an absent object is nowhere`() {
        var tree = OrderedResults([entry(0, 1)], in: order)

        #expect(tree.offset(of: entry(1, 1).id) == nil)
        #expect(tree.remove(entry(1, 1).id) == nil)
        #expect(tree[entry(0, 1).id]?.keys == [.int(1)])
        #expect(tree.count == 1)
    }

    /// What leads from one list to another, with everything that is not in a longest common order moving.
    private func changes(from old: [Int], to new: [Int]) -> OffsetChanges<Int> {
        let common = old.filter(new.contains)
        let targets = common.map { new.firstIndex(of: $0) ?? 0 }
        let staying = Set(targets.longestRise.map { common[$0] })
        var changes = OffsetChanges<Int>()
        for (offset, element) in old.enumerated() where !staying.contains(element) {
            changes.removals.append(.init(offset: offset, element: element))
        }
        for (offset, element) in new.enumerated() where !staying.contains(element) {
            changes.insertions.append(.init(offset: offset, element: element))
        }
        return changes
    }

    private func apply(_ changes: OffsetChanges<Int>, to list: [Int]) -> [Int] {
        var list = list
        for place in changes.removals.reversed() { list.remove(at: place.offset) }
        for place in changes.insertions { list.insert(place.element, at: place.offset) }
        return list
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `merged differences lead from the first list to the last one`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func list() -> [Int] {
            (0..<12).filter { _ in Bool.random(using: &random) }.shuffled(using: &random)
        }
        let lists = (0..<6).map { _ in list() }

        var merged = changes(from: lists[0], to: lists[1])
        #expect(apply(merged, to: lists[0]) == lists[1], "seed \(seed)")
        for index in 1..<5 {
            merged = merged.followed(by: changes(from: lists[index], to: lists[index + 1]))
            #expect(apply(merged, to: lists[0]) == lists[index + 1], "seed \(seed), list \(index)")
        }
    }

    @Test func `a longest rise leaves out as few as possible`() {
        #expect([Int]().longestRise == [])
        #expect([3, 1, 2].longestRise == [1, 2])
        #expect([0, 1, 2].longestRise == [0, 1, 2])
        #expect([2, 1, 0].longestRise.count == 1)
        #expect([0, 4, 1, 2, 3].longestRise == [0, 2, 3, 4])
    }
}
