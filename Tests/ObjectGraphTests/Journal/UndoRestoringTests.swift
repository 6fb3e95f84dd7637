import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// An event of edits, each of which touches more than its own object.
enum ClubEdit: CaseIterable {
    case attributes, transient, move, leave, takeAll, locker, lockerFromBehind, partner, loner
    case friends, friendless, idol, rivals, reorder, insertBetween, drop, lineups, rounds,
        roundMoves
    case insert

    func make(_ season: Season) {
        let (ann, bob, cleo, dan) = (season.ann, season.bob, season.cleo, season.dan)
        switch self {
        case .attributes:
            ann.shirt = 7
            ann.shirt = 9
            bob.shirt = 1
        case .transient: ann.mood = "glad"
        case .move: ann.club = season.away
        case .leave: ann.club = nil
        case .takeAll: season.away.players = [ann, bob, cleo, dan]
        case .locker: bob.locker = season.locker
        case .lockerFromBehind: season.spare.player = ann
        case .partner: ann.partner = dan
        case .loner: ann.partner = nil
        case .friends: bob.friends = [cleo, dan]
        case .friendless: ann.friends = []
        case .idol: ann.idol = dan
        case .rivals: ann.rivals = [cleo]
        case .reorder: season.first.players.reverse()
        case .insertBetween:
            season.first.players.removeAll { $0 === dan }
            season.first.players.insert(dan, at: min(1, season.first.players.count))
        case .drop: season.first.players = Array(season.first.players.dropFirst())
        case .lineups: dan.lineups = [season.first, season.second]
        case .rounds: season.first.rounds.reverse()
        case .roundMoves: season.second.rounds = Array(season.first.rounds.dropFirst().prefix(1))
        case .insert:
            let eve = Player(context: season.context)
            eve.name = "eve"
            eve.club = season.home
            eve.partner = ann
            season.first.players.insert(eve, at: 1)
        }
    }
}

@Suite struct UndoRestoringTests {
    @Test(
        arguments: [
            "home", "away", "ann", "bob", "cleo", "dan", "locker", "first", "second", "two",
        ], [false, true])
    func `S32 F45 undo of a delete restores every relationship on both sides`(
        name: String, isSaved: Bool
    ) throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            if isSaved { try context.save() } else { context.processPendingChanges() }
            let before = try context.picture()
            let object = try #require(
                season.objects.first { $0.value(forKey: "name") as? String == name })
            context.delete(object)
            context.processPendingChanges()
            let after = try context.picture()
            #expect(after[name] == nil)

            context.undo()

            #expect(try context.picture() == before)
            #expect(context.hasChanges == !isSaved)
            #expect(context.deletedObjects.isEmpty)
            context.redo()
            #expect(try context.picture() == after)
            context.undo()
            #expect(try context.picture() == before)
        }
    }

    @Test(arguments: [
        "home", "away", "ann", "bob", "cleo", "dan", "locker", "first", "second", "two",
    ])
    func `F47 a saved delete is undone by the next save and redone by the one after`(
        name: String
    ) throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            let before = try store.picture()
            let object = try #require(
                season.objects.first { $0.value(forKey: "name") as? String == name })
            context.delete(object)
            try context.save()
            let after = try store.picture()

            context.undo()
            #expect(context.hasChanges)
            #expect(try context.picture() == before)
            #expect(try store.picture() == after)
            try context.save()

            #expect(try store.picture() == before)
            context.redo()
            #expect(try context.picture() == after)
            try context.save()
            #expect(try store.picture() == after)
        }
    }

    @Test(arguments: ClubEdit.allCases)
    func `S32 S33 an event is undone and redone whole, and nothing of it reaches the store`(
        edit: ClubEdit
    ) throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            try context.manager.removeAllActions()
            let entries = try store.entryCount()
            let before = try context.picture()
            edit.make(season)
            context.processPendingChanges()
            let after = try context.picture()
            #expect(after != before || season.ann.mood == "glad")

            context.undo()

            #expect(try context.picture() == before)
            #expect(season.ann.mood == nil)
            #expect(!context.hasChanges)
            #expect(season.objects.allSatisfy { !$0.hasChanges })
            context.redo()
            #expect(try context.picture() == after)
            #expect(context.hasChanges)
            #expect(try store.entryCount() == entries)
            #expect(try store.picture() == before)
        }
    }

    @Test(arguments: ClubEdit.allCases.filter { $0 != .transient })
    func `F47 an event is undone after its save and the undoing saved`(edit: ClubEdit) throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let season = Season(in: context)
            try context.save()
            let before = try store.picture()
            edit.make(season)
            try context.save()
            let after = try store.picture()
            let entries = try store.entryCount()

            context.undo()
            #expect(context.hasChanges)
            try context.save()

            #expect(try store.picture() == before)
            #expect(try store.entryCount() == entries + 1)
            context.redo()
            try context.save()
            #expect(try store.picture() == after)
        }
    }

    @Test func `F45 undo of an insert takes the object out of its context`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            context.processPendingChanges()

            context.undo()

            #expect(ann.managedObjectContext == nil)
            #expect(context.registeredObject(for: ann.objectID) == nil)
            #expect(context.insertedObjects.isEmpty)
            #expect(try context.fetch(FetchRequest<Player>()).isEmpty)
            context.redo()
            #expect(ann.managedObjectContext === context)
            #expect(context.registeredObject(for: ann.objectID) === ann)
            #expect(context.insertedObjects == [ann])
        }
    }

    @Test func `F42 an object made and deleted comes back step by step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            context.processPendingChanges()
            context.delete(ann)
            context.processPendingChanges()
            #expect(!context.hasChanges)

            context.undo()

            #expect(ann.isInserted)
            #expect(ann.name == "ann")
            try context.save()
            #expect(try store.picture().keys.sorted() == ["ann"])
        }
    }

    @Test func `F44 J10 a transient property is undone, redone and never saved`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.mood = "calm"
            try context.save()
            let entries = try store.entryCount()
            ann.mood = "glad"
            context.processPendingChanges()
            ann.mood = "sad"
            context.processPendingChanges()
            #expect(context.hasChanges)

            context.undo()
            #expect(ann.mood == "glad")
            context.undo()
            #expect(ann.mood == "calm")
            #expect(!context.hasChanges)
            context.redo()

            #expect(ann.mood == "glad")
            #expect(try context.save() == nil)
            #expect(ann.mood == "glad")
            #expect(try store.entryCount() == entries)
            context.undo()
            #expect(ann.mood == "calm")
        }
    }

    @Test func `J10 what a child does to a transient property is undone in its parent`() throws {
        let store = try ClubStore()
        let parent = store.container.newBackgroundContext()
        let child = ManagedObjectContext(parent: parent)
        try parent.performAndWait { () throws in
            let ann = Player(context: parent)
            ann.mood = "calm"
            try parent.save()
            let id = ann.objectID
            try child.performAndWait { () throws in
                let copy = try #require(try child.existingObject(with: id) as? Player)
                copy.mood = "glad"
                try child.save()
            }
            #expect(ann.mood == "glad")

            parent.undo()

            #expect(ann.mood == "calm")
        }
    }

    @Test func `F46 undo passes by the accessors of a class`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shownName = "ann"
            context.processPendingChanges()
            ann.shownName = "anna"
            context.processPendingChanges()
            #expect(ann.namings == 2)

            context.undo()
            #expect(ann.shownName == "ann")
            context.redo()

            #expect(ann.shownName == "anna")
            #expect(ann.namings == 2)
        }
    }

    @Test func `undo reads a fault whose step it takes back`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            try context.save()
            ann.name = "anna"
            try context.save()
            context.refresh(ann, mergeChanges: false)
            #expect(ann.isFault)

            context.undo()

            #expect(ann.name == "ann")
            #expect(context.updatedObjects == [ann])
        }
    }
}
