import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Testing

/// What children that follow their parent see of what their siblings make of it: laws that random runs
/// have found broken, in their shortest form.
@Suite struct FollowingChildTests {
    private let office: OfficeStore
    private let parent: ManagedObjectContext
    private let child: ManagedObjectContext
    private let sibling: ManagedObjectContext

    init() throws {
        office = try OfficeStore()
        parent = office.container.newBackgroundContext()
        child = ManagedObjectContext(parent: parent)
        sibling = ManagedObjectContext(parent: parent)
        for context in [parent, child, sibling] { context.retainsRegisteredObjects = true }
        child.automaticallyMergesChangesFromParent = true
    }

    @Test func `a member that was taken out here stays in when others delete and bring it back`()
        throws
    {
        let (person, plan) = try parent.performAndWait {
            let person = Person(context: parent)
            try parent.save()
            let plan = Plan(context: parent)
            plan.members = [person]
            parent.processPendingChanges()
            return (person, plan)
        }
        sibling.mergePolicy = .overwrite
        try sibling.performAndWait {
            sibling.delete(try twin(plan, in: sibling))
            sibling.delete(try twin(person, in: sibling))
            sibling.processPendingChanges()
        }
        let ours = try child.performAndWait {
            let ours = try twin(person, in: child)
            ours.plans = []
            child.processPendingChanges()
            return ours
        }
        parent.performAndWait {
            parent.delete(person)
            parent.processPendingChanges()
        }
        try sibling.performAndWait {
            try sibling.save()
            // The child takes it in.
            child.performAndWait { #expect(!ours.hasChanges) }
            sibling.undo()
            try sibling.save()
        }
        child.performAndWait {
            #expect(ours.plans.map(\.objectID) == [plan.objectID])
            #expect(!ours.hasChanges)
        }
    }

    @Test func `undo of a delete brings back the list as others have made it meanwhile`() throws {
        let (plan, step, other) = parent.performAndWait {
            let (plan, step, other) = (
                Plan(context: parent), Step(context: parent), Step(context: parent)
            )
            parent.processPendingChanges()
            return (plan, step, other)
        }
        let ours = try child.performAndWait {
            let ours = try twin(plan, in: child)
            child.delete(ours)
            child.processPendingChanges()
            return ours
        }
        try sibling.performAndWait {
            try twin(plan, in: sibling).steps = [try twin(step, in: sibling)]
            try sibling.save()
        }
        try child.performAndWait {
            try twin(step, in: child).title = "ours"
            child.processPendingChanges()
            child.undo()
        }
        parent.performAndWait {
            other.plan = plan
            parent.processPendingChanges()
        }
        try child.performAndWait {
            child.undo()
            #expect(!ours.hasChanges)
            #expect(ours.steps.count == 2)
            try twin(other, in: child).plan = nil
            child.processPendingChanges()
            _ = try child.mergeChanges()
            #expect(ours.steps.map(\.objectID) == [step.objectID])
        }
    }

    @Test func `a member that a child moves twice leaves no trace in the list it was in`() throws {
        let (after, before, step) = parent.performAndWait {
            let made = (Plan(context: parent), Plan(context: parent), Step(context: parent))
            parent.processPendingChanges()
            return made
        }
        let grandchild = ManagedObjectContext(parent: sibling)
        let ours = try sibling.performAndWait {
            let plan = try twin(before, in: sibling)
            try twin(step, in: sibling).plan = plan
            sibling.processPendingChanges()
            return plan
        }
        try grandchild.performAndWait {
            try twin(step, in: grandchild).plan = try twin(after, in: grandchild)
            try grandchild.save()
        }
        sibling.performAndWait {
            #expect(ours.steps.isEmpty)
            #expect(ours.changedValues().isEmpty)
        }
        parent.performAndWait {
            before.steps = [step]
            parent.processPendingChanges()
        }
        try sibling.performAndWait {
            _ = try sibling.mergeChanges()
            #expect(ours.steps.map(\.objectID) == [step.objectID])
        }
    }

    @Test func `a reference that a child moves twice leaves no trace where it was`() throws {
        let (after, before, room) = parent.performAndWait {
            let made = (Person(context: parent), Person(context: parent), Room(context: parent))
            parent.processPendingChanges()
            return made
        }
        let grandchild = ManagedObjectContext(parent: sibling)
        let ours = try sibling.performAndWait {
            try twin(before, in: sibling).room = try twin(room, in: sibling)
            sibling.processPendingChanges()
            return try twin(room, in: sibling)
        }
        try grandchild.performAndWait {
            try twin(after, in: grandchild).room = try twin(room, in: grandchild)
            try grandchild.save()
            try twin(after, in: grandchild).room = nil
            try grandchild.save()
        }
        parent.performAndWait {
            before.room = room
            parent.processPendingChanges()
        }
        try sibling.performAndWait {
            _ = try sibling.mergeChanges()
            #expect(ours.occupant?.objectID == before.objectID)
        }
    }

    @Test func `a child's delete takes its object out of a list that is shown as it was`() throws {
        let (plan, step) = try parent.performAndWait {
            let (plan, step) = (Plan(context: parent), Step(context: parent))
            plan.steps = [step]
            try parent.save()
            return (plan, step)
        }
        let (shown, shownStep) = try sibling.performAndWait {
            let shown = try twin(plan, in: sibling)
            #expect(shown.steps.count == 1)
            return (shown, try twin(step, in: sibling))
        }
        let grandchild = ManagedObjectContext(parent: sibling)
        try grandchild.performAndWait {
            grandchild.mergePolicy = .mergeByPropertyObjectTrump
            grandchild.delete(try twin(step, in: grandchild))
            grandchild.processPendingChanges()
        }
        parent.performAndWait {
            parent.delete(step)
            parent.processPendingChanges()
        }
        _ = try grandchild.performAndWait { try grandchild.save() }
        sibling.performAndWait {
            #expect(shownStep.isDeleted)
            #expect(shown.steps.isEmpty)
        }
    }
}
