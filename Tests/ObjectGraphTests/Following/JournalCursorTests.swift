import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// An object that saves its context when it is about to be saved.
private final class Meddler: ManagedObject {
    @Attribute var text: String = ""
    private(set) var isRefused = false
    private var isSaving = false

    override func willSave() {
        guard !isSaving, let context = managedObjectContext else { return }
        isSaving = true
        defer { isSaving = false }
        isRefused = false
        do {
            try context.save()
        } catch {
            isRefused = error is QueryError
        }
    }
}

/// A place in the journal that is kept in the store and moves with a save.
@Suite struct JournalCursorTests {
    private let followed: FollowedStore
    private var store: PersistentStore { followed.store }

    init() throws {
        followed = try FollowedStore()
        for name in ["Ada", "Bea", "Cid"] { try followed.open(name) }
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        #expect(throws: StoreError.self) { try body() }?.code
    }

    @Test func `a new cursor begins before the first entry, and is kept from its first move on`()
        throws
    {
        let cursor = try store.cursor(named: "mail")
        #expect(cursor.position == .zero)
        #expect(try store.cursorNames() == [])

        try cursor.move(to: SequenceNumber(3))

        #expect(cursor.position == SequenceNumber(3))
        #expect(try store.cursorNames() == ["mail"])
        let again = try store.cursor(named: "mail", startingAt: .head)
        #expect(again.position == SequenceNumber(3))
        try again.move(to: SequenceNumber(2))
        #expect(try store.cursor(named: "mail").position == SequenceNumber(2))
    }

    @Test func `a new cursor that begins later is kept at once, and misses nothing after a crash`()
        throws
    {
        let cursor = try store.cursor(named: "late", startingAt: .head)
        #expect(cursor.position == SequenceNumber(4))
        let beside = try store.cursor(named: "late", startingAt: .sequence(SequenceNumber(2)))
        #expect(beside.position == SequenceNumber(4))

        let missed = try followed.open("Dan").entry

        let again = try store.cursor(named: "late", startingAt: .head)
        #expect(again.position == SequenceNumber(4))
        try again.move(to: missed)
        #expect(code { try cursor.move(to: missed) } == .conditionFailed)
    }

    @Test func `a new cursor of a store that is read only is not kept`() throws {
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        let reader = try followed.another(options: options)
        let store = try #require(reader.persistentStoreCoordinator.persistentStores.first)

        let cursor = try store.cursor(named: "late", startingAt: .head)

        #expect(cursor.position == SequenceNumber(4))
        #expect(try store.cursorNames() == [])
    }

    @Test func `what was derived is removed and the cursor goes back in one write`() throws {
        let cursor = try store.cursor(named: "count")
        let context = followed.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let sum = Branch(context: context)
            sum.city = "3"
            try context.save(moving: cursor, to: SequenceNumber(4), author: "counter")
            context.delete(sum)

            let entry = try context.save(moving: cursor, to: .zero, author: "counter")

            #expect(entry == SequenceNumber(6))
            #expect(cursor.position == .zero)
            let kept = try store.cursor(named: "count", startingAt: .head)
            #expect(kept.position == .zero)
        }
    }

    @Test func `a hook that saves is refused while a cursor is moved, and nothing is saved`() throws
    {
        let container = try TestContainer.make(inMemory: [Meddler.self])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let cursor = try store.cursor(named: "c")
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let meddler = Meddler(context: context)
            meddler.text = "new"

            #expect(try context.save(moving: cursor, to: SequenceNumber(1)) == SequenceNumber(2))

            #expect(meddler.isRefused)
            #expect(try store.head() == SequenceNumber(2))
            #expect(try store.cursor(named: "c").position == SequenceNumber(1))
            meddler.text = "again"
            try context.save()
            #expect(!meddler.isRefused)
        }
    }

    @Test func `following begins after the cursor`() async throws {
        let cursor = try store.cursor(named: "mail")
        try cursor.move(to: SequenceNumber(3))

        var entries = try store.changes(since: cursor).makeAsyncIterator()

        #expect(try await entries.next()?.sequence == SequenceNumber(4))
    }

    @Test func `a cursor does not move to an entry that there is not`() throws {
        let cursor = try store.cursor(named: "mail")

        #expect(code { try cursor.move(to: SequenceNumber(99)) } == .noSuchEntry)

        #expect(cursor.position == .zero)
        #expect(try store.cursorNames() == [])
    }

    @Test func `the second of two readers with one name is refused`() throws {
        let (first, second) = (try store.cursor(named: "mail"), try store.cursor(named: "mail"))
        try first.move(to: SequenceNumber(2))

        #expect(code { try second.move(to: SequenceNumber(2)) } == .conditionFailed)
        #expect(second.position == .zero)
        try first.move(to: SequenceNumber(3))

        let third = try store.cursor(named: "mail")
        try third.move(to: SequenceNumber(4))
        #expect(code { try first.move(to: SequenceNumber(4)) } == .conditionFailed)
    }

    @Test func `a removed cursor is no longer moved by others, and begins again`() throws {
        let (first, second) = (try store.cursor(named: "mail"), try store.cursor(named: "mail"))
        try first.move(to: SequenceNumber(2))
        let third = try store.cursor(named: "mail")
        try store.removeCursor(named: "mail")
        try store.removeCursor(named: "none")

        #expect(code { try first.move(to: SequenceNumber(3)) } == .conditionFailed)
        #expect(code { try third.remove() } == .conditionFailed)

        // This one knows of no cursor, and there is none.
        try second.move(to: SequenceNumber(3))
        try second.remove()
        #expect(try store.cursorNames() == [])
        try second.move(to: SequenceNumber(4))
        #expect(try store.cursorNames() == ["mail"])
    }

    @Test func `a cursor moves with a save, in the same write`() throws {
        let cursor = try store.cursor(named: "count")
        let context = followed.container.newBackgroundContext()
        try context.performAndWait { () throws in
            Branch(context: context).city = "Bonn"
            let entry = try context.save(
                moving: cursor, to: SequenceNumber(3), author: "counter", note: "Why")

            #expect(entry == SequenceNumber(5))
            #expect(cursor.position == SequenceNumber(3))
            #expect(try store.cursor(named: "count").position == SequenceNumber(3))
            #expect(!context.hasChanges)
        }
        let told = try #require(store.changes(from: SequenceNumber(5)).first)
        #expect(told.author == "counter")
        #expect(told.note == "Why")
    }

    @Test func `with nothing pending the cursor moves without an entry`() throws {
        let cursor = try store.cursor(named: "count")
        let context = followed.container.newBackgroundContext()

        let entry = try context.performAndWait {
            try context.save(moving: cursor, to: SequenceNumber(3))
        }

        #expect(entry == nil)
        #expect(try store.head() == SequenceNumber(4))
        #expect(try store.cursor(named: "count").position == SequenceNumber(3))
    }

    @Test func `the cursor moves when others have saved the same before`() throws {
        let cursor = try store.cursor(named: "count")
        let ada = try #require(store.changes(from: SequenceNumber(2)).first?.changes.first).objectID
        let context = followed.container.newBackgroundContext()
        try context.performAndWait { () throws in
            try context.delete(context.account(ada))
            try followed.save { other in try other.delete(other.account(ada)) }

            let entry = try context.save(moving: cursor, to: SequenceNumber(5))

            #expect(entry == nil)
            #expect(try store.cursor(named: "count").position == SequenceNumber(5))
        }
    }

    @Test func `a save whose cursor stands elsewhere saves nothing`() throws {
        let (mine, theirs) = (try store.cursor(named: "c"), try store.cursor(named: "c"))
        try theirs.move(to: SequenceNumber(2))
        let context = followed.container.newBackgroundContext()
        try context.performAndWait { () throws in
            Branch(context: context).city = "Bonn"

            #expect(
                code { try context.save(moving: mine, to: SequenceNumber(2)) } == .conditionFailed)

            #expect(context.hasChanges)
            #expect(try store.head() == SequenceNumber(4))
            #expect(mine.position == .zero)
            // It reads the cursor again and goes on.
            let again = try store.cursor(named: "c")
            try context.save(moving: again, to: SequenceNumber(3))
            #expect(try store.head() == SequenceNumber(5))
        }
        let idle = followed.container.newBackgroundContext()
        idle.performAndWait {
            #expect(code { try idle.save(moving: mine, to: SequenceNumber(2)) } == .conditionFailed)
        }
    }

    @Test func `a save that is refused leaves the cursor where it is`() throws {
        let cursor = try store.cursor(named: "c")
        let ada = try #require(store.changes(from: SequenceNumber(2)).first?.changes.first).objectID
        let context = followed.container.newBackgroundContext()
        try context.performAndWait { () throws in
            try context.account(ada).balance = 1
            try followed.save { other in try other.account(ada).balance = 2 }

            #expect(code { try context.save(moving: cursor, to: SequenceNumber(3)) } == .conflict)

            #expect(cursor.position == .zero)
            #expect(try store.cursorNames() == [])
            // A save without a cursor does not move it.
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()
            #expect(try store.cursorNames() == [])
        }
    }

    @Test func `children and stores that the context does not have are refused`() throws {
        let cursor = try FollowedStore().store.cursor(named: "c")
        let context = followed.container.newBackgroundContext()
        context.performAndWait {
            #expect(code { try context.save(moving: cursor, to: .zero) } == .noSuchStore)
        }
        #expect(code { _ = try store.changes(since: cursor) } == .noSuchStore)
        let mine = try store.cursor(named: "c")
        let child = ManagedObjectContext(parent: context, concurrencyType: .privateQueue)
        _ = child.performAndWait {
            #expect(throws: QueryError.self) { try child.save(moving: mine, to: .zero) }
        }
        let past = try followed.container.context(at: .head)
        past.performAndWait {
            #expect(code { try past.save(moving: mine, to: .zero) } == .readOnly)
        }
    }

    @Test(.ownStores("A copy that was put back gets what it lacks."))
    func `a cursor of a store that was put back is refused, and nothing is skipped`() throws {
        let copy = followed.folder.url.appendingPathComponent("copy.daybook")
        try followed.container.backup(to: copy)
        let last = try followed.open("Dan").entry
        try store.cursor(named: "c").move(to: last)
        // A copy of before, that has the cursor of after.
        let coordinator = try followed.another().persistentStoreCoordinator
        let other = try TestContainer.make(copy, model: FollowedStore.model)
        let restored = try #require(other.persistentStoreCoordinator.persistentStores.first)
        let (name, place) = (
            "c", try #require(coordinator.persistentStores.first).store.place(after: last)
        )
        try restored.store.move(
            CursorMove(of: name, from: nil, to: StoreCursor(name: name, at: place)))

        #expect(code { _ = try restored.cursor(named: "c") } == .generation)

        try restored.removeCursor(named: "c")
        #expect(try restored.cursor(named: "c").position == .zero)
    }

    @Test func `a cursor needs a name`() async throws {
        await #expect(processExitsWith: .failure) {
            _ = try FollowedStore().store.cursor(named: "")
        }
    }
}
