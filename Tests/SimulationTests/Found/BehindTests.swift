import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Testing

/// What a child's save comes to in a parent that is behind: laws that random runs have found open, in
/// their shortest form.
@Suite struct BehindTests {
    private let office: OfficeStore
    private let root: ManagedObjectContext
    private let parent: ManagedObjectContext
    private let child: ManagedObjectContext

    init() throws {
        office = try OfficeStore()
        root = office.container.newBackgroundContext()
        parent = ManagedObjectContext(parent: root)
        child = ManagedObjectContext(parent: parent)
        for context in [root, parent, child] { context.retainsRegisteredObjects = true }
    }

    private func read<Object: ManagedObject>(
        _ id: ManagedObjectID, as type: Object.Type, in context: ManagedObjectContext
    ) throws -> Object {
        try #require(try context.existingObject(with: id) as? Object)
    }

    /// Two people and a room that nobody has.
    private func savePeopleAndRoom() throws -> (people: [ManagedObjectID], room: ManagedObjectID) {
        try root.performAndWait {
            let people = [Person(context: root), Person(context: root)]
            let room = Room(context: root)
            try root.save()
            return (people.map(\.objectID), room.objectID)
        }
    }

    /// Root, under a parent that still shows the old holder, gives the room to somebody else.
    private func giveAwayUnderStaleParent() throws -> (
        holder: ManagedObjectID, taker: ManagedObjectID, room: ManagedObjectID
    ) {
        let (ids, room) = try savePeopleAndRoom()
        try parent.performAndWait {
            let holder = try read(ids[0], as: Person.self, in: parent)
            #expect(holder.room == nil)
        }
        try root.performAndWait {
            let holder = try read(ids[0], as: Person.self, in: root)
            holder.room = try read(room, as: Room.self, in: root)
            root.processPendingChanges()
        }
        return (ids[0], ids[1], room)
    }

    @Test func `a child meets what was given away under a parent that is behind`()
        throws
    {
        let ids = try giveAwayUnderStaleParent()
        try child.performAndWait {
            let taker = try read(ids.taker, as: Person.self, in: child)
            taker.room = try read(ids.room, as: Room.self, in: child)
            let error = #expect(throws: StoreError.self) { try child.save() }
            #expect(error?.code == .conflict)
            #expect(error?.conflicts.map(\.kind) == [.reference])
            #expect(error?.conflicts.map(\.propertyName) == ["room"])
            #expect(error?.conflicts.map(\.object) == [ids.taker.object])
        }
    }

    @Test func `a winning child takes what was given away under its parent`() throws {
        let ids = try giveAwayUnderStaleParent()
        try child.performAndWait {
            child.mergePolicy = .mergeByPropertyObjectTrump
            let taker = try read(ids.taker, as: Person.self, in: child)
            taker.room = try read(ids.room, as: Room.self, in: child)
            try child.save()
        }
        try parent.performAndWait {
            // What is under the parent has been given away there, so its own policy is asked as well.
            parent.mergePolicy = .mergeByPropertyObjectTrump
            try parent.save()
        }
        _ = try root.performAndWait { try root.save() }
        let new = office.container.newBackgroundContext()
        try new.performAndWait {
            let room = try read(ids.room, as: Room.self, in: new)
            #expect(room.occupant?.objectID == ids.taker)
            #expect(try read(ids.holder, as: Person.self, in: new).room == nil)
        }
    }

    @Test func `a delete lets go who has come to hold the object under its parent`() throws {
        let (planID, stepID, otherID) = try root.performAndWait {
            let plan = Plan(context: root)
            let steps = [Step(context: root), Step(context: root)]
            try root.save()
            return (plan.objectID, steps[0].objectID, steps[1].objectID)
        }
        try parent.performAndWait {
            let step = try read(stepID, as: Step.self, in: parent)
            #expect(step.plan == nil)
        }
        try root.performAndWait {
            let step = try read(stepID, as: Step.self, in: root)
            step.plan = try read(planID, as: Plan.self, in: root)
            root.processPendingChanges()
        }
        try child.performAndWait {
            let other = try read(otherID, as: Step.self, in: child)
            other.plan = try read(planID, as: Plan.self, in: child)
            child.delete(try read(stepID, as: Step.self, in: child))
            try child.save()
        }
        try parent.performAndWait {
            let plan = try read(planID, as: Plan.self, in: parent)
            let steps = plan.objectIDs(forRelationshipNamed: "steps")
            #expect(steps == [otherID])
        }
    }

    @Test func `children that follow are told of edits that came to nothing`() throws {
        let (personID, mentorID) = try root.performAndWait {
            let people = [Person(context: root), Person(context: root)]
            try root.save()
            return (people[0].objectID, people[1].objectID)
        }
        let follower = ManagedObjectContext(parent: root)
        try follower.performAndWait {
            follower.automaticallyMergesChangesFromParent = true
            let person = try read(personID, as: Person.self, in: follower)
            person.mentor = try read(mentorID, as: Person.self, in: follower)
            person.first = "Ada"
            try follower.save()
            #expect(person.mentor?.objectID == mentorID)
        }
        try root.performAndWait {
            let person = try read(personID, as: Person.self, in: root)
            person.first = ""
            // The save empties the reference, and of the person nothing is left to be saved.
            root.delete(try read(mentorID, as: Person.self, in: root))
            try root.save()
        }
        try follower.performAndWait {
            let person = try read(personID, as: Person.self, in: follower)
            #expect(person.objectIDs(forRelationshipNamed: "mentor").isEmpty)
            #expect(person.first == "")
            #expect(!follower.hasChanges)
        }
    }

    @Test func `a save reads again whom it made let go though their own edits came to nothing`()
        throws
    {
        let (ids, roomID) = try savePeopleAndRoom()
        try root.performAndWait {
            let holder = try read(ids[0], as: Person.self, in: root)
            holder.room = try read(roomID, as: Room.self, in: root)
            root.processPendingChanges()
            let room = try read(roomID, as: Room.self, in: root)
            room.occupant = try read(ids[1], as: Person.self, in: root)
            root.processPendingChanges()
            #expect(holder.room == nil)
        }
        let other = office.container.newBackgroundContext()
        try other.performAndWait {
            let holder = try read(ids[0], as: Person.self, in: other)
            holder.room = try read(roomID, as: Room.self, in: other)
            try other.save()
        }
        try root.performAndWait {
            root.refreshAllObjects()
            let holder = try read(ids[0], as: Person.self, in: root)
            #expect(holder.room?.objectID == roomID)
            root.mergePolicy = .mergeByPropertyObjectTrump
            try root.save()
            #expect(holder.room == nil)
            #expect(try read(ids[1], as: Person.self, in: root).room?.objectID == roomID)
        }
    }

    @Test func `a delete lets go who held the object when its parent last looked`() throws {
        let (planID, personID) = try root.performAndWait {
            let plan = Plan(context: root)
            let person = Person(context: root)
            plan.members = [person]
            try root.save()
            return (plan.objectID, person.objectID)
        }
        try parent.performAndWait {
            let plan = try read(planID, as: Plan.self, in: parent)
            let person = try read(personID, as: Person.self, in: parent)
            #expect(plan.members == [person])
            #expect(person.plans == [plan])
        }
        try root.performAndWait {
            let plan = try read(planID, as: Plan.self, in: root)
            plan.members = []
            root.processPendingChanges()
        }
        try child.performAndWait {
            child.delete(try read(planID, as: Plan.self, in: child))
            try child.save()
        }
        try parent.performAndWait {
            let person = try read(personID, as: Person.self, in: parent)
            #expect(person.objectIDs(forRelationshipNamed: "plans").isEmpty)
        }
    }

    @Test func `what was deleted here is in no list that others have put it into since`() throws {
        let (planID, personID) = try root.performAndWait {
            let plan = Plan(context: root)
            let person = Person(context: root)
            try root.save()
            return (plan.objectID, person.objectID)
        }
        let other = office.container.newBackgroundContext()
        try other.performAndWait {
            other.delete(try read(personID, as: Person.self, in: other))
            other.processPendingChanges()
        }
        try root.performAndWait {
            let plan = try read(planID, as: Plan.self, in: root)
            plan.members = [try read(personID, as: Person.self, in: root)]
            try root.save()
        }
        try other.performAndWait {
            let plan = try read(planID, as: Plan.self, in: other)
            #expect(plan.objectIDs(forRelationshipNamed: "members").isEmpty)
            // So deleting the plan makes nobody let go of it who is gone already.
            other.delete(plan)
            other.processPendingChanges()
            #expect(other.updatedObjects.isEmpty)
            other.undo()
            #expect(!plan.isDeleted)
            #expect(plan.objectIDs(forRelationshipNamed: "members").isEmpty)
        }
    }

    @Test func `undo leads to no object that was deleted here before others put it in the list`()
        throws
    {
        let ours = office.container.newBackgroundContext()
        let (planID, stepID) = try root.performAndWait {
            let plan = Plan(context: root)
            let step = Step(context: root)
            try root.save()
            return (plan.objectID, step.objectID)
        }
        try ours.performAndWait {
            ours.delete(try read(stepID, as: Step.self, in: ours))
            ours.processPendingChanges()
        }
        try root.performAndWait {
            try read(stepID, as: Step.self, in: root).plan = try read(
                planID, as: Plan.self, in: root)
            try root.save()
        }
        try ours.performAndWait {
            _ = try ours.mergeChanges()
            let plan = try read(planID, as: Plan.self, in: ours)
            ours.delete(plan)
            ours.processPendingChanges()
            ours.mergePolicy = .overwrite
            try ours.save()
            ours.undo()
            #expect(plan.steps.isEmpty)
            ours.undo()
            let step = try #require(
                try ours.existingObject(with: stepID) as? Step)
            #expect(step.plan == nil)
            #expect(plan.steps.isEmpty)
        }
    }

    @Test func `a cascade spares what its list still has and others have taken out`() throws {
        let (teamID, roomID) = try root.performAndWait {
            let team = Team(context: root)
            let room = Room(context: root)
            room.team = team
            try root.save()
            return (team.objectID, room.objectID)
        }
        let ours = office.container.newBackgroundContext()
        ours.retainsRegisteredObjects = true
        let team = try ours.performAndWait {
            let team = try read(teamID, as: Team.self, in: ours)
            #expect(team.rooms.count == 1)
            return team
        }
        try root.performAndWait {
            try read(roomID, as: Room.self, in: root).team = nil
            try root.save()
        }
        try ours.performAndWait {
            ours.refresh(try ours.existingObject(with: roomID), mergeChanges: false)
            #expect(try read(roomID, as: Room.self, in: ours).team == nil)
            ours.delete(team)
            try ours.save()
            #expect(try ours.count(FetchRequest<Room>()) == 1)
        }
    }

    @Test func `a cascade deletes what its list has, though nobody has looked at it`() throws {
        try root.performAndWait {
            let team = Team(context: root)
            let plan = Plan(context: root)
            for _ in 0..<3 {
                Room(context: root).team = team
                Step(context: root).plan = plan
            }
            try root.save()
        }
        let ours = office.container.newBackgroundContext()
        try ours.performAndWait {
            for team in try ours.fetch(FetchRequest<Team>()) { ours.delete(team) }
            for plan in try ours.fetch(FetchRequest<Plan>()) { ours.delete(plan) }
            try ours.save()
            #expect(try ours.count(FetchRequest<Room>()) == 0)
            #expect(try ours.count(FetchRequest<Step>()) == 0)
        }
    }

    @Test func `what shows in the parent that it holds what a child deletes lets it go`() throws {
        let (ids, room) = try savePeopleAndRoom()
        try child.performAndWait {
            let holder = try read(ids[0], as: Person.self, in: child)
            #expect(holder.room == nil)
        }
        try root.performAndWait {
            try read(ids[0], as: Person.self, in: root).room = try read(
                room, as: Room.self, in: root)
            root.processPendingChanges()
        }
        try parent.performAndWait {
            let holder = try read(ids[0], as: Person.self, in: parent)
            #expect(holder.room != nil)
        }
        // The parent still shows the first as its holder, and the child nobody.
        try root.performAndWait {
            try read(ids[1], as: Person.self, in: root).room = try read(
                room, as: Room.self, in: root)
            root.processPendingChanges()
        }

        try child.performAndWait {
            child.delete(try read(room, as: Room.self, in: child))
            child.mergePolicy = .overwrite
            try child.save()
        }

        try parent.performAndWait {
            for id in ids { #expect(try read(id, as: Person.self, in: parent).room == nil) }
            try parent.save()
        }
        try root.performAndWait {
            for id in ids { #expect(try read(id, as: Person.self, in: root).room == nil) }
            try root.save()
        }
    }
}
