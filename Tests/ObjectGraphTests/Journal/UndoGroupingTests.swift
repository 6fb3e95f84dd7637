import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct UndoGroupingTests {
    /// A saved player with no steps to undo.
    private func player(in context: ManagedObjectContext) throws -> Player {
        let ann = Player(context: context)
        ann.shirt = 0
        try context.save()
        try context.manager.removeAllActions()
        return ann
    }

    private func set(_ shirt: Int, _ ann: Player, _ context: ManagedObjectContext) {
        ann.shirt = shirt
        context.processPendingChanges()
    }

    @Test func `F42 undo reverses the latest step and redo makes it again`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            for shirt in 1...3 { set(shirt, ann, context) }

            context.undo()
            #expect(ann.shirt == 2)
            context.undo()
            #expect(ann.shirt == 1)
            context.redo()

            #expect(ann.shirt == 2)
            #expect(try context.manager.undoCount == 2)
            #expect(try context.manager.redoCount == 1)
        }
    }

    @Test func `F42 a new edit makes an end of what could be redone`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            for shirt in 1...3 { set(shirt, ann, context) }
            context.undo()
            context.undo()
            #expect(try context.manager.canRedo)

            ann.shirt = 8

            #expect(try !context.manager.canRedo)
            context.redo()
            #expect(ann.shirt == 8)
            #expect(try context.manager.redoCount == 0)
        }
    }

    @Test func `F43 edits are one step until the event ends, and asking does not end it`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            ann.shirt = 1
            #expect(try context.manager.canUndo)
            #expect(try context.manager.undoCount == 0)
            ann.shirt = 2

            context.undo()

            #expect(ann.shirt == 0)
            #expect(try !context.manager.canUndo)
        }
    }

    @Test func `F43 each block given to perform is one step`() async throws {
        let store = try ClubStore()
        let context = store.container.newBackgroundContext()
        let id = try await context.perform { try player(in: context).objectID }
        for shirt in 1...2 {
            try await context.perform {
                let ann = try context.existingObject(with: id) as? Player
                ann?.shirt = shirt * 10
                ann?.shirt = shirt
            }
        }

        let shirts = try await context.perform {
            let ann = try context.existingObject(with: id) as? Player
            context.undo()
            let undone = ann?.shirt
            context.undo()
            return [undone, ann?.shirt]
        }

        #expect(shirts == [1, 0])
    }

    @Test func `F43 what is changed while registration is disabled is no step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            ann.shirt = 1
            context.processPendingChanges()
            manager.disableUndoRegistration()
            #expect(!manager.isUndoRegistrationEnabled)
            ann.name = "ann"
            context.processPendingChanges()
            manager.enableUndoRegistration()
            #expect(manager.undoCount == 1)

            context.undo()

            #expect(ann.shirt == 0)
            #expect(ann.name == "ann")
            #expect(ann.isUpdated)
            try context.save()
            #expect(try store.picture()["ann"]?["shirt"] == "0")
        }
    }

    @Test func `F43 disabling nests, and keeps what could be undone before`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            ann.shirt = 1
            manager.disableUndoRegistration()
            manager.disableUndoRegistration()
            manager.enableUndoRegistration()
            set(2, ann, context)
            #expect(manager.undoCount == 1)
            manager.enableUndoRegistration()

            context.undo()

            #expect(ann.shirt == 0)
        }
    }

    @Test func `F44 events of a group are one step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            set(1, ann, context)
            manager.beginUndoGrouping()
            #expect(manager.groupingLevel == 1)
            for shirt in 2...4 { set(shirt, ann, context) }
            manager.endUndoGrouping()
            #expect(manager.groupingLevel == 0)
            #expect(manager.undoCount == 2)

            context.undo()
            #expect(ann.shirt == 1)
            context.redo()

            #expect(ann.shirt == 4)
        }
    }

    @Test func `F44 a group in which nothing was changed is no step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            set(1, ann, context)
            context.undo()

            manager.beginUndoGrouping()
            manager.beginUndoGrouping()
            manager.endUndoGrouping()
            manager.endUndoGrouping()

            #expect(manager.undoCount == 0)
            #expect(manager.redoCount == 1)
        }
    }

    @Test func `F44 groups nest, and the outermost is the step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            manager.beginUndoGrouping()
            set(1, ann, context)
            manager.beginUndoGrouping()
            set(2, ann, context)
            #expect(manager.groupingLevel == 2)
            manager.endUndoGrouping()
            set(3, ann, context)
            manager.endUndoGrouping()
            #expect(manager.undoCount == 1)

            context.undo()

            #expect(ann.shirt == 0)
        }
    }

    @Test func `F44 undo ends the group that is open`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            manager.beginUndoGrouping()
            set(1, ann, context)
            ann.shirt = 2

            context.undo()

            #expect(ann.shirt == 0)
            #expect(manager.groupingLevel == 0)
        }
    }

    @Test func `F44 a nested group is undone by itself and redone where it was`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            manager.beginUndoGrouping()
            set(1, ann, context)
            for shirt in 2...3 {
                manager.beginUndoGrouping()
                set(shirt, ann, context)
                manager.endUndoGrouping()
            }

            manager.undoNestedGroup()
            #expect(ann.shirt == 2)
            manager.undoNestedGroup()
            #expect(ann.shirt == 1)
            manager.undoNestedGroup()
            #expect(ann.shirt == 1)
            manager.redo()
            #expect(ann.shirt == 2)
            manager.endUndoGrouping()

            #expect(manager.undoCount == 1)
            #expect(manager.redoCount == 1)
            context.redo()
            #expect(ann.shirt == 3)
            context.undo()
            context.undo()
            #expect(ann.shirt == 0)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F44 without an open group, the nested group is the last step`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            set(1, ann, context)
            set(2, ann, context)

            try context.manager.undoNestedGroup()

            #expect(ann.shirt == 1)
        }
    }

    @Test func `F44 events do not end a step when groups are not made by event`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            set(1, ann, context)
            manager.groupsByEvent = false
            set(2, ann, context)
            set(3, ann, context)
            manager.beginUndoGrouping()
            set(4, ann, context)
            manager.endUndoGrouping()
            set(5, ann, context)
            manager.groupsByEvent = true
            set(6, ann, context)
            #expect(manager.undoCount == 5)

            var shirts: [Int?] = []
            while manager.canUndo {
                context.undo()
                shirts.append(ann.shirt)
            }

            #expect(shirts == [5, 4, 3, 1, 0])
        }
    }

    @Test func `F44 undo ends the step that events do not end`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            manager.groupsByEvent = false
            set(1, ann, context)
            set(2, ann, context)
            context.undo()
            #expect(ann.shirt == 0)
            context.redo()
            set(3, ann, context)

            context.undo()

            #expect(ann.shirt == 2)
        }
    }

    @Test func `F44 a step has the name it was given`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            #expect(manager.undoActionName == "")
            ann.shirt = 1
            manager.setActionName("One")
            manager.beginUndoGrouping()
            manager.setActionName("Two")
            set(2, ann, context)
            #expect(manager.undoActionName == "Two")
            manager.endUndoGrouping()
            #expect(manager.undoActionName == "Two")

            context.undo()

            #expect(manager.undoActionName == "One")
            #expect(manager.redoActionName == "Two")
            context.redo()
            #expect(manager.undoActionName == "Two")
            #expect(manager.redoActionName == "")
        }
    }

    @Test func `F44 a group without a name takes that of a nested one`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = try player(in: context)
            let manager = try context.manager
            manager.beginUndoGrouping()
            for name in ["Inner", "Later"] {
                manager.beginUndoGrouping()
                ann.shirt = 1
                manager.setActionName(name)
                manager.endUndoGrouping()
            }
            manager.endUndoGrouping()

            #expect(manager.undoActionName == "Inner")
        }
    }

    @Test func `F48 undo takes back one step and not all of the session`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let home = Club(context: context)
            try context.save()
            for name in ["ann", "bob", "cleo"] {
                let player = Player(context: context)
                player.name = name
                player.club = home
                try context.save()
            }

            context.undo()

            #expect(home.players.map(\.name).sorted() == ["ann", "bob"])
            try context.save()
            #expect(try context.count(FetchRequest<Player>()) == 2)
        }
    }
}

@Suite struct UndoNotificationTests {
    @Test func `F44 F46 groups and steps are posted in order`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let manager = try context.manager
            let ann = Player(context: context)
            try context.save()
            manager.removeAllActions()
            let names: [(Notification.Name, String)] = [
                (.undoManagerCheckpoint, "checkpoint"), (.undoManagerDidOpenUndoGroup, "open"),
                (.undoManagerDidCloseUndoGroup, "close"), (.undoManagerWillUndo, "will undo"),
                (.undoManagerDidUndo, "did undo"), (.undoManagerWillRedo, "will redo"),
                (.undoManagerDidRedo, "did redo"),
            ]
            let told = Told()
            let observers = names.map { name, text in
                NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) {
                    _ in told.texts.append(text)
                }
            }
            defer {
                for observer in observers { NotificationCenter.default.removeObserver(observer) }
            }

            manager.beginUndoGrouping()
            ann.shirt = 1
            manager.endUndoGrouping()
            context.undo()
            context.redo()
            ann.shirt = 2
            context.processPendingChanges()
            context.undo()
            context.undo()
            context.undo()

            #expect(
                told.texts == [
                    "checkpoint", "open", "checkpoint", "close",
                    "checkpoint", "will undo", "did undo", "checkpoint", "will redo", "did redo",
                    "close", "checkpoint", "will undo", "did undo",
                    "checkpoint", "will undo", "did undo", "checkpoint",
                ])
        }
    }

    @Test func `F44 the flags tell which way the work goes`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let manager = try context.manager
            let noticing = Noticing(context: context)
            noticing.name = "first"
            try context.save()
            noticing.name = "second"
            try context.save()
            context.refresh(noticing, mergeChanges: false)

            context.undo()
            #expect(noticing.seen == ["undoing"])
            try context.save()
            context.refresh(noticing, mergeChanges: false)
            context.redo()

            #expect(noticing.seen == ["undoing", "redoing"])
            #expect(!manager.isUndoing)
            #expect(!manager.isRedoing)
        }
    }
}

/// The received notifications, which come on the queue of one context.
private final class Told: @unchecked Sendable {
    // @unchecked Sendable because one thread uses it.
    var texts: [String] = []
}
