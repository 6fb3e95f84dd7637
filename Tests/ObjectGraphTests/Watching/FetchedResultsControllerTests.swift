import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// The controller, callback by callback. Ann and Cid are in Berlin, Bea is in Aachen; each list is sorted by city,
/// then by name.
@Suite struct FetchedResultsControllerTests {
    private let store: ClassStore
    private let context: ManagedObjectContext
    private let log = CallbackLog()

    init() throws {
        store = try ClassStore(watchedClasses)
        context = store.container.newBackgroundContext()
        let context = context
        try context.performAndWait { () throws in
            let berlin = Self.team("Berlin", context)
            let aachen = Self.team("Aachen", context)
            for (name, team) in [("Ann", berlin), ("Bea", aachen), ("Cid", berlin)] {
                let person = WatchedPerson(context: context)
                person.name = name
                person.team = team
            }
            try context.save()
        }
    }

    private static func team(_ city: String?, _ context: ManagedObjectContext) -> WatchedTeam {
        let team = WatchedTeam(context: context)
        team.city = city
        return team
    }

    private var request: FetchRequest<WatchedPerson> {
        var request = FetchRequest<WatchedPerson>()
        request.order = [.ascending(\.team?.city), .ascending(\.name)]
        return request
    }

    private func controller(
        _ request: FetchRequest<WatchedPerson>? = nil, isSectioned: Bool = true,
        delegate: (any FetchedResultsControllerDelegate<WatchedPerson>)? = nil
    ) throws -> FetchedResultsController<WatchedPerson> {
        let controller = FetchedResultsController(
            fetchRequest: request ?? self.request, managedObjectContext: context,
            sectionNameKeyPath: isSectioned ? "team.city" : nil)
        controller.delegate = delegate ?? log
        try controller.performFetch()
        return controller
    }

    private func person(_ name: String, _ context: ManagedObjectContext) throws -> WatchedPerson {
        try #require(context.fetch(FetchRequest<WatchedPerson>(where: \.name == name)).first)
    }

    private func team(_ city: String, _ context: ManagedObjectContext) throws -> WatchedTeam {
        try #require(context.fetch(FetchRequest<WatchedTeam>(where: \.city == city)).first)
    }

    /// Runs a test in the context.
    private func run(_ body: (ManagedObjectContext) throws -> Void) rethrows {
        try context.performAndWait { try body(context) }
    }

    @Test func `F60 sections have names, counts, objects and index titles`() throws {
        try run { context in
            let controller = try controller()

            let sections = try #require(controller.sections)
            #expect(sections.map(\.name) == ["Aachen", "Berlin"])
            #expect(sections.map(\.numberOfObjects) == [1, 2])
            #expect(sections.map { $0.objects.map(\.name) } == [["Bea"], ["Ann", "Cid"]])
            #expect(controller.sectionIndexTitles == ["A", "B"])
            #expect(controller.section(forSectionIndexTitle: "B") == 1)
            #expect(controller.section(forSectionIndexTitle: "Z") == 1)
            #expect(controller.fetchedObjects?.map(\.name) == ["Bea", "Ann", "Cid"])
        }
    }

    @Test func `F60 an index path leads to an object and back`() throws {
        try run { context in
            let controller = try controller()
            let cid = try person("Cid", context)

            #expect(controller.object(at: IndexPath(item: 1, section: 1)) === cid)
            #expect(controller.indexPath(forObject: cid) == IndexPath(item: 1, section: 1))
            let stranger = WatchedPerson(context: context)
            #expect(controller.indexPath(forObject: stranger) == nil)
        }
    }

    @Test func `F60 an inserted object is told with its new index path`() throws {
        try run { context in
            let controller = try controller()

            // A fetch ends the event.
            let berlin = try team("Berlin", context)
            let new = WatchedPerson(context: context)
            new.name = "Bob"
            new.team = berlin
            context.processPendingChanges()

            #expect(log.taken() == ["will", "insert Bob to 1.1", "did"])
            #expect(controller.fetchedObjects?.map(\.name) == ["Bea", "Ann", "Bob", "Cid"])
        }
    }

    @Test func `F60 a deleted object is told with its old index path, and its section goes`() throws
    {
        try run { context in
            let controller = try controller()

            context.delete(try person("Bea", context))
            context.processPendingChanges()

            #expect(log.taken() == ["will", "delete section 0", "delete Bea from 0.0", "did"])
            #expect(controller.sections?.map(\.name) == ["Berlin"])
        }
    }

    @Test func `F60 a change that is no sort key is an update, and a change back is one as well`()
        throws
    {
        try run { context in
            let controller = try controller()
            let cid = try person("Cid", context)

            cid.points = 5
            context.processPendingChanges()
            #expect(log.taken() == ["will", "update Cid from 1.1 to 1.1", "did"])
            // The context saves what the list has shown already.
            try context.save()
            #expect(log.taken() == [])
            cid.points = 6
            context.rollback()
            #expect(log.taken().last == "did")
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 a sort key moves an object, and the move implies the update`() throws {
        try run { context in
            let controller = try controller()
            let ann = try person("Ann", context)

            ann.name = "Dan"
            ann.points = 7
            context.processPendingChanges()
            #expect(log.taken() == ["will", "move Dan from 1.0 to 1.1", "did"])
            // A sort key that leaves it where it is moves nothing.
            ann.name = "Eve"
            context.processPendingChanges()
            #expect(log.taken() == ["will", "update Eve from 1.1 to 1.1", "did"])
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 an object moves to another section, which comes when it is new`() throws {
        try run { context in
            let controller = try controller()
            let ann = try person("Ann", context)

            ann.team = try team("Aachen", context)
            context.processPendingChanges()
            #expect(log.taken().contains("move Ann from 1.0 to 0.0"))
            ann.team = Self.team("Chur", context)
            context.processPendingChanges()
            #expect(
                log.taken().filter { !$0.hasPrefix("update") } == [
                    "will", "insert section 2 Chur", "move Ann from 0.0 to 2.0", "did",
                ])
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 an object that stays in place but changes its section moves`() throws {
        try run { context in
            let controller = try controller()

            // Bea stands first, before and after.
            let (aachen, berlin) = (try team("Aachen", context), try team("Berlin", context))
            aachen.city = "Basel"
            berlin.city = "Bonn"
            context.processPendingChanges()

            #expect(
                log.taken() == [
                    "will", "delete section 0", "delete section 1", "insert section 0 Basel",
                    "insert section 1 Bonn", "move Bea from 0.0 to 0.0",
                    "move Ann from 1.0 to 1.0", "move Cid from 1.1 to 1.1", "did",
                ])
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 an object that begins to match is inserted, one that ceases is deleted`() throws
    {
        try run { context in
            var request = request
            request.condition = \.points > 3
            let controller = try controller(request, isSectioned: false)
            let ann = try person("Ann", context)

            ann.points = 4
            context.processPendingChanges()
            #expect(log.taken() == ["will", "insert Ann to 0.0", "did"])
            ann.points = 3
            context.processPendingChanges()
            #expect(log.taken() == ["will", "delete Ann from 0.0", "did"])
            #expect(!ann.isDeleted)
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 unrelated changes are not told`() throws {
        try run { context in
            var request = request
            request.condition = \.points == 0
            let controller = try controller(request)

            let league = WatchedLeague(context: context)
            league.title = "First"
            let other = WatchedPerson(context: context)
            other.points = 1
            context.processPendingChanges()
            other.points = 2
            context.processPendingChanges()
            try context.save()

            #expect(log.taken() == [])
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 a snapshot delegate gets identifiers by section, and nothing else`() throws {
        try run { context in
            let delegate = SnapshotLog()
            let controller = try controller(delegate: delegate)
            let (ann, bea) = (try person("Ann", context), try person("Bea", context))
            let cid = try person("Cid", context)

            bea.team = try team("Berlin", context)
            cid.points = 1
            context.processPendingChanges()

            let snapshot = try #require(delegate.snapshots.last)
            #expect(delegate.snapshots.count == 1)
            #expect(snapshot.sectionIdentifiers == ["Berlin"])
            #expect(
                snapshot.itemIdentifiers(inSectionAt: 0)
                    == [ann.objectID, bea.objectID, cid.objectID])
            #expect(snapshot.reloadedItemIdentifiers == [cid.objectID])
            #expect(delegate.otherCalls == 0)
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `F60 a difference delegate gets what has changed, with the entry that did it`()
        throws
    {
        let other = store.container.newBackgroundContext()
        try run { context in
            let delegate = DifferenceLog()
            let controller = try controller(isSectioned: false, delegate: delegate)
            context.automaticallyMergesChangesFromParent = true
            let before = try #require(controller.fetchedObjects).map(\.objectID)

            let sequence = try other.performAndWait { () throws in
                try person("Bea", other).team = try team("Berlin", other)
                return try other.save(author: "grace")
            }
            _ = try context.mergeChanges()

            let difference = try #require(delegate.differences.last)
            #expect(difference.changes == [.move(before[0], from: 0, to: 1)])
            #expect(difference.entries.map(\.sequence) == [try #require(sequence)])
            #expect(difference.entries.map(\.author) == ["grace"])
            #expect(
                before.applying(difference.collectionDifference)
                    == controller.fetchedObjects?.map(\.objectID))
        }
    }

    @Test func `F60 a controller follows only while it has a delegate`() throws {
        try run { context in
            let controller = try controller()
            let first = controller.fetchedObjects

            controller.delegate = nil
            context.delete(try person("Bea", context))
            context.processPendingChanges()
            #expect(controller.fetchedObjects == first)
            #expect(log.taken() == [])

            controller.delegate = log
            try controller.performFetch()
            #expect(controller.fetchedObjects?.map(\.name) == ["Ann", "Cid"])
            try person("Cid", context).points = 3
            context.processPendingChanges()
            #expect(log.taken() == ["will", "update Cid from 0.1 to 0.1", "did"])
        }
    }

    @Test func `F60 a delegate that has gone ends the following`() throws {
        try run { context in
            var delegate: CallbackLog? = CallbackLog()
            let controller = try controller(delegate: delegate)
            #expect(context.news.isWatched)

            delegate = nil
            try person("Cid", context).points = 3
            context.processPendingChanges()

            #expect(!context.news.isWatched)
            #expect(controller.fetchedObjects?.count == 3)
            withExtendedLifetime(delegate) {}
        }
    }

    @Test func `F60 after a reset the controller has nothing until it fetches again`() throws {
        try run { context in
            let controller = try controller()

            context.reset()
            #expect(controller.fetchedObjects == nil)
            #expect(controller.sections == nil)
            try person("Cid", context).points = 3
            context.processPendingChanges()
            #expect(log.taken() == [])

            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 3)
        }
    }

    @Test func `F60 after a store was removed the controller has nothing until it fetches again`()
        throws
    {
        try run { context in
            let controller = try controller()

            try context.coordinator.remove(store.store)
            #expect(controller.fetchedObjects == nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects == [])
        }
    }

    @Test func `F60 without a fetch there is nothing, and a new request counts at the next fetch`()
        throws
    {
        try run { context in
            let controller = FetchedResultsController(
                fetchRequest: request, managedObjectContext: context,
                sectionNameKeyPath: \.team?.city)
            #expect(controller.fetchedObjects == nil)
            #expect(controller.sections == nil)
            #expect(controller.sectionIndexTitles == [])

            try controller.performFetch()
            controller.fetchRequest.condition = \.name == "Ann"
            #expect(controller.fetchedObjects?.count == 3)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.map(\.name) == ["Ann"])
        }
    }

    @Test func `F60 objects without a section value are in one without a name, first`() throws {
        try run { context in
            let controller = try controller()

            try team("Aachen", context).city = nil
            context.processPendingChanges()

            #expect(controller.sections?.map(\.name) == ["", "Berlin"])
            #expect(controller.sections?.first?.indexTitle == nil)
        }
    }

    @Test func `a list that is not sorted by its sections is sorted by them first`() throws {
        try run { context in
            var request = FetchRequest<WatchedPerson>()
            request.order = [.descending(\.name)]
            let controller = try controller(request)

            #expect(controller.sections?.map(\.name) == ["Aachen", "Berlin"])
            #expect(controller.fetchedObjects?.map(\.name) == ["Bea", "Cid", "Ann"])
        }
    }

    @Test func `what a delegate changes while it is told is told afterwards`() throws {
        try run { context in
            let delegate = EditingLog()
            let controller = try controller(delegate: delegate)
            let ann = try person("Ann", context)

            ann.points = 1
            context.processPendingChanges()

            #expect(ann.points == 3)
            #expect(delegate.depthMaximum == 1)
            #expect(delegate.rounds == 3)
            withExtendedLifetime(controller) {}
        }
    }

    @Test func `an index path outside the list stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClassStore(watchedClasses)
            let context = store.container.newBackgroundContext()
            try context.performAndWait { () throws in
                let controller = FetchedResultsController(
                    fetchRequest: FetchRequest<WatchedPerson>(), managedObjectContext: context)
                try controller.performFetch()
                _ = controller.object(at: IndexPath(item: 0, section: 0))
            }
        }
    }
}
