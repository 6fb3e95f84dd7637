import DaybookObjectModel
import Foundation

/// How many objects of a list have each section key.
///
/// Invariants: the keys rise by the list's first sorting, and no count is 0.
struct SectionTable {
    private let sorting: Sorting
    private var keys: [Value] = []
    private var counts: [Int] = []

    init(_ sorting: Sorting) {
        self.sorting = sorting
    }

    /// Adds an object with a key.
    mutating func add(_ key: Value) {
        let (index, isThere) = find(key)
        guard !isThere else {
            counts[index] += 1
            return
        }
        keys.insert(key, at: index)
        counts.insert(1, at: index)
    }

    /// Takes back an object with a key that was added.
    mutating func remove(_ key: Value) {
        let (index, isThere) = find(key)
        guard isThere else { return }
        counts[index] -= 1
        guard counts[index] == 0 else { return }
        keys.remove(at: index)
        counts.remove(at: index)
    }

    private func find(_ key: Value) -> (index: Int, isThere: Bool) {
        var (lower, upper) = (0, keys.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            switch sorting.order(ofKeys: keys[middle], key) {
            case .orderedAscending: lower = middle + 1
            case .orderedDescending: upper = middle
            case .orderedSame: return (middle, true)
            }
        }
        return (lower, false)
    }

    /// Whether two keys are those of one section.
    func areSame(_ left: Value, _ right: Value) -> Bool {
        sorting.order(ofKeys: left, right) == .orderedSame
    }

    /// The sections of a part of the list.
    ///
    /// - Complexity: O(*s*), *s* the number of sections.
    func layout(of window: Range<Int>) -> SectionLayout {
        var layout = SectionLayout(count: window.count)
        var start = 0
        for (key, count) in zip(keys, counts) {
            let end = start + count
            if end > window.lowerBound, start < window.upperBound {
                layout.keys.append(key)
                layout.starts.append(max(start, window.lowerBound) - window.lowerBound)
            }
            start = end
        }
        return layout
    }

    /// What leads from the sections of one layout to those of another.
    func changes(
        from old: SectionLayout, to new: SectionLayout
    ) -> OffsetChanges<String> {
        var changes = OffsetChanges<String>()
        var (left, right) = (0, 0)
        while left < old.keys.count || right < new.keys.count {
            let order =
                left == old.keys.count
                ? .orderedDescending
                : right == new.keys.count
                    ? .orderedAscending : sorting.order(ofKeys: old.keys[left], new.keys[right])
            switch order {
            case .orderedSame:
                left += 1
                right += 1
            case .orderedAscending:
                changes.removals.append(.init(offset: left, element: old.name(of: left)))
                left += 1
            case .orderedDescending:
                changes.insertions.append(.init(offset: right, element: new.name(of: right)))
                right += 1
            }
        }
        return changes
    }
}

/// The sections of what a list shows, one after the other.
struct SectionLayout {
    /// How many objects there are in all.
    let count: Int
    /// The key of each section.
    var keys: [Value] = []
    /// Where each section starts.
    var starts: [Int] = []

    /// The layout of a list without sections: all objects are in one.
    static func undivided(_ count: Int) -> SectionLayout {
        SectionLayout(count: count, keys: [.null], starts: [0])
    }

    /// The offsets of the objects of a section.
    func range(of section: Int) -> Range<Int> {
        starts[section]..<(section + 1 < starts.count ? starts[section + 1] : count)
    }

    /// The section of the object at an offset, and where it is in it.
    func place(of offset: Int) -> (section: Int, item: Int) {
        var (lower, upper) = (0, starts.count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if starts[middle] <= offset { lower = middle + 1 } else { upper = middle }
        }
        return (lower - 1, offset - starts[lower - 1])
    }

    /// The name of a section: its value as text, and nothing for those without a value.
    func name(of section: Int) -> String {
        switch keys[section] {
        case .null: ""
        case .string(let text): text
        case let value: value.description
        }
    }
}
