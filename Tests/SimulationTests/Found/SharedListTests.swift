import DaybookObjectGraph
import DaybookObjectModel
import Foundation
import Testing

/// Laws of relationships that two contexts change, which random runs have found broken, in their
/// shortest form.
@Suite struct SharedListTests {
    private let office: OfficeStore
    private let ours: ManagedObjectContext
    private let theirs: ManagedObjectContext

    init() throws {
        office = try OfficeStore()
        ours = office.container.newBackgroundContext()
        theirs = office.container.newBackgroundContext()
        for context in [ours, theirs] { context.retainsRegisteredObjects = true }
    }

    @Test func `a step that is put where others have put it stays where it is`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            let step = Step(context: ours)
            try ours.save()
            #expect(step.plan == nil)
            ours.refresh(plan, mergeChanges: false)
            try theirs.performAndWait {
                try twin(plan, in: theirs).steps = [try twin(step, in: theirs)]
                try theirs.save()
            }

            step.plan = plan

            #expect(try ours.save() == nil)
            #expect(plan.steps == [step])
        }
    }

    @Test func `a list is read again after a save of which others had saved all`() throws {
        try ours.performAndWait {
            let (person, plan, other) = (
                Person(context: ours), Plan(context: ours), Plan(context: ours)
            )
            plan.members = [person]
            try ours.save()
            #expect(person.plans == [plan])
            try theirs.performAndWait {
                try twin(other, in: theirs).members = [try twin(person, in: theirs)]
                theirs.delete(try twin(plan, in: theirs))
                try theirs.save()
            }

            ours.delete(plan)

            #expect(try ours.save() == nil)
            #expect(person.plans == [other])
        }
    }

    @Test func `a plan brought back on both sides holds here what it holds here`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            let step = Step(context: ours)
            try ours.save()
            try theirs.performAndWait {
                theirs.mergePolicy = .mergeByPropertyObjectTrump
                try twin(step, in: theirs).plan = try twin(plan, in: theirs)
            }
            ours.delete(plan)
            try ours.save()
            ours.undo()
            _ = try theirs.performAndWait { try theirs.save() }
            _ = try ours.mergeChanges()

            #expect(plan.steps == [])
            #expect(step.plan == nil)
        }
    }

    @Test func `a step that others have taken out does not come back by being moved`() throws {
        try ours.performAndWait {
            let (plan, other) = (Plan(context: ours), Plan(context: ours))
            let steps = [Step(context: ours), Step(context: ours), Step(context: ours)]
            plan.steps = steps
            try ours.save()
            plan.steps = [steps[1], steps[2], steps[0]]
            try theirs.performAndWait {
                try twin(steps[0], in: theirs).plan = try twin(other, in: theirs)
                try theirs.save()
            }

            _ = try ours.mergeChanges()

            #expect(plan.steps == [steps[1], steps[2]])
            #expect(other.steps == [steps[0]])
            #expect(steps[0].plan === other)
            #expect(try ours.save() == nil)
        }
    }

    @Test func `a saved move of a step that others have taken out leaves it with them`() throws {
        try ours.performAndWait {
            let (plan, other) = (Plan(context: ours), Plan(context: ours))
            let steps = [Step(context: ours), Step(context: ours), Step(context: ours)]
            plan.steps = steps
            try ours.save()
            plan.steps = [steps[1], steps[2], steps[0]]
            try theirs.performAndWait {
                try twin(steps[0], in: theirs).plan = try twin(other, in: theirs)
                try theirs.save()
            }

            #expect(try ours.save() == nil)

            #expect(plan.steps == [steps[1], steps[2]])
            #expect(steps[0].plan === other)
        }
    }

    @Test func `what leaves a list of a fault is saved over what others have saved`() throws {
        try ours.performAndWait {
            let (plan, other) = (Plan(context: ours), Plan(context: ours))
            let step = Step(context: ours)
            plan.steps = [step]
            try ours.save()

            try theirs.performAndWait {
                try twin(step, in: theirs).plan = try twin(other, in: theirs)
                try theirs.save()
                #expect(try twin(plan, in: theirs).steps == [])
            }
        }
    }

    @Test func `undo of a move does not bring back what others have taken out`() throws {
        try ours.performAndWait {
            let (plan, other) = (Plan(context: ours), Plan(context: ours))
            let steps = [Step(context: ours), Step(context: ours), Step(context: ours)]
            plan.steps = steps
            try ours.save()
            plan.steps = [steps[1], steps[2], steps[0]]
            try ours.save()
            try theirs.performAndWait {
                try twin(steps[0], in: theirs).plan = try twin(other, in: theirs)
                try theirs.save()
            }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.steps == [steps[1], steps[2]])
            #expect(steps[0].plan === other)
        }
    }

    @Test func `a child's move in a fault does not bring back what was taken out`() throws {
        try ours.performAndWait {
            let (plan, other) = (Plan(context: ours), Plan(context: ours))
            let steps = [Step(context: ours), Step(context: ours), Step(context: ours)]
            plan.steps = steps
            try ours.save()
            let child = ManagedObjectContext(parent: ours)
            try child.performAndWait {
                let twins = try steps.map { try twin($0, in: child) }
                let copy = try #require(child.object(with: plan.objectID) as? Plan)
                copy.steps = [twins[1], twins[2], twins[0]]
                child.processPendingChanges()
                ours.performAndWait {
                    steps[0].plan = other
                    ours.processPendingChanges()
                }
                _ = try child.mergeChanges()
                #expect(copy.steps == [twins[1], twins[2]])
                try child.save()
                #expect(copy.steps == [twins[1], twins[2]])
            }
        }
    }

    @Test func `what a child's list led to and has gone from its parent is told of once`() throws {
        try ours.performAndWait {
            let step = Step(context: ours)
            let mailbox = SimulationMailbox()
            let listening = NotificationCenter.default.addObserver(
                forName: .managedObjectContextDidSave, object: ours, queue: nil
            ) { mailbox.lastSave = $0 }
            defer { NotificationCenter.default.removeObserver(listening) }
            try ours.save()
            let saved = try #require(mailbox.lastSave)
            let child = ManagedObjectContext(parent: ours)
            try child.performAndWait {
                let plan = Plan(context: child)
                plan.steps = [try twin(step, in: child)]
                ours.performAndWait { ours.undo() }

                let conflicts = try child.mergeChanges(fromContextDidSave: saved)

                #expect(conflicts.map(\.kind) == [.reference])
                #expect(plan.steps == [])
                #expect(try child.mergeChanges().isEmpty)
                #expect(plan.steps == [])
                #expect(try child.mergeChanges().isEmpty)
            }
        }
    }

    @Test func `a child that follows is told of what delete rules do to a sibling's save`() throws {
        try ours.performAndWait {
            let (plan, step) = (Plan(context: ours), Step(context: ours))
            ours.processPendingChanges()
            let (saver, follower) = (
                ManagedObjectContext(parent: ours), ManagedObjectContext(parent: ours)
            )
            let deleted = try saver.performAndWait {
                let deleted = try twin(step, in: saver)
                saver.delete(deleted)
                saver.processPendingChanges()
                return deleted.objectID
            }
            plan.steps = [step]
            ours.processPendingChanges()
            try follower.performAndWait {
                follower.automaticallyMergesChangesFromParent = true
                let plan = try twin(plan, in: follower)
                #expect(plan.steps.map(\.objectID) == [deleted])

                try saver.performAndWait { _ = try saver.save() }
            }
            let left = try follower.performAndWait {
                try twin(plan, in: follower).steps.map(\.objectID)
            }
            #expect(left.isEmpty)
        }
    }

    @Test func `a list saved through two parents reads what was saved below both`() throws {
        try ours.performAndWait {
            let (plan, first, second) = (
                Plan(context: ours), Step(context: ours), Step(context: ours)
            )
            ours.processPendingChanges()
            let middle = ManagedObjectContext(parent: ours)
            let top = ManagedObjectContext(parent: middle)
            try top.performAndWait {
                let (plan, second) = (try twin(plan, in: top), try twin(second, in: top))
                plan.steps = [second]
                top.processPendingChanges()
                let other = ManagedObjectContext(parent: ours)
                try other.performAndWait {
                    try twin(first, in: other).plan = try twin(plan, in: other)
                    try other.save()
                }

                try top.save()

                #expect(Set(plan.steps.map(\.objectID)) == [first.objectID, second.objectID])
            }
        }
    }

    @Test func `undo of a delete brings back the members that others have left`() throws {
        try ours.performAndWait {
            let plan = Plan(context: ours)
            let (taken, put) = (Step(context: ours), Step(context: ours))
            plan.steps = [taken]
            try ours.save()
            ours.delete(plan)
            // The steps go with it, but for those that others take out.
            ours.processPendingChanges()
            try theirs.performAndWait {
                try twin(plan, in: theirs).steps = [try twin(put, in: theirs)]
                try theirs.save()
            }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(plan.steps == [put])
            #expect(try ours.save() == nil)
        }
    }
}
