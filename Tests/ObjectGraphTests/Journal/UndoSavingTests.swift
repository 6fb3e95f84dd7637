import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct UndoSavingTests {
    @Test func `F47 J4 undo after a save is a new entry and erases none`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            ann.shirt = 1
            try context.save()
            ann.shirt = 2
            let raised = try #require(try context.save())

            context.undo()
            #expect(context.updatedObjects == [ann])
            let undone = try #require(try context.save())
            context.redo()
            let redone = try #require(try context.save())

            #expect(
                [undone, redone].map(\.rawValue) == [raised.rawValue + 1, raised.rawValue + 2])
            let shirts = try [raised, undone, redone].map { sequence in
                let past = try store.container.context(at: .sequence(sequence))
                return try past.performAndWait {
                    try past.fetch(FetchRequest<Player>()).first?.shirt
                }
            }
            #expect(shirts == [2, 1, 2])
        }
    }

    @Test func `F47 undo and redo before the save that follows append nothing`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 1
            try context.save()
            ann.shirt = 2
            try context.save()
            context.undo()
            #expect(context.hasChanges)

            context.redo()

            #expect(!context.hasChanges)
            #expect(!ann.hasChanges)
            #expect(try context.save() == nil)
        }
    }

    @Test func `F44 F47 a group with a save in the middle is one step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            ann.shirt = 0
            try context.save()
            let manager = try context.manager
            manager.beginUndoGrouping()
            ann.shirt = 1
            try context.save()
            ann.mood = "glad"
            manager.endUndoGrouping()

            context.undo()
            #expect(ann.shirt == 0)
            #expect(ann.mood == nil)
            #expect(ann.hasChanges)
            context.redo()
            context.undo()
            try context.save()

            #expect(try store.picture()["ann"]?["shirt"] == "0")
            context.redo()
            #expect(ann.shirt == 1)
            context.undo()
            #expect(!context.hasChanges)
        }
    }

    @Test func `F45 F47 a saved delete in a nested group gives back references without inverse`()
        throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            let before = try store.picture()
            let manager = try context.manager
            manager.beginUndoGrouping()
            season.ann.shirt = 4
            manager.beginUndoGrouping()
            context.delete(season.cleo)
            manager.endUndoGrouping()
            try context.save()
            #expect(season.ann.idol == nil)
            #expect(season.bob.idol == nil)

            manager.undoNestedGroup()

            #expect(season.ann.idol === season.cleo)
            #expect(season.bob.idol === season.cleo)
            #expect(season.ann.shirt == 4)
            manager.endUndoGrouping()
            context.undo()
            try context.save()
            #expect(try store.picture() == before)
        }
    }

    @Test func `F45 a reference without inverse to an object deleted with it is saved as none`()
        throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            season.ann.idol = season.dan
            context.processPendingChanges()
            context.delete(season.dan)

            try context.save()

            #expect(season.ann.idol == nil)
            context.undo()
            #expect(season.ann.idol === season.dan)
            context.undo()
            #expect(season.ann.idol === season.cleo)
            try context.save()
            #expect(try store.picture()["ann"]?["idol"] == "cleo")
        }
    }

    @Test func `J4 undo of what another author has changed since is a conflict`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 1
            try context.save()
            ann.shirt = 2
            try context.save(author: "coach")
            try store.inContext { (other) throws in
                try other.fetch(FetchRequest<Player>()).first?.shirt = 9
                try other.save(author: "trainer")
            }

            context.undo()

            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .conflict)
            #expect(error?.conflicts.first?.base == .int(2))
            #expect(error?.conflicts.first?.theirs == .int(9))
            #expect(error?.conflicts.first?.ours == .int(1))
            context.mergePolicy = .mergeByPropertyStoreTrump
            try context.save()
            #expect(ann.shirt == 9)
        }
    }

    @Test func `J4 undo leaves alone what was merged from another author`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            try context.save()
            ann.shirt = 2
            ann.name = "anna"
            try context.save()
            try store.inContext { (other) throws in
                try other.fetch(FetchRequest<Player>()).first?.shirt = 9
                try other.save()
            }
            _ = try context.mergeChanges()

            context.undo()

            #expect(ann.shirt == 9)
            #expect(ann.name == "ann")
        }
    }

    @Test func `J4 undo leaves alone what was merged of several objects at once`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let players = (1...3).map { number in
                let player = Player(context: context)
                player.name = "player \(number)"
                return player
            }
            try context.save()
            for player in players {
                player.shirt = 1
                player.name += "!"
            }
            try context.save()
            for player in players { player.shirt = 2 }
            try store.inContext { (other) throws in
                for player in try other.fetch(FetchRequest<Player>()) {
                    player.shirt = 9
                    player.name = player.name.uppercased()
                }
                try other.save()
            }

            let conflicts = try context.mergeChanges()
            context.undo()
            let shirts = players.map(\.shirt)
            context.undo()

            #expect(conflicts.count == 3)
            #expect(shirts == [9, 9, 9])
            #expect(players.map(\.shirt) == [9, 9, 9])
            #expect(players.map(\.name) == ["PLAYER 1!", "PLAYER 2!", "PLAYER 3!"])
        }
    }

    @Test func `undo of a delete brings back what a refresh has read under it`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 1
            try context.save()
            context.delete(ann)
            context.processPendingChanges()
            try store.inContext { (other) throws in
                try other.fetch(FetchRequest<Player>()).first?.shirt = 9
                try other.save()
            }
            context.refreshAllObjects()

            context.undo()

            #expect(ann.shirt == 9)
            #expect(!context.hasChanges)
        }
    }

    @Test func `J4 undo of a saved delete leaves alone what another author has brought back`()
        throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 1
            try context.save()
            let other = store.container.newBackgroundContext()
            let copies = try other.performAndWait { () throws in
                let copies = try other.fetch(FetchRequest<Player>())
                #expect(copies.map(\.shirt) == [1])
                return copies
            }
            context.delete(ann)
            try context.save()
            try other.performAndWait { () throws in
                copies.first?.shirt = 9
                other.mergePolicy = .overwrite
                #expect(try other.save() != nil)
            }
            _ = try context.mergeChanges()

            context.undo()

            #expect(!context.hasChanges)
            #expect(try context.fetch(FetchRequest<Player>()).map(\.shirt) == [9])
        }
    }

    @Test func `undo brings back related objects that both sides have deleted`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            let before = try store.picture()
            let (ann, locker) = (season.ann.objectID, season.locker.objectID)
            context.delete(season.locker)
            context.delete(season.ann)
            context.processPendingChanges()
            try store.inContext { (other) throws in
                for id in [ann, locker] { other.delete(try other.existingObject(with: id)) }
                try other.save()
            }
            context.mergePolicy = .mergeByPropertyStoreTrump
            try context.save()
            _ = try context.mergeChanges()

            context.undo()

            #expect(season.ann.locker === season.locker)
            #expect(season.locker.player === season.ann)
            try context.save()
            #expect(try store.picture()["ann"]?["locker"] == before["ann"]?["locker"])
        }
    }

    @Test func `F42 J5 rollback restores the last saved values and reads nothing newer`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            let before = try context.picture()
            try store.inContext { (other) throws in
                let players = try other.fetch(FetchRequest<Player>())
                players.first { $0.name == "ann" }?.shirt = 99
                try other.save()
            }
            for edit in ClubEdit.allCases { edit.make(season) }
            context.delete(season.home)

            context.rollback()

            #expect(try context.picture() == before)
            #expect(season.ann.mood == nil)
            #expect(season.ann.shirt == nil)
            #expect(!context.hasChanges)
            #expect(context.insertedObjects.isEmpty)
            #expect(context.deletedObjects.isEmpty)
            #expect(try context.save() == nil)
        }
    }

    @Test func `F42 rollback empties the undo stack and redo after it does nothing`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 0
            try context.save()
            ann.shirt = 1
            context.processPendingChanges()
            ann.shirt = 2
            context.processPendingChanges()
            context.undo()

            context.rollback()

            let manager = try context.manager
            #expect(ann.shirt == 0)
            #expect(!manager.canUndo)
            #expect(!manager.canRedo)
            context.redo()
            context.undo()
            #expect(ann.shirt == 0)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F42 rollback after an undone save goes back to what was saved`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            season.first.players.reverse()
            context.delete(season.bob)
            try context.save()
            let saved = try context.picture()
            context.undo()
            #expect(try context.picture() != saved)

            context.rollback()

            #expect(try context.picture() == saved)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F42 rollback works without an undo manager and undo does nothing`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            context.undoManager = nil
            let ann = Player(context: context)
            ann.shirt = 0
            try context.save()
            ann.shirt = 1
            let bob = Player(context: context)
            context.undo()
            context.redo()
            #expect(ann.shirt == 1)

            context.rollback()

            #expect(ann.shirt == 0)
            #expect(bob.managedObjectContext == nil)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F42 a context without a step is left as it is by undo and redo`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            try context.manager.removeAllActions()
            let before = try context.picture()

            context.undo()
            context.redo()

            #expect(try context.picture() == before)
            #expect(season.ann.club === season.home)
            #expect(!context.hasChanges)
        }
    }

    @Test func `a refused save leaves the steps to be undone`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let first = Department(context: context)
            first.name = "Engines"
            try context.save()
            let second = Department(context: context)
            second.name = "Engines"
            #expect(throws: StoreError.self) { try context.save() }

            context.undo()

            #expect(second.managedObjectContext == nil)
            #expect(!context.hasChanges)
            context.redo()
            second.name = "Looms"
            #expect(try context.save() != nil)
        }
    }

    @Test func `a step undone in willSave is not saved, and one undone in didSave is pending`()
        throws
    {
        let store = try HookStore()
        try store.inContext { (context) throws in
            let note = UndoingNote(context: context)
            note.text = "first"
            try context.save()
            note.text = "second"
            note.undoesBeforeSave = true
            #expect(try context.save() == nil)
            #expect(note.text == "first")
            #expect(!context.hasChanges)

            note.text = "third"
            note.undoesAfterSave = true
            #expect(try context.save() != nil)

            #expect(note.text == "first")
            #expect(context.hasChanges)
            #expect(try context.save() != nil)
        }
    }

    @Test func `what hooks of a save change is undone with what they have followed`() throws {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("names.daybook"), model: [ShoutedName.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let name = ShoutedName(context: context)
            name.text = "a"
            try context.save()
            name.text = "b"
            context.processPendingChanges()
            name.count = 1
            try context.save()
            #expect(name.shouted == "B")
            #expect(context.undoManager?.undoCount == 3)

            context.undo()
            try context.save()
            #expect(name.text == "b" && name.count == 0)
            context.undo()
            try context.save()

            #expect(name.text == "a" && name.shouted == "A")
            #expect(name.lengths == 1)
            context.redo()
            #expect(name.text == "b")
            try context.save()
            #expect(name.shouted == "B")
            context.undo()
            #expect(name.text == "a" && name.shouted == "A")
            context.undo()
            #expect(name.isDeleted)
        }
    }
}

/// An entity whose hooks keep other attributes up to date.
private final class ShoutedName: ManagedObject {
    @Attribute var text: String = ""
    @Attribute var shouted: String = ""
    @Attribute var lengths: Int = 0
    @Attribute var count: Int = 0

    override func willSave() {
        if !isDeleted, shouted != text.uppercased() { shouted = text.uppercased() }
    }

    override func validateForUpdate() throws {
        if lengths != text.count { lengths = text.count }
    }
}

/// An entity whose hooks call undo around a save.
private final class UndoingNote: ManagedObject {
    @Attribute var text: String = ""
    var undoesBeforeSave = false
    var undoesAfterSave = false

    override func willSave() {
        guard undoesBeforeSave else { return }
        undoesBeforeSave = false
        managedObjectContext?.undo()
    }

    override func didSave() {
        guard undoesAfterSave else { return }
        undoesAfterSave = false
        managedObjectContext?.undo()
    }
}

private struct HookStore {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("notes.daybook"), model: [UndoingNote.self])
    }

    func inContext(_ body: (ManagedObjectContext) throws -> Void) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait { try body(context) }
    }
}

@Suite struct UndoBadUseTests {
    @Test func `F44 ending a group that was not begun stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClubStore()
            try store.inContext { try $0.manager.endUndoGrouping() }
        }
    }

    @Test func `F44 undo within nested groups stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClubStore()
            try store.inContext { (context) throws in
                try context.manager.beginUndoGrouping()
                try context.manager.beginUndoGrouping()
                context.undo()
            }
        }
    }

    @Test func `F44 undoing a nested group after another edit stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClubStore()
            try store.inContext { (context) throws in
                let manager = try context.manager
                manager.beginUndoGrouping()
                manager.beginUndoGrouping()
                let ann = Player(context: context)
                manager.endUndoGrouping()
                ann.shirt = 1
                manager.undoNestedGroup()
            }
        }
    }

    @Test func `F43 enabling registration that was not disabled stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClubStore()
            try store.inContext { try $0.manager.enableUndoRegistration() }
        }
    }

    @Test func `one undo manager for two contexts stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClubStore()
            let first = store.container.newBackgroundContext()
            let second = store.container.newBackgroundContext()
            second.undoManager = first.undoManager
        }
    }

    @Test func `undo called from within an undo stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let store = try ClubStore()
            try store.inContext { (context) throws in
                let object = Meddling(context: context)
                object.name = "first"
                try context.save()
                object.name = "second"
                try context.save()
                context.refresh(object, mergeChanges: false)
                context.undo()
            }
        }
    }
}
