import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

private final class Ticket: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute var note: String?
}

/// Lists after a save in which the store has not taken what was sent.
@Suite struct SettledSaveTests {
    private let store: ClassStore
    private let context: ManagedObjectContext

    init() throws {
        store = try ClassStore([Ticket.self])
        context = store.container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = false
        try store.inContext { other in
            for (code, note) in [("a", "first"), ("b", "second")] {
                let ticket = Ticket(context: other)
                (ticket.code, ticket.note) = (code, note)
            }
            try other.save()
        }
    }

    private var byNote: FetchRequest<Ticket> {
        var request = FetchRequest<Ticket>(where: \.note != "gone")
        request.order = [.ascending(\.note)]
        return request
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
    func `an object that gives way to one with its unique value leaves the list`(
        policy: MergePolicy
    ) throws {
        try context.performAndWait {
            context.mergePolicy = policy
            let observer = try ResultsObserver(byNote, in: context)
            let ticket = Ticket(context: context)
            (ticket.code, ticket.note) = ("a", "third")
            context.processPendingChanges()
            #expect(observer.count == 3)
            try context.save()

            #expect(observer.objects == (try context.fetch(byNote)))
            #expect(observer.count == 2)
        }
    }

    @Test func `an edit that gives way to the store's is gone from the list`() throws {
        try context.performAndWait {
            context.mergePolicy = .mergeByPropertyStoreTrump
            let observer = try ResultsObserver(byNote, in: context)
            let ticket = try #require(observer.objects.first)
            // A fault would read what the other context saves, and nobody would have to give way.
            #expect(ticket.note == "first")
            try store.inContext { other in
                let same = try #require(other.object(with: ticket.objectID) as? Ticket)
                same.note = "zero"
                try other.save()
            }
            ticket.note = "gone"
            context.processPendingChanges()
            #expect(observer.count == 1)
            try context.save()

            #expect(observer.objects == (try context.fetch(byNote)))
            #expect(observer.objects.map(\.note) == ["second", "zero"])
        }
    }

    @Test func `a changed request counts from the next fetch on, and a refused one never`() throws {
        try context.performAndWait {
            var request = FetchRequest<Ticket>(where: #Predicate { !$0.isDeleted })
            request.order = [.ascending(\.note)]
            let controller = FetchedResultsController(
                fetchRequest: request, managedObjectContext: context)
            let delegate = Quiet()
            controller.delegate = delegate
            try controller.performFetch()
            for ticket in controller.fetchedObjects ?? [] { ticket.note = "same" }
            controller.fetchRequest.order = [.ascending(\.note), .descending(\.code)]
            try controller.performFetch()
            #expect(controller.fetchedObjects?.map(\.code) == ["b", "a"])

            controller.fetchRequest.limit = -1
            #expect(throws: QueryError.self) { try controller.performFetch() }
            controller.fetchedObjects?.first?.note = "alone"
            context.processPendingChanges()
            #expect(controller.fetchedObjects?.map(\.code) == ["b", "a"])
        }
    }

    private final class Quiet: FetchedResultsControllerDelegate {
        typealias Object = Ticket
    }
}
