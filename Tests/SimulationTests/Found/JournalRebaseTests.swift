import DaybookObjectGraph
import DaybookObjectModel
import Testing

/// What undo and redo lead to after others' changes have come in under the steps of a context.
@Suite struct JournalRebaseTests {
    private let office: OfficeStore
    private let ours: ManagedObjectContext
    private let theirs: ManagedObjectContext

    init() throws {
        office = try OfficeStore()
        ours = office.container.newBackgroundContext()
        theirs = office.container.newBackgroundContext()
        for context in [ours, theirs] { context.retainsRegisteredObjects = true }
    }

    /// Lets others change an object and save.
    private func change<Object: ManagedObject>(
        _ object: Object, _ body: (Object) throws -> Void
    ) throws {
        try theirs.performAndWait {
            try body(try twin(object, in: theirs))
            try theirs.save()
        }
    }

    @Test func `undo leaves alone what a fault has read before the merge`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            plan.title = "base"
            try ours.save()
            ours.undoManager?.removeAllActions()
            plan.title = "ours"
            try ours.save()
            ours.refresh(plan, mergeChanges: false)
            try change(plan) { $0.title = "theirs" }
            #expect(plan.title == "theirs")
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.title == "theirs")
            #expect(try ours.save() == nil)
        }
    }

    @Test func `undo in a child leaves alone what it has merged of a fault`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            plan.title = "base"
            try ours.save()
            let child = ManagedObjectContext(parent: ours)
            try child.performAndWait {
                let copy = try twin(plan, in: child)
                copy.title = "child"
                try child.save()
                child.refresh(copy, mergeChanges: false)
                try ours.performAndWait {
                    plan.title = "theirs"
                    try ours.save()
                }
                _ = try child.mergeChanges()

                child.undo()

                #expect(copy.title == "theirs")
                try child.save()
            }
            #expect(plan.title == "theirs")
        }
    }

    @Test func `redo of an insert brings back what others have made of it`() throws {
        try ours.performAndWait {
            let step = Step(context: ours)
            try ours.save()
            let plan = Plan(context: ours)
            plan.title = "ours"
            try ours.save()
            ours.undo()
            try change(plan) {
                $0.title = "theirs"
                $0.steps = [try twin(step, in: theirs)]
            }
            _ = try ours.mergeChanges()

            ours.redo()

            #expect(plan.title == "theirs")
            #expect(plan.steps == [step])
            #expect(try ours.save() == nil)
        }
    }

    @Test func `undo of a membership leaves alone that others have made it too`() throws {
        try ours.performAndWait {
            let (plan, person) = (Plan(context: ours), Person(context: ours))
            try ours.save()
            ours.undoManager?.removeAllActions()
            plan.members = [person]
            ours.processPendingChanges()
            try change(plan) { $0.members = [try twin(person, in: theirs)] }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.members == [person])
            #expect(try ours.save() == nil)
        }
    }

    @Test func `undo of a saved move leaves a later order of others`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            let steps = [Step(context: ours), Step(context: ours), Step(context: ours)]
            plan.steps = steps
            try ours.save()
            ours.undoManager?.removeAllActions()
            plan.steps = [steps[1], steps[2], steps[0]]
            try ours.save()
            try change(plan) { copy in
                copy.steps = try [1, 0, 2].map { try twin(steps[$0], in: theirs) }
            }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.steps == [steps[1], steps[0], steps[2]])
            #expect(try ours.save() == nil)
        }
    }

    @Test(arguments: ["both", "theirs"])
    func `undo after a settled save goes back to what others had saved`(value: String) throws {
        try ours.performAndWait {
            ours.mergePolicy = .mergeByPropertyObjectTrump
            let plan = Plan(context: ours)
            plan.title = "base"
            try ours.save()
            ours.undoManager?.removeAllActions()
            plan.title = "both"
            try change(plan) { $0.title = value }
            try ours.save()

            ours.undo()

            #expect(plan.title == value)
        }
    }

    @Test func `undo after a save that has brought an object back takes back what it changed`()
        throws
    {
        try ours.performAndWait {
            ours.mergePolicy = .overwrite
            let plan = Plan(context: ours)
            plan.title = "base"
            try ours.save()
            ours.undoManager?.removeAllActions()
            plan.title = "ours"
            try change(plan) { theirs.delete($0) }
            try ours.save()
            #expect(plan.title == "ours")

            ours.undo()

            #expect(plan.title == "base")
        }
    }

    @Test func `a delete after edits there and back comes back as others have left it`() throws {
        try ours.performAndWait {
            let (plan, person) = (Plan(context: ours), Person(context: ours))
            person.first = "base"
            person.plans = [plan]
            try ours.save()
            (person.first, person.plans) = ("x", [])
            ours.processPendingChanges()
            (person.first, person.plans) = ("base", [plan])
            ours.processPendingChanges()
            ours.delete(person)
            ours.processPendingChanges()
            try change(person) { ($0.first, $0.plans) = ("theirs", []) }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(person.first == "theirs")
            #expect(person.plans == [])
            #expect(try ours.save() == nil)
        }
    }

    @Test func `a delete after an undo comes back with what was pending`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            plan.title = "base"
            try ours.save()
            plan.title = "saved"
            try ours.save()
            ours.undo()
            ours.delete(plan)
            ours.processPendingChanges()
            try change(plan) { $0.title = "theirs" }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.title == "base")
        }
    }

    @Test func `an undone nested group does not keep theirs from the open one`() throws {
        try ours.performAndWait {
            let manager = try #require(ours.undoManager)
            let plan = Plan(context: ours)
            plan.title = "base"
            try ours.save()
            manager.beginUndoGrouping()
            plan.title = "ours"
            manager.beginUndoGrouping()
            plan.title = "nested"
            manager.endUndoGrouping()
            manager.undoNestedGroup()
            try change(plan) { $0.title = "theirs" }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.title == "theirs")
            #expect(try ours.save() == nil)
        }
    }

    @Test func `a deleted badge comes back with the reference that no action leaves`() throws {
        try ours.performAndWait {
            let (team, badge) = (Team(context: ours), Badge(context: ours))
            badge.team = team
            try ours.save()
            ours.delete(badge)
            ours.processPendingChanges()
            try change(team) { theirs.delete($0) }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(!badge.hasChanges)
            #expect(try ours.save() == nil)
            try theirs.performAndWait {
                theirs.undo()
                try theirs.save()
            }
            _ = try ours.mergeChanges()
            #expect(badge.team?.objectID == team.objectID)
        }
    }

    @Test func `an edit may follow a primitive value of a new object`() throws {
        try ours.performAndWait {
            let person = Person(context: ours)
            ours.processPendingChanges()
            person.setPrimitiveValue(.string("primitive"), forKey: "first")
            person.first = "edited"
            ours.processPendingChanges()
            try ours.save()
            #expect(person.first == "edited")
        }
    }
}
