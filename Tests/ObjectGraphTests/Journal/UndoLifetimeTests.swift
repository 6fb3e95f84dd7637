import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct UndoLifetimeTests {
    @Test func `S12 S13 an object goes when all its changes are undone and forgotten`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            weak var weakAnn: Player?
            do {
                let ann = Player(context: context)
                try context.save()
                try context.manager.removeAllActions()
                weakAnn = ann
                ann.shirt = 1
                context.processPendingChanges()
                ann.name = "ann"
            }
            context.undo()
            try context.manager.removeAllActions()
            #expect(weakAnn?.isUpdated == true)

            context.rollback()

            #expect(weakAnn == nil)
        }
    }

    @Test func `S12 undoing every change of one object leaves the others held`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            weak var weakAnn: Player?
            weak var weakBob: Player?
            do {
                let (ann, bob) = (Player(context: context), Player(context: context))
                try context.save()
                try context.manager.removeAllActions()
                (weakAnn, weakBob) = (ann, bob)
                bob.shirt = 2
                context.processPendingChanges()
                ann.shirt = 1
                context.processPendingChanges()
            }

            context.undo()
            #expect(weakAnn?.hasChanges == false)
            #expect(weakBob?.hasChanges == true)
            try context.manager.removeAllActions()

            #expect(weakAnn == nil)
            #expect(weakBob != nil)
        }
    }

    @Test func `S13 S14 the manager holds what it mentions across saves until told not to`() throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            weak var weakAnn: Player?
            weak var weakBob: Player?
            do {
                let (ann, bob) = (Player(context: context), Player(context: context))
                (weakAnn, weakBob) = (ann, bob)
                try context.save()
                context.delete(bob)
                try context.save()
            }
            context.undo()
            try context.save()
            #expect(weakAnn != nil)
            #expect(weakBob != nil)

            try context.manager.removeAllActions()

            #expect(weakAnn == nil)
            #expect(weakBob == nil)
            #expect(try !context.manager.canUndo)
            #expect(try !context.manager.canRedo)
        }
    }

    @Test func `S14 removing all actions keeps what was changed and registers what follows`()
        throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.name = "ann"
            context.processPendingChanges()
            ann.shirt = 1
            let manager = try context.manager
            manager.beginUndoGrouping()
            ann.shirt = 2

            manager.removeAllActions()

            #expect(!manager.canUndo)
            #expect(manager.groupingLevel == 1)
            ann.shirt = 3
            manager.endUndoGrouping()
            context.undo()
            #expect(ann.shirt == 2)
            #expect(ann.isInserted)
            context.undo()
            #expect(ann.isInserted)
            try context.save()
            #expect(try store.picture()["ann"]?["shirt"] == "2")
        }
    }

    @Test func `S28 there is no limit unless one is set`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            context.processPendingChanges()
            for shirt in 1...1000 {
                ann.shirt = shirt
                context.processPendingChanges()
            }
            #expect(try context.manager.levelsOfUndo == 0)

            for _ in 1...1000 { context.undo() }

            #expect(ann.shirt == nil)
            #expect(try context.manager.undoCount == 1)
            #expect(try context.manager.redoCount == 1000)
        }
    }

    @Test func `S29 F44 a limit forgets the oldest steps and lets their objects go`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let manager = try context.manager
            manager.levelsOfUndo = 2
            weak var weakAnn: Player?
            do {
                let ann = Player(context: context)
                weakAnn = ann
                try context.save()
            }
            #expect(weakAnn != nil)
            let bob = Player(context: context)
            context.processPendingChanges()
            #expect(weakAnn != nil)

            for shirt in 1...2 {
                bob.shirt = shirt
                context.processPendingChanges()
            }

            #expect(weakAnn == nil)
            #expect(manager.undoCount == 2)
            for _ in 1...5 { context.undo() }
            #expect(bob.shirt == nil)
            #expect(bob.isInserted)
        }
    }

    @Test func `S29 a lower limit takes effect at once, for redo as well`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            context.processPendingChanges()
            for shirt in 1...6 {
                ann.shirt = shirt
                context.processPendingChanges()
            }
            for _ in 1...3 { context.undo() }

            let manager = try context.manager
            manager.levelsOfUndo = 2

            #expect(manager.undoCount == 2)
            #expect(manager.redoCount == 2)
            for _ in 1...4 { context.redo() }
            #expect(ann.shirt == 5)
            for _ in 1...9 { context.undo() }
            #expect(ann.shirt == 3)
        }
    }

    @Test func `S29 F17 an object whose steps are forgotten stays changed until it is saved`()
        throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 0
            try context.save()
            let manager = try context.manager
            manager.removeAllActions()
            manager.levelsOfUndo = 1
            for shirt in [1, 0, 2] {
                ann.shirt = shirt
                context.processPendingChanges()
            }

            context.undo()

            #expect(ann.shirt == 0)
            #expect(ann.isUpdated)
            #expect(context.hasChanges)
            #expect(try context.save() == nil)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F17 an object edited back after an undone save stays changed`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 0
            try context.save()
            ann.shirt = 1
            try context.save()
            context.undo()
            #expect(ann.shirt == 0)

            ann.shirt = 1
            context.processPendingChanges()

            #expect(ann.isUpdated)
            #expect(context.hasChanges)
            context.undo()
            #expect(ann.shirt == 0)
            try context.save()
            #expect(try store.inContext { try $0.fetch(FetchRequest<Player>()).first?.shirt } == 0)
        }
    }

    @Test(arguments: [false, true])
    func `F17 an edit there and back leaves the object changed until the save`(
        inOneEvent: Bool
    ) throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 0
            try context.save()
            let entries = try store.entryCount()

            ann.shirt = 1
            if !inOneEvent { context.processPendingChanges() }
            ann.shirt = 0
            context.processPendingChanges()

            #expect(ann.hasChanges)
            #expect(context.hasChanges)
            #expect(context.updatedObjects == [ann])
            #expect(try context.save() == nil)
            #expect(!ann.hasChanges)
            #expect(!context.hasChanges)
            #expect(try store.entryCount() == entries)
        }
    }

    @Test func `F17 S12 undoing there and back makes the object clean`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let ann = Player(context: context)
            ann.shirt = 0
            try context.save()
            for shirt in [1, 0] {
                ann.shirt = shirt
                context.processPendingChanges()
            }

            context.undo()
            #expect(ann.shirt == 1)
            #expect(ann.hasChanges)
            context.undo()

            #expect(!ann.hasChanges)
            #expect(!context.hasChanges)
        }
    }

    @Test func `S30 without an undo manager nothing is recorded and objects go with the save`()
        throws
    {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            context.undoManager = nil
            weak var weakAnn: Player?
            do {
                let ann = Player(context: context)
                ann.name = "ann"
                weakAnn = ann
                context.processPendingChanges()
                ann.shirt = 1
                context.undo()
                context.redo()
                #expect(ann.shirt == 1)
                try context.save()
            }

            #expect(weakAnn == nil)
            #expect(try store.picture()["ann"]?["shirt"] == "1")
        }
    }

    @Test func `S30 a manager given later records from then on`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            context.undoManager = nil
            let ann = Player(context: context)
            ann.shirt = 0
            context.processPendingChanges()
            let manager = UndoManager()
            context.undoManager = manager
            ann.shirt = 1

            context.undo()
            context.undo()

            #expect(ann.shirt == 0)
            #expect(ann.isInserted)
            context.undoManager = nil
            #expect(!manager.canRedo)
            manager.redo()
            #expect(ann.shirt == 0)
        }
    }

    @Test func `S31 the manager goes with its context, and alone it does nothing`() throws {
        let store = try ClubStore()
        weak var weakManager: UndoManager?
        var kept: UndoManager?
        do {
            let (first, second) = (
                store.container.newBackgroundContext(), store.container.newBackgroundContext()
            )
            weakManager = first.undoManager
            kept = second.undoManager
            second.performAndWait { _ = Player(context: second) }
            #expect(kept?.canUndo == true)
        }

        #expect(weakManager == nil)
        #expect(kept?.canUndo == false)
        kept?.undo()
        #expect(kept?.canRedo == false)
    }
}
