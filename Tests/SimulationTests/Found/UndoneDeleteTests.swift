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
}
