import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// What has become of a part of a list that is shown.
@Suite struct ListComparisonTests {
    private static func id(_ number: UInt64) -> GraphID {
        GraphID(store: 1, object: ObjectID(entity: EntityNumber(rawValue: 1), number: number))
    }

    private static func step(
        _ items: [ListComparison.Item], from old: Range<Int>, to new: Range<Int>
    ) -> ListStep {
        var step = ListStep(
            layoutBefore: .undivided(old.count), layout: .undivided(new.count))
        ListComparison(items, from: old, to: new).add(to: &step) { id(UInt64($0)) }
        return step
    }

    /// A list of which each object were looked at would take years.
    @Test func `of what has not changed nothing is looked at, however long the list is`() {
        let all = 0..<1 << 40
        let moved = ListComparison.Item(id: Self.id(7), old: 1 << 20, new: 1 << 39)

        let step = Self.step([moved], from: all, to: all)

        #expect(step.objects.removals.map(\.offset) == [1 << 20])
        #expect(step.objects.insertions.map(\.offset) == [1 << 39])
    }

    @Test func `what an insertion pushes out of what is shown is removed at its end`() {
        let window = 10..<1 << 40
        let come = ListComparison.Item(id: Self.id(7), old: nil, new: 0)

        let step = Self.step([come], from: window, to: window)

        #expect(step.objects.removals.map(\.offset) == [(1 << 40) - 11])
        #expect(step.objects.insertions.map(\.offset) == [0])
        // It is what was in front of it.
        #expect(step.objects.insertions.map(\.element) == [Self.id(10)])
    }

    @Test func `a list that was empty has come as a whole, and one that is empty has gone`() {
        #expect(Self.step([], from: 3..<3, to: 0..<2).objects.insertions.map(\.offset) == [0, 1])
        #expect(Self.step([], from: 0..<2, to: 5..<5).objects.removals.map(\.offset) == [0, 1])
    }
}
