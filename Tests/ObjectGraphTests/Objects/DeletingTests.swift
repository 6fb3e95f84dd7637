import DaybookGraphTestSupport
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct DeletingTests {
    @Test func `S86 the record of a deleted object stays in the store until the save`() throws {
        let store = try ClassStore(diaries)
        let other = store.container.newBackgroundContext()
        try store.inContext { (context) throws in
            let diary = try saved(Diary(context: context))

            context.delete(diary)

            #expect(try context.count(FetchRequest<Diary>()) == 0)
            try other.performAndWait { () throws in
                #expect(try other.count(FetchRequest<Diary>()) == 1)
            }
            try context.save()
            try other.performAndWait { () throws in
                #expect(try other.count(FetchRequest<Diary>()) == 0)
            }
        }
    }

    @Test func `S87 F38 nullify empties the inverse, to-one and to-many`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            let ada = Employee(context: context)
            ada.department = research
            let grace = Employee(context: context)
            grace.department = research
            try context.save()

            context.delete(ada)
            context.processPendingChanges()
            #expect(research.employees == [grace])
            context.delete(research)
            context.processPendingChanges()

            #expect(grace.department == nil)
            #expect(!grace.isDeleted)
            try context.save()
        }
    }

    @Test func `S88 F38 cascade deletes what it leads to, once, also in a circle`() throws {
        let store = try ClassStore([Ring.self])
        try store.inContext { (context) throws in
            let rings = (0..<3).map { _ in Ring(context: context) }
            for index in 0..<3 { rings[index].next = rings[(index + 1) % 3] }
            try context.save()

            context.delete(rings[0])
            try context.save()

            #expect(try context.count(FetchRequest<Ring>()) == 0)
            #expect(rings.allSatisfy { $0.preparations == 1 })
        }
    }

    @Test func `S90 no action leaves alone what it leads to`() throws {
        let store = try ClassStore(diaries)
        let id = try store.inContext { (context) throws in
            let diary = Diary(context: context)
            let page = Page(context: context)
            diary.origin = page
            try context.save()

            context.delete(diary)
            try context.save()

            #expect(!page.isDeleted)
            return page.objectID
        }
        try store.inContext { (context) throws in
            #expect(try !context.existingObject(with: id).isDeleted)
        }
    }

    @Test func `S90 F38 no action leaves a reference behind that leads to nothing`() throws {
        let store = try ClassStore([Anchor.self, Chain.self])
        let id = try store.inContext { (context) throws in
            let chain = Chain(context: context)
            let anchor = Anchor(context: context)
            chain.anchor = anchor
            try context.save()
            context.delete(anchor)
            try context.save()
            return chain.objectID
        }
        try store.inContext { (context) throws in
            let failures = Box<[(any Error)?]>([])
            context.inaccessibleFaultHandler = { _, error in failures.value.append(error) }
            let chain = try #require(try context.existingObject(with: id) as? Chain)

            let anchor = try #require(chain.anchor)
            #expect(anchor.name == "")

            #expect(anchor.isDeleted)
            #expect(failures.value.count == 1)
            #expect((failures.value.first as? StoreError)?.number == 133_000)
            #expect(chain.anchor == nil)
        }
    }

    @Test func `F23 an object that comes back has what still leads to it`() throws {
        let store = try ClassStore([Anchor.self, Chain.self])
        let parent = store.container.newBackgroundContext()
        for context in [parent, ManagedObjectContext(parent: parent)] {
            try context.performAndWait {
                let chain = Chain(context: context)
                let anchor = Anchor(context: context)
                chain.anchor = anchor
                try context.save()
                context.delete(anchor)
                try context.save()

                context.undo()

                #expect(chain.anchor === anchor)
                // Where others lead to it is read once more.
                #expect(anchor.hasFault(forRelationshipNamed: "chains"))
                #expect(anchor.chains == [chain])
                #expect(!anchor.hasFault(forRelationshipNamed: "chains"))
                context.delete(chain)
                #expect(anchor.chains.isEmpty)
            }
        }
    }

    @Test func `S91 F40 isDeleted is true until the save and false after it`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            diary.title = "kept"
            try context.save()

            context.delete(diary)
            #expect(diary.isDeleted)
            #expect(context.deletedObjects == [diary])
            try context.save()

            #expect(!diary.isDeleted)
            #expect(!diary.hasChanges)
            #expect(diary.managedObjectContext == nil)
            #expect(diary.title == "kept")
            #expect(context.deletedObjects.isEmpty)
            #expect(!context.registeredObjects.contains(diary))
        }
    }

    @Test func `S93 F39 an insert that is deleted again is in no set, whatever it led to`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let head = try store.store.head()
            let diary = Diary(context: context)
            let pages = (0..<2).map { _ in
                let page = Page(context: context)
                page.diary = diary
                return page
            }
            let sibling = Diary(context: context)
            context.processPendingChanges()

            context.delete(diary)
            context.processPendingChanges()
            context.delete(sibling)
            context.processPendingChanges()

            #expect(context.insertedObjects.isEmpty)
            #expect(context.deletedObjects.isEmpty)
            #expect(context.updatedObjects.isEmpty)
            #expect(!context.hasChanges)
            #expect(pages.allSatisfy { $0.managedObjectContext == nil && !$0.isDeleted })
            #expect(try context.save() == nil)
            #expect(try store.store.head() == head)
        }
    }

    @Test func `F39 a reference without an inverse to an annihilated insert reads nil`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let holder = try saved(Diary(context: context))
            let lost = Diary(context: context)
            holder.sequel = lost
            context.processPendingChanges()
            #expect(holder.sequel === lost)

            context.delete(lost)
            context.processPendingChanges()

            #expect(holder.sequel == nil)
        }
    }

    @Test func `F39 a pointer to an annihilated insert is not saved`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let holder = try saved(Diary(context: context))
            let lost = Diary(context: context)
            holder.sequel = lost
            holder.title = "holder"
            context.delete(lost)

            try context.save()

            #expect(holder.sequel == nil)
            #expect(holder.title == "holder")
            #expect(!context.hasChanges)
        }
    }

    @Test func `F37 delete rules wait for the end of the event`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let (diary, page) = try savedDiaryWithPage(in: context)
            #expect(context.propagatesDeletesAtEndOfEvent)

            context.delete(diary)

            #expect(!page.isDeleted)
            context.processPendingChanges()
            #expect(page.isDeleted)
        }
    }

    @Test func `F37 delete rules are carried out at once when the context says so`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let (diary, page) = try savedDiaryWithPage(in: context)
            context.propagatesDeletesAtEndOfEvent = false

            context.delete(diary)

            #expect(page.isDeleted)
            try context.save()
            #expect(try context.count(FetchRequest<Page>()) == 0)
        }
    }

    @Test func `F27 an object prepares for its deletion while all is there`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let (diary, page) = try savedDiaryWithPage(in: context)
            var seen: (pages: Int, isDeleted: Bool)?
            diary.onHook = { hook, diary in
                if hook == "prepareForDeletion" { seen = (diary.pages.count, diary.isDeleted) }
            }

            context.delete(diary)

            #expect(seen?.pages == 1)
            #expect(seen?.isDeleted == false)
            #expect(!page.isPrepared)
            context.processPendingChanges()
            #expect(page.isPrepared)
        }
    }

    @Test func `F41 F27 deleting again prepares again and changes nothing`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let (diary, _) = try savedDiaryWithPage(in: context)
            diary.log = []

            context.delete(diary)
            context.processPendingChanges()
            context.delete(diary)
            try context.save()
            context.delete(diary)

            #expect(diary.log.count { $0 == "prepareForDeletion" } == 2)
            #expect(!context.hasChanges)
            #expect(try context.count(FetchRequest<Diary>()) == 0)
        }
    }

    @Test func `J11 a merged delete of an edited object tells the edit that is lost`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = try saved(Diary(context: context))
            diary.title = "mine"
            let id = diary.objectID
            try store.inContext { (other) throws in
                other.delete(try other.existingObject(with: id))
                try other.save(author: "Grace")
            }

            let conflicts = try context.mergeChanges()

            #expect(conflicts.map(\.kind) == [.deletedByThem])
            #expect(conflicts.first?.ours == .string("mine"))
            #expect(diary.isDeleted)
            #expect(diary.title == "mine")
            #expect(try context.save() == nil)
        }
    }

    @Test func `J12 what can go wrong has Core Data's number`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = try saved(Diary(context: context))
            let id = diary.objectID
            diary.title = "mine"
            try store.inContext { (other) throws in
                let theirs = try #require(try other.existingObject(with: id) as? Diary)
                theirs.title = "theirs"
                try other.save()
            }
            let conflict = #expect(throws: StoreError.self) { try context.save() }
            #expect(conflict?.number == 133_020)
            context.rollback()
            try store.inContext { (other) throws in
                other.delete(try other.existingObject(with: id))
                try other.save()
            }
            context.refresh(diary, mergeChanges: false)
            let gone = #expect(throws: StoreError.self) { try context.existingObject(with: id) }
            #expect(gone?.number == 133_000)
        }
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            for _ in 0..<2 { Department(context: context).name = "Twice" }
            let duplicate = #expect(throws: StoreError.self) { try context.save() }
            #expect(duplicate?.number == 133_021)
        }
        let mismatch = #expect(throws: StoreError.self) {
            try TestContainer.make(staff.url, model: diaries)
        }
        #expect(mismatch?.number == 134_100)
    }

    // MARK: - Arranging

    private func saved(_ diary: Diary) throws -> Diary {
        try diary.managedObjectContext?.save()
        return diary
    }

    private func savedDiaryWithPage(
        in context: ManagedObjectContext
    ) throws -> (Diary, Page) {
        let diary = Diary(context: context)
        let page = Page(context: context)
        page.diary = diary
        try context.save()
        return (diary, page)
    }
}

final class Ring: ManagedObject {
    @Relationship(.cascade, inverse: \Ring.previous) var next: Ring?
    @Relationship var previous: Ring?

    /// Not part of the model.
    var preparations = 0

    override func prepareForDeletion() { preparations += 1 }
}

final class Anchor: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(.noAction, inverse: \Chain.anchor) var chains: Set<Chain>
}

final class Chain: ManagedObject {
    @Relationship var anchor: Anchor?
}
