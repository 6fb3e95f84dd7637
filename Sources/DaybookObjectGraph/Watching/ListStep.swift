import DaybookObjectModel

/// What has become of a list: from what it showed to what it shows.
struct ListStep {
    /// An object that stays where it is among those that stay.
    struct Update {
        let id: GraphID
        let old: Int
        let new: Int
    }

    /// What has come, gone and moved; what has moved is in both lists.
    var objects = OffsetChanges<GraphID>()
    /// What has changed and not moved, by rising offsets.
    var updates: [Update] = []
    /// The sections before and after, and what leads from one to the other.
    var layoutBefore: SectionLayout
    var layout: SectionLayout
    var sections = OffsetChanges<String>()
    /// The entries that have changed the objects named here.
    var causes: [GraphID: EntryName] = [:]
    /// Objects that have gone.
    var gone: [GraphID: ManagedObject] = [:]

    /// Whether the list shows what it showed.
    var isEmpty: Bool { objects.isEmpty && updates.isEmpty && sections.isEmpty }
}

/// Objects that have come, gone or got other keys, among those that have not.
///
/// An object that has not changed only shifts. Of those that have, as few as possible move: an object moves
/// when it stands between other unchanged objects than before, or no longer in the same order as others that
/// stand there too, or in another section.
struct ListComparison {
    /// An object that may be elsewhere; its offsets are in the whole list.
    struct Item {
        let id: GraphID
        var old: Int?
        var new: Int?
        var staysInSection = true
    }

    private let items: [Item]
    private let oldOffsets: [Int]
    private let newOffsets: [Int]
    private let oldWindow: Range<Int>
    private let newWindow: Range<Int>

    /// Compares the parts of a list that are shown before and after.
    ///
    /// - Parameters:
    ///   - items: All objects that have come, gone or got other keys.
    ///   - oldWindow: What was shown.
    ///   - newWindow: What is shown.
    init(_ items: [Item], from oldWindow: Range<Int>, to newWindow: Range<Int>) {
        self.items = items
        oldOffsets = items.compactMap(\.old).sorted()
        newOffsets = items.compactMap(\.new).sorted()
        self.oldWindow = oldWindow
        self.newWindow = newWindow
    }

    /// Where an object that has not changed was in what was shown; nil where it was not shown.
    func oldPlace(ofUnchangedAt offset: Int) -> Int? {
        let old = oldOffsets.offset(ofRest: newOffsets.restOffset(of: offset))
        return oldWindow.contains(old) ? old - oldWindow.lowerBound : nil
    }

    /// Adds what has come, gone, moved and changed to a step.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - entry: The object at an offset of the whole list as it is now.
    /// - Complexity: O(*k* log *k*), *k* the number of items, and as many calls of `entry`.
    func add(to step: inout ListStep, _ entry: (Int) -> GraphID) {
        let staying = offsetsOfThoseThatStay()
        for item in items {
            let old = item.old.flatMap { oldWindow.contains($0) ? $0 - oldWindow.lowerBound : nil }
            let new = item.new.flatMap { newWindow.contains($0) ? $0 - newWindow.lowerBound : nil }
            if let old, let new, staying.contains(old) {
                step.updates.append(ListStep.Update(id: item.id, old: old, new: new))
                continue
            }
            if let old { step.objects.removals.append(.init(offset: old, element: item.id)) }
            if let new { step.objects.insertions.append(.init(offset: new, element: item.id)) }
        }
        addShifted(to: &step, entry)
        step.objects.removals.sort { $0.offset < $1.offset }
        step.objects.insertions.sort { $0.offset < $1.offset }
    }

    /// The shown offsets of items that stay in order with everything else that stays.
    private func offsetsOfThoseThatStay() -> Set<Int> {
        var candidates: [(old: Int, new: Int)] = []
        for item in items where item.staysInSection {
            guard let old = item.old, let new = item.new, oldWindow.contains(old),
                newWindow.contains(new),
                oldOffsets.restOffset(of: old) == newOffsets.restOffset(of: new)
            else { continue }
            candidates.append((old - oldWindow.lowerBound, new))
        }
        candidates.sort { $0.old < $1.old }
        return Set(candidates.map(\.new).longestRise.map { candidates[$0].old })
    }

    /// Adds unchanged objects that have come into the window or left it, because others have come or gone: at most as
    /// many as those.
    private func addShifted(to step: inout ListStep, _ entry: (Int) -> GraphID) {
        let before = rest(of: oldWindow, oldOffsets)
        let after = rest(of: newWindow, newOffsets)
        for rest in before.parts(outside: after).joined() {
            let id = entry(newOffsets.offset(ofRest: rest))
            let old = oldOffsets.offset(ofRest: rest) - oldWindow.lowerBound
            step.objects.removals.append(.init(offset: old, element: id))
        }
        for rest in after.parts(outside: before).joined() {
            let new = newOffsets.offset(ofRest: rest)
            step.objects.insertions.append(
                .init(offset: new - newWindow.lowerBound, element: entry(new)))
        }
    }

    private func rest(of window: Range<Int>, _ offsets: [Int]) -> Range<Int> {
        let lower = window.lowerBound - offsets.count(before: window.lowerBound)
        let upper = window.upperBound - offsets.count(before: window.upperBound)
        return lower..<upper
    }
}

extension Range<Int> {
    /// What is below another range, and what is above it.
    fileprivate func parts(outside other: Range<Int>) -> [Range<Int>] {
        guard !other.isEmpty else { return [self] }
        return [
            lowerBound..<Swift.max(lowerBound, Swift.min(upperBound, other.lowerBound)),
            Swift.min(upperBound, Swift.max(lowerBound, other.upperBound))..<upperBound,
        ]
    }
}
