import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Observation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Counts the notifications of an observer.
private final class Told: Sendable {
    private let calls = Atomic<Int>(0)

    var count: Int { calls.load(ordering: .relaxed) }

    /// Observes the reads of `body` until the first change.
    func watch(_ body: () -> Void) {
        withObservationTracking(body) { self.calls.add(1, ordering: .relaxed) }
    }
}

@Suite struct ObservationTests {
    private func inWatchedContext(
        _ store: StaffStore, _ body: (ManagedObjectContext) throws -> Void
    ) throws {
        try store.inContext { context in
            context.tracksObservation = true
            try body(context)
        }
    }

    private func watchedEmployee(
        _ context: ManagedObjectContext, _ id: ManagedObjectID
    ) throws -> Employee {
        try #require(try context.existingObject(with: id) as? Employee)
    }

    @Test func `S62 setting a property that was read tells, and another does not`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let grace = try watchedEmployee(context, ids[1])
            let told = Told()
            told.watch { _ = ada.lastName }

            ada.firstName = "Augusta"
            ada.salary = 100
            grace.lastName = "Hopper"
            ada.lastName = ada.lastName
            #expect(told.count == 0)

            ada.lastName = "Lovelace"
            #expect(told.count == 1)
            ada.lastName = "King"
            #expect(told.count == 1)
        }
    }

    @Test(arguments: ["wrapper", "name"])
    func `S62 reads and writes by name and by property are seen alike`(way: String) throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let told = Told()
            told.watch {
                _ = way == "name" ? ada.value(forKey: "fullName") : ada.fullName
            }

            if way == "name" {
                ada.fullName = "Ada Lovelace"
            } else {
                ada.setValue("Ada Lovelace", forKey: "fullName")
            }

            #expect(told.count == 1)
        }
    }

    @Test func `S62 relationships tell at both ends`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let marketing = try #require(ada.department)
            let told = [Told(), Told(), Told()]
            told[0].watch { _ = ada.department }
            told[1].watch { _ = marketing.employees }
            told[2].watch { _ = marketing.desks }

            ada.department = nil

            #expect(told.map(\.count) == [1, 1, 0])
        }
    }

    @Test func `S62 becoming a fault and being realized both tell`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let faulting = Told()
            faulting.watch { _ = ada.lastName }

            context.refresh(ada, mergeChanges: false)
            #expect(faulting.count == 1)

            let firing = Told()
            firing.watch { _ = ada.isFault }
            _ = ada.firstName
            #expect(firing.count == 1)

            faulting.watch { _ = ada.lastName }
            context.refresh(ada, mergeChanges: false)
            #expect(faulting.count == 2)
        }
    }

    @Test func `S62 refresh, merge, undo and rollback tell`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let told = Told()

            try store.rename(ids[0], "Byron")
            told.watch { _ = ada.lastName }
            context.refresh(ada, mergeChanges: true)
            #expect(told.count == 1)

            try store.rename(ids[0], "Lovelace")
            told.watch { _ = ada.lastName }
            _ = try context.mergeChanges()
            #expect(told.count == 2)

            ada.lastName = "King"
            context.processPendingChanges()
            told.watch { _ = ada.lastName }
            context.undo()
            #expect(told.count == 3)

            told.watch { _ = ada.lastName }
            context.redo()
            #expect(told.count == 4)

            told.watch { _ = ada.lastName }
            context.rollback()
            #expect(told.count == 5)
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `S62 a list tells when a merge has changed it`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try inWatchedContext(store) { context in
            let marketing = try #require(try watchedEmployee(context, ids[0]).department)
            let told = Told()
            told.watch { _ = marketing.employees }

            try store.delete(ids[1])
            _ = try context.mergeChanges()

            #expect(told.count == 1)
            #expect(marketing.employees.map(\.objectID) == [ids[0]])
        }
    }

    @Test func `S62 reading on while an object becomes a fault reads it again`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let name = ada.lastName
            nonisolated(unsafe) let watched = ada
            let seen = Mutex("")
            withObservationTracking {
                _ = ada.lastName
            } onChange: {
                seen.withLock { $0 = watched.lastName }
            }

            context.refresh(ada, mergeChanges: false)

            #expect(!name.isEmpty)
            #expect(seen.withLock { $0 } == name)
            #expect(ada.lastName == name)
        }
    }

    @Test func `an object that nobody watches uses no memory for it`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try inWatchedContext(store) { context in
            let ada = try watchedEmployee(context, ids[0])
            let grace = try watchedEmployee(context, ids[1])
            _ = (ada.lastName, grace.lastName)

            Told().watch { _ = grace.lastName }

            #expect(ada.observation == nil)
            #expect(grace.observation != nil)
        }
    }

    @Test func `objects of a main-queue context can be watched and others on request`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let background = store.context()

        #expect(store.container.viewContext.tracksObservation)
        #expect(!background.tracksObservation)
        try background.performAndWait { () throws in
            let ada = try watchedEmployee(background, ids[0])
            let told = Told()
            told.watch { _ = ada.lastName }
            ada.lastName = "Byron"
            #expect(told.count == 0)
            background.tracksObservation = true
            told.watch { _ = ada.lastName }
            ada.lastName = "Lovelace"
            #expect(told.count == 1)
        }
    }
}
