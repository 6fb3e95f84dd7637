import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct LifeCycleTests {
    // MARK: - Awaking

    @Test func `F23 S76 awakeFromInsert runs once, after the defaults, and may set others`() throws
    {
        let store = try ClassStore(diaries)
        let id = try store.inContext { (context) throws in
            let diary = Diary(context: context)

            #expect(diary.log == ["awakeFromInsert untitled"])
            #expect(diary.owner == "nobody")
            try context.save()
            return diary.objectID
        }
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            #expect(diary.log == ["awakeFromFetch"])
            #expect(diary.owner == "nobody")
        }
    }

    @Test func `F23 redo of an insert does not awake the object from insert again`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            context.processPendingChanges()

            context.undo()
            context.redo()

            #expect(diary.isInserted)
            #expect(diary.log.filter { $0.hasPrefix("awakeFromInsert") }.count == 1)
        }
    }

    @Test func `F24 awakeFromFetch makes nothing dirty`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(context.object(with: id) as? Diary)
            diary.onHook = { hook, diary in
                if hook == "awakeFromFetch" { diary.owner = "hook" }
            }

            #expect(diary.owner == "hook")
            #expect(diary.caption == "untitled 0")
            #expect(!diary.hasChanges)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F24 all objects of a fetch have awoken when it returns, and one may use another`()
        throws
    {
        let store = try ClassStore(diaries)
        let ids = try (0..<6).map { _ in try savedDiary(in: store) }
        try store.inContext { (context) throws in
            let held = ids.compactMap { context.object(with: $0) as? Diary }
            let last = try #require(held.last)
            held[0].onHook = { hook, _ in
                guard hook == "awakeFromFetch" else { return }
                // Fires the last one's fault, which awakes early, and only once.
                last.owner = last.title
                context.refresh(held[1], mergeChanges: false)
                try context.save()
            }
            var request = FetchRequest<Diary>()
            request.returnsObjectsAsFaults = false

            let found = try context.fetch(request)

            #expect(Set(found) == Set(held))
            #expect(last.log.filter { $0 == "awakeFromFetch" }.count == 1)
            #expect(last.owner == "untitled")
            #expect(held[2...].allSatisfy { !$0.isFault && $0.caption == "untitled 0" })
            #expect(held[1].title == "untitled" && held[1].caption == "untitled 0")
        }
    }

    @Test func `F25 undo and redo tell what was undone`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            diary.revision = 1
            context.processPendingChanges()
            diary.log = []

            context.undo()
            #expect(diary.log == ["awake \(SnapshotEventType.undoUpdate.rawValue)"])
            #expect(diary.caption == "untitled 0")
            context.redo()
            #expect(diary.caption == "untitled 1")

            context.delete(diary)
            context.processPendingChanges()
            diary.log = []
            context.undo()
            #expect(diary.log == ["awake \(SnapshotEventType.undoDeletion.rawValue)"])
        }
    }

    @Test func `F25 an object that a step has changed several times is told once, of all changes`()
        throws
    {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            context.undoManager?.beginUndoGrouping()
            diary.revision = 1
            context.processPendingChanges()
            diary.revision = 2
            context.processPendingChanges()
            context.delete(diary)
            context.undoManager?.endUndoGrouping()
            diary.log = []

            context.undo()

            let all: SnapshotEventType = [.undoUpdate, .undoDeletion]
            #expect(diary.log == ["awake \(all.rawValue)"])
            #expect(diary.revision == 0)
        }
    }

    @Test func `F25 rollback tells what it has changed, and what is set then is not recorded`()
        throws
    {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            diary.title = "other"
            diary.log = []

            context.rollback()

            #expect(diary.log == ["awake \(SnapshotEventType.rollback.rawValue)"])
            #expect(diary.caption == "untitled 0")
            #expect(!context.hasChanges)
        }
    }

    @Test func `F25 S50 a merging refresh tells after the transient values are back`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            diary.title = "mine"
            try edit(id, in: store) { $0.revision = 7 }
            var captionThen: String?
            diary.onHook = { hook, diary in
                if hook.hasPrefix("awake ") { captionThen = diary.caption }
            }
            diary.caption = "stale"
            diary.log = []

            context.refresh(diary, mergeChanges: true)

            #expect(
                diary.log == ["awakeFromFetch", "awake \(SnapshotEventType.refresh.rawValue)"])
            #expect(captionThen == "mine 7")
            #expect(diary.caption == "mine 7")
        }
    }

    @Test func `F25 F28 a refresh to a fault tells once, when the fault fires`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            diary.log = []

            context.refresh(diary, mergeChanges: false)
            #expect(diary.isFault)
            #expect(diary.log == ["willTurnIntoFault false", "didTurnIntoFault true"])
            context.refresh(diary, mergeChanges: false)
            #expect(diary.log.count == 2)

            diary.log = []
            _ = diary.title
            #expect(
                diary.log == ["awakeFromFetch", "awake \(SnapshotEventType.refresh.rawValue)"])
        }
    }

    @Test func `F25 a merge policy that gives an object other values tells it`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            context.mergePolicy = .mergeByPropertyStoreTrump
            diary.title = "mine"
            try edit(id, in: store) { $0.title = "theirs" }
            diary.log = []

            try context.save()

            #expect(diary.title == "theirs")
            #expect(
                diary.log.contains("awake \(SnapshotEventType.mergePolicy.rawValue)"))
            #expect(diary.caption == "theirs 0")
        }
    }

    @Test func `F25 merging what others have saved tells it as a refresh`() throws {
        let store = try ClassStore(diaries)
        let id = try savedDiary(in: store)
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            try edit(id, in: store) { $0.title = "theirs" }
            diary.log = []

            _ = try context.mergeChanges()

            #expect(diary.log == ["awake \(SnapshotEventType.refresh.rawValue)"])
            #expect(diary.caption == "theirs 0")
        }
    }

    // MARK: - Saving

    @Test func `F26 F29 a save runs its hooks and notifications in order`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            let observers = [
                Notification.Name.managedObjectContextWillSave, .managedObjectContextDidSave,
            ].map { name in
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                    [log = Unchecked(diary)] _ in
                    log.value.log.append(
                        name == .managedObjectContextWillSave ? "WillSave" : "DidSave")
                }
            }
            defer { observers.forEach(NotificationCenter.default.removeObserver) }
            diary.log = []

            try context.save()

            #expect(
                diary.log.filter { !$0.hasPrefix("validate ") || $0 == "validate title" } == [
                    "willSave", "WillSave", "validate title", "validateForInsert", "didSave",
                    "DidSave",
                ])
        }
    }

    @Test func `F29 what willSave has changed is seen when the save is announced`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            diary.onHook = { hook, diary in
                if hook == "willSave" { diary.revision = 1 }
            }
            let seen = Box<(committed: Int?, changed: Int?)>((nil, nil))
            let observer = NotificationCenter.default.addObserver(
                forName: .managedObjectContextWillSave, object: context, queue: nil
            ) { [diary = Unchecked(diary)] _ in
                let committed = diary.value.committedValues(forKeys: ["revision"])["revision"]
                let changed = diary.value.changedValues()["revision"]
                seen.value = (committed as? Int, changed as? Int)
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            diary.title = "changed"

            try context.save()

            #expect(seen.value.committed == 0)
            #expect(seen.value.changed == 1)
        }
    }

    @Test func `F26 willSave runs again for what it has changed, until nothing changes`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            let quiet = Diary(context: context)
            diary.onHook = { hook, diary in
                if hook == "willSave", diary.revision < 3 { diary.revision += 1 }
            }

            try context.save()

            #expect(diary.revision == 3)
            #expect(diary.log.count { $0 == "willSave" } == 4)
            #expect(quiet.log.count { $0 == "willSave" } == 1)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F26 F29 willSave may insert, delete and fetch`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            let doomed = Diary(context: context)
            doomed.title = "doomed"
            try context.save()
            diary.onHook = { hook, diary in
                guard hook == "willSave", diary.pages.isEmpty,
                    let context = diary.managedObjectContext
                else { return }
                let others = try context.fetch(
                    FetchRequest<Diary>(where: \Diary.title == "doomed"))
                others.forEach(context.delete)
                Page(context: context).diary = diary
            }
            diary.revision = 1

            try context.save()

            #expect(try context.count(FetchRequest<Page>()) == 1)
            #expect(try context.count(FetchRequest<Diary>()) == 1)
            #expect(doomed.managedObjectContext == nil)
            #expect(doomed.log.contains("didSave"))
        }
    }

    @Test func `F26 hooks that never settle are stopped by an error that names them`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            diary.onHook = { hook, diary in
                if hook == "willSave" { diary.revision += 1 }
            }
            diary.title = "restless"

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .unsettled)
            #expect(error?.details == ["\(diary.objectID): revision, title"])
            #expect(diary.log.count { $0 == "willSave" } <= 1_001)
            #expect(context.hasChanges)
            diary.onHook = nil
            #expect(try context.save() != nil)
        }
    }

    @Test func `F26 what didSave changes is pending for the next save`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            diary.onHook = { hook, diary in
                if hook == "didSave", diary.revision == 0 { diary.revision = 1 }
            }

            try context.save()

            #expect(context.updatedObjects == [diary])
            #expect(try context.save() != nil)
            #expect(!context.hasChanges)
        }
    }

    // MARK: - Validation hooks

    @Test func `F29 F34 validation may mend a value, and all is validated again`() throws {
        let store = try ClassStore(diaries)
        let id = try store.inContext { (context) throws in
            let diary = Diary(context: context)
            diary.title = "  spaced"

            try context.save()

            #expect(diary.title == "spaced")
            #expect(diary.log.count { $0 == "validateForInsert" } == 2)
            #expect(!context.hasChanges)
            return diary.objectID
        }
        try store.inContext { (context) throws in
            let diary = try #require(try context.existingObject(with: id) as? Diary)
            #expect(diary.title == "spaced")
        }
    }

    @Test func `F34 a hook's failure gets its object and property`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            diary.title = "forbidden"

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.number == 1680)
            #expect(error?.failures.first?.property == "title")
            #expect(error?.failures.first?.object == diary.objectID.object)
            #expect(error?.message == "Nothing was saved: This title is taken.")
        }
    }

    @Test(arguments: ["validateForInsert", "validateForUpdate", "validateForDelete"])
    func `F34 the hooks for insert, update and delete refuse a save`(hook: String) throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            if hook != "validateForInsert" { try context.save() }
            if hook == "validateForUpdate" { diary.revision = 1 }
            if hook == "validateForDelete" { context.delete(diary) }
            diary.onHook = { called, _ in
                if called == hook { throw Objection() }
            }

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .validation)
            #expect(error?.number == 1550)
            #expect(context.hasChanges)
            diary.onHook = nil
            #expect(try context.save() != nil)
        }
    }

    @Test func `F34 only changed values of an updated object are validated`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            diary.log = []
            diary.revision = 1

            try context.save()

            #expect(diary.log.filter { $0.hasPrefix("validate ") } == ["validate revision"])
        }
    }

    @Test func `F34 a value can be validated before it is set`() throws {
        let store = try ClassStore(motorpool)
        try store.inContext { (context) throws in
            let truck = Truck.valid(in: context)
            var fine = Value.int(9)
            var tooMany = Value.int(10)

            try truck.validateValue(&fine, forKey: "seats")
            let failure = #expect(throws: ValidationFailure.self) {
                try truck.validateValue(&tooMany, forKey: "seats")
            }

            #expect(failure?.reason == .numberTooLarge)
            #expect(truck.seats == 4)
        }
    }

    @Test func `F34 only the values of attributes can be validated`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClassStore(motorpool)
            try store.inContext { (context) throws in
                var value = Value.null
                try Truck(context: context).validateValue(&value, forKey: "garage")
            }
        }
    }

    @Test func `F18 only attributes have primitive values`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClassStore(motorpool)
            try store.inContext { (context) throws in
                Truck(context: context).setPrimitiveValue(.null, forKey: "garage")
            }
        }
    }

    // MARK: - Arranging

    private func savedDiary(in store: ClassStore) throws -> ManagedObjectID {
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()
            return diary.objectID
        }
    }

    private func edit(
        _ id: ManagedObjectID, in store: ClassStore, _ change: (Diary) -> Void
    ) throws {
        try store.inContext { (context) throws in
            change(try #require(try context.existingObject(with: id) as? Diary))
            try context.save()
        }
    }
}

/// Carries an object into a notification's block, which runs on the object's own queue.
struct Unchecked<Value>: @unchecked Sendable {
    // @unchecked Sendable because the block runs on the value's queue, while the test waits.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Takes something out of a notification's block.
final class Box<Value>: @unchecked Sendable {
    // @unchecked Sendable because the block runs on the test's queue, while it waits.
    var value: Value

    init(_ value: Value) {
        self.value = value
    }
}
