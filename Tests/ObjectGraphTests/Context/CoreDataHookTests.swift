import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Values set by hooks are not edits, and later edits are still correct.
@Suite struct CoreDataHookTests {
    @Test func `F24 J3 an edit of what awakeFromFetch set has the stored value as its old one`()
        throws
    {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("gauges.daybook"), model: [Gauge.self])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let first = container.newBackgroundContext()
        try first.performAndWait { () throws in
            _ = Gauge(context: first)
            try first.save()
        }
        let second = container.newBackgroundContext()
        try second.performAndWait { () throws in
            let gauge = try #require(try second.fetch(FetchRequest<Gauge>()).first)
            #expect(gauge.level == 1)
            #expect(!second.hasChanges)
            gauge.level = 2

            let sequence = try #require(try second.save())

            try store.undo(sequence)
        }
        let third = container.newBackgroundContext()
        try third.performAndWait { () throws in
            let withoutLevel = FetchRequest<Gauge>(where: \Gauge.level == nil)
            #expect(try third.count(withoutLevel) == 1)
        }
    }
}

private final class Gauge: ManagedObject {
    @Attribute var level: Int?

    override func awakeFromFetch() {
        level = 1
    }
}
