import DaybookObjectModel
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Lists in contexts that stand on others.
@Suite struct ListedChildTests {
    private let store: ClassStore
    /// Each stands on the one before, and follows it.
    private let contexts: [ManagedObjectContext]
    private let mentor: ManagedObjectID
    private let pupil: ManagedObjectID

    init() throws {
        store = try ClassStore(watchedClasses)
        let top = store.container.newBackgroundContext()
        let middle = ManagedObjectContext(parent: top)
        contexts = [top, middle, ManagedObjectContext(parent: middle)]
        (mentor, pupil) = try store.inContext { context in
            let (mentor, pupil) = (
                WatchedPerson(context: context), WatchedPerson(context: context)
            )
            pupil.mentor = mentor
            try context.save()
            return (mentor.objectID, pupil.objectID)
        }
        for context in contexts {
            context.performAndWait { context.automaticallyMergesChangesFromParent = true }
        }
    }

    private func person(
        _ id: ManagedObjectID, in context: ManagedObjectContext
    ) throws -> WatchedPerson {
        try #require(context.existingObject(with: id) as? WatchedPerson)
    }

    /// Waits until each context has told the next one.
    private func settle() {
        for context in contexts { context.performAndWait {} }
    }

    @Test(arguments: ["TRUEPREDICATE", "pupils.@count > 0", "ANY pupils.points == 0"])
    func `a list is right about what has changed at the top, whatever the middle has read`(
        condition: String
    ) throws {
        let (top, middle, bottom) = (contexts[0], contexts[1], contexts[2])
        let request = FetchRequest<WatchedPerson>(where: Condition(condition))
        let list = try bottom.performAndWait { try ResultsObserver(request, in: bottom) }
        let read = try middle.performAndWait { () throws in
            let (mentor, pupil) = (
                try person(mentor, in: middle), try person(pupil, in: middle)
            )
            #expect(mentor.pupils == [pupil])
            return [mentor, pupil]
        }

        try top.performAndWait { () throws in
            top.delete(try person(pupil, in: top))
            top.processPendingChanges()
        }
        settle()

        try bottom.performAndWait { () throws in
            let left = condition == "TRUEPREDICATE" ? [mentor] : []
            #expect(try bottom.fetch(request).map(\.objectID) == left)
            #expect(list.objects.map(\.objectID) == left)
        }
        withExtendedLifetime(read) {}
    }

    @Test func `a list whose context begins to follow has what had changed before`() throws {
        let (top, middle) = (contexts[0], contexts[1])
        let request = FetchRequest<WatchedPerson>(where: Condition("points > 1"))
        let list = try middle.performAndWait { () throws in
            middle.automaticallyMergesChangesFromParent = false
            return try ResultsObserver(request, in: middle)
        }
        try top.performAndWait { () throws in
            try person(mentor, in: top).points = 2
            top.processPendingChanges()
        }

        middle.performAndWait { middle.automaticallyMergesChangesFromParent = true }
        try top.performAndWait { () throws in
            try person(pupil, in: top).points = 3
            top.processPendingChanges()
        }
        settle()

        try middle.performAndWait { () throws in
            #expect(list.objects.count == 2)
            #expect(list.objects == (try middle.fetch(request)))
        }
    }
}
