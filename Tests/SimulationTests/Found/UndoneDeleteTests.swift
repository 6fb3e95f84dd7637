import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Testing

/// What an undo brings back that its context had deleted, beside what others have made of it: laws that random runs
/// have found broken, in their shortest form.
@Suite struct UndoneDeleteTests {
    private let office: OfficeStore
    private let ours: ManagedObjectContext
    private let theirs: ManagedObjectContext

    init() throws {
        office = try OfficeStore()
        ours = office.container.newBackgroundContext()
        theirs = office.container.newBackgroundContext()
        for context in [ours, theirs] { context.retainsRegisteredObjects = true }
    }

    private func read<Object: ManagedObject>(
        _ id: ManagedObjectID, as type: Object.Type, in context: ManagedObjectContext
    ) throws -> Object {
        try #require(try context.existingObject(with: id) as? Object)
    }

    @Test
    func `lists show again what others have kept of an object that is brought back and deleted`()
        throws
    {
        let (teamID, planID) = try theirs.performAndWait {
            let team = Team(context: theirs)
            let plan = Plan(context: theirs)
            plan.sponsor = team
            try theirs.save()
            return (team.objectID, plan.objectID)
        }
        try theirs.performAndWait {
            try read(planID, as: Plan.self, in: theirs).title = "kept"
            theirs.processPendingChanges()
        }
        try ours.performAndWait {
            ours.delete(try read(planID, as: Plan.self, in: ours))
            try ours.save()
            ours.undo()
        }
        try theirs.performAndWait {
            theirs.mergePolicy = .mergeByPropertyObjectTrump
            try theirs.save()
        }
        try ours.performAndWait {
            _ = try ours.mergeChanges()
            let team = try read(teamID, as: Team.self, in: ours)
            #expect(team.objectIDs(forRelationshipNamed: "plans") == [planID])

            // What the undo has brought back comes to nothing, and theirs is left.
            ours.delete(try read(planID, as: Plan.self, in: ours))
            ours.processPendingChanges()

            #expect(team.objectIDs(forRelationshipNamed: "plans") == [planID])
            #expect(try read(planID, as: Plan.self, in: ours).title == "kept")
        }
    }

    @Test func `an undo gives a member to one owner, where its context had shown it with two`()
        throws
    {
        let (ownID, otherID, stepID) = try theirs.performAndWait {
            let plans = [Plan(context: theirs), Plan(context: theirs)]
            let step = Step(context: theirs)
            try theirs.save()
            return (plans[0].objectID, plans[1].objectID, step.objectID)
        }
        try ours.performAndWait {
            let step = try read(stepID, as: Step.self, in: ours)
            #expect(step.plan == nil)
            try theirs.performAndWait {
                let other = try read(otherID, as: Plan.self, in: theirs)
                other.steps = [try read(stepID, as: Step.self, in: theirs)]
                try theirs.save()
            }
            let own = try read(ownID, as: Plan.self, in: ours)
            own.steps = [step]
            ours.processPendingChanges()
            // The list is read now, with what the others have put in, and the step goes with it.
            let other = try read(otherID, as: Plan.self, in: ours)
            #expect(other.objectIDs(forRelationshipNamed: "steps") == [stepID])
            ours.delete(other)
            try ours.save()

            ours.undo()

            #expect(own.objectIDs(forRelationshipNamed: "steps") == [stepID])
            let back = try read(otherID, as: Plan.self, in: ours)
            #expect(back.objectIDs(forRelationshipNamed: "steps").isEmpty)
            try ours.save()
            ours.redo()
            #expect(own.objectIDs(forRelationshipNamed: "steps").isEmpty)
            ours.undo()
            #expect(own.objectIDs(forRelationshipNamed: "steps") == [stepID])
        }
    }

    @Test
    func `a merge shows who has come to lead to an object that is back here and in the parent`()
        throws
    {
        let child = ManagedObjectContext(parent: ours)
        child.retainsRegisteredObjects = true
        let (planID, stepID) = try ours.performAndWait {
            let (plan, step) = (Plan(context: ours), Step(context: ours))
            try ours.save()
            return (plan.objectID, step.objectID)
        }
        let (plan, step) = try child.performAndWait {
            let plan = try read(planID, as: Plan.self, in: child)
            let step = try read(stepID, as: Step.self, in: child)
            child.delete(step)
            try child.save()
            child.undo()
            #expect(step.plan == nil)
            return (plan, step)
        }
        try ours.performAndWait {
            ours.undo()
            let plan = try read(planID, as: Plan.self, in: ours)
            plan.steps = [try read(stepID, as: Step.self, in: ours)]
            ours.processPendingChanges()
        }
        try child.performAndWait {
            _ = try child.mergeChanges()
            #expect(plan.steps == [step])
            #expect(step.plan == plan)
        }
    }
}
