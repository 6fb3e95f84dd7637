import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// Undo leaves alone what others have changed, however the context has come to know of it.
@Suite struct UndoRefreshTests {
    /// A way in which a context takes in what others have saved.
    enum Refresh: CaseIterable {
        case keeping, dropping, all, droppingBeforeMerge
    }

    /// Saves a player with shirt 1, then with shirt 2, lets somebody else save shirt 3, and lets the
    /// context take that in.
    private func refreshed(
        _ refresh: Refresh, _ body: (ManagedObjectContext, Player) throws -> Void
    ) throws {
        let store = try ClubStore()
        try store.inContext { context in
            let ann = Player(context: context)
            ann.name = "ann"
            ann.shirt = 1
            try context.save()
            ann.shirt = 2
            try context.save()
            if refresh == .droppingBeforeMerge { context.refresh(ann, mergeChanges: false) }
            let other = store.container.newBackgroundContext()
            try other.performAndWait {
                try other.fetch(FetchRequest<Player>()).first?.shirt = 3
                try other.save()
            }
            switch refresh {
            case .keeping: context.refresh(ann, mergeChanges: true)
            case .dropping: context.refresh(ann, mergeChanges: false)
            case .all: context.refreshAllObjects()
            case .droppingBeforeMerge: #expect(try context.mergeChanges().isEmpty)
            }
            try body(context, ann)
        }
    }

    @Test(arguments: Refresh.allCases)
    func `F47 undo leaves alone what a refresh has brought in`(refresh: Refresh) throws {
        try refreshed(refresh) { context, ann in
            #expect(ann.shirt == 3)

            while context.undoManager?.canUndo == true, !ann.isDeleted { context.undo() }

            // The step that set only the shirt is gone; the one that made the player is not.
            #expect(ann.isDeleted)
            context.redo()
            #expect(ann.shirt == 3)
            #expect(ann.name == "ann")
            #expect(!context.hasChanges)
        }
    }

    @Test(arguments: [true, false])
    func `F47 what others have set and taken back leaves undo its steps`(isFault: Bool) throws {
        let store = try ClubStore()
        try store.inContext { context in
            let ann = Player(context: context)
            ann.shirt = 1
            try context.save()
            ann.shirt = 2
            try context.save()
            if isFault { context.refresh(ann, mergeChanges: false) }
            let other = store.container.newBackgroundContext()
            try other.performAndWait {
                let same = try other.fetch(FetchRequest<Player>()).first
                for shirt in [3, 2] {
                    same?.shirt = shirt
                    try other.save()
                }
            }
            #expect(try context.mergeChanges().isEmpty)
            #expect(ann.isFault == isFault)

            context.undo()

            #expect(ann.shirt == 1)
        }
    }

    @Test(arguments: Refresh.allCases)
    func `F47 an edit after a refresh is undone to what that has brought in`(
        refresh: Refresh
    ) throws {
        try refreshed(refresh) { context, ann in
            ann.shirt = 4

            context.undo()

            #expect(ann.shirt == 3)
            #expect(!context.hasChanges)
        }
    }
}
