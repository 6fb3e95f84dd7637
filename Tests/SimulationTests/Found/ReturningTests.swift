import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Testing

/// What becomes of objects that a context has found gone and that others have brought back: laws that
/// random runs have found broken, in their shortest form.
@Suite struct ReturningTests {
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

    /// A person with a room, saved.
    private func makeOccupant() throws -> (person: ManagedObjectID, room: ManagedObjectID) {
        try root.performAndWait {
            let person = Person(context: root)
            let room = Room(context: root)
            person.room = room
            try root.save()
            return (person.objectID, room.objectID)
        }
    }

    private func delete(_ id: ManagedObjectID, in context: ManagedObjectContext) throws {
        try context.performAndWait {
            context.delete(try context.existingObject(with: id))
            context.processPendingChanges()
        }
    }

    private func read<Object: ManagedObject>(
        _ id: ManagedObjectID, as type: Object.Type, in context: ManagedObjectContext
    ) throws -> Object {
        try #require(try context.existingObject(with: id) as? Object)
    }

    @Test func `F72 a save leads to what others have brought back`() throws {
        let ids = try makeOccupant()
        let ours = office.container.newBackgroundContext()
        try ours.performAndWait {
            let person = try read(ids.person, as: Person.self, in: ours)
            let room = try read(ids.room, as: Room.self, in: ours)
            try delete(ids.room, in: root)
            _ = try root.performAndWait { try root.save() }
            _ = try ours.mergeChanges()
            #expect(room.isDeleted)
            #expect(person.room == nil)
            try root.performAndWait {
                root.undo()
                try root.save()
            }

            person.first = "Ada"
            try ours.save()

            #expect(person.room === room)
            #expect(!room.isDeleted)
            #expect(room.occupant === person)
        }
    }

    @Test func `F86 a child's edit reaches an object that was gone in its parent for a while`()
        throws
    {
        let ids = try makeOccupant()
        let edited = try child.performAndWait {
            try read(ids.person, as: Person.self, in: child)
        }
        let found = try parent.performAndWait {
            try read(ids.person, as: Person.self, in: parent)
        }
        try delete(ids.person, in: root)
        _ = try parent.performAndWait { try parent.mergeChanges() }
        root.performAndWait { root.undo() }

        try child.performAndWait {
            edited.first = "Ada"
            try child.save()
        }

        parent.performAndWait {
            #expect(!found.isDeleted)
            #expect(found.first == "Ada")
            #expect(parent.updatedObjects == [found])
        }
    }

    @Test func `F86 a child's reference leads to what was gone in its parent for a while`() throws {
        let ids = try makeOccupant()
        let newcomer = try child.performAndWait {
            let newcomer = Badge(context: child)
            let team = Team(context: child)
            newcomer.team = team
            try child.save()
            return (badge: newcomer, team: team)
        }
        let id = child.performAndWait { newcomer.team.objectID }
        _ = try parent.performAndWait { try parent.save() }
        try delete(id, in: root)
        _ = try parent.performAndWait { try parent.mergeChanges() }
        root.performAndWait { root.undo() }

        try child.performAndWait {
            let person = try read(ids.person, as: Person.self, in: child)
            person.team = newcomer.team
            try child.save()
        }

        try parent.performAndWait {
            let person = try read(ids.person, as: Person.self, in: parent)
            #expect(person.team?.objectID == id)
        }
    }

    @Test func `S90 what no action leaves behind is a fault until its record is looked for`() throws
    {
        let id = try root.performAndWait {
            let badge = Badge(context: root)
            let team = Team(context: root)
            badge.team = team
            try root.save()
            root.delete(team)
            try root.save()
            return badge.objectID
        }
        let ours = office.container.newBackgroundContext()
        try ours.performAndWait {
            let badge = try read(id, as: Badge.self, in: ours)
            let team = try #require(badge.team)
            #expect(team.isFault)

            #expect(team.name == nil)

            #expect(team.isDeleted)
            #expect(badge.team == nil)
            #expect(!ours.hasChanges)
        }
    }

    @Test func `F86 a child gives on what an object held that the same save deletes`() throws {
        let ids = try makeOccupant()

        let successor = try child.performAndWait {
            let successor = Person(context: child)
            successor.room = try read(ids.room, as: Room.self, in: child)
            child.delete(try read(ids.person, as: Person.self, in: child))
            try child.save()
            return successor.objectID
        }

        try parent.performAndWait {
            let room = try read(ids.room, as: Room.self, in: parent)
            #expect(room.occupant?.objectID == successor)
        }
    }

    @Test
    func `F86 what leads to an object brought back here stays when the parent saves its delete`()
        throws
    {
        let follower = ManagedObjectContext(parent: root)
        let (ids, other) = (try makeOccupant(), try makeOccupant())
        let (person, pupil) = try follower.performAndWait {
            follower.automaticallyMergesChangesFromParent = true
            let person = try read(ids.person, as: Person.self, in: follower)
            let pupil = try read(other.person, as: Person.self, in: follower)
            try delete(ids.person, in: follower)
            try follower.save()
            follower.undo()
            pupil.mentor = person
            return (person, pupil)
        }

        _ = try root.performAndWait { try root.save() }

        try follower.performAndWait {
            #expect(person.isInserted)
            #expect(pupil.mentor === person)
            try follower.save()
        }
        try root.performAndWait {
            try root.save()
            let pupil = try read(other.person, as: Person.self, in: root)
            #expect(pupil.mentor?.objectID == ids.person)
        }
    }

    @Test func `F86 every save of a child that is behind reads what it saved again`() throws {
        let (ids, other) = (try makeOccupant(), try makeOccupant())
        let (person, sibling) = try child.performAndWait {
            (
                try read(ids.person, as: Person.self, in: child),
                try read(other.person, as: Person.self, in: child)
            )
        }
        try parent.performAndWait {
            try read(ids.person, as: Person.self, in: parent).last = "Lovelace"
            parent.processPendingChanges()
        }

        try child.performAndWait {
            sibling.first = "Grace"
            try child.save()
            person.first = "Ada"
            try child.save()

            #expect(person.last == "Lovelace")
        }
    }

    @Test func `F86 undo of all brings back what came, went and came again`() throws {
        let id = try root.performAndWait {
            let step = Step(context: root)
            try root.save()
            root.undoManager?.removeAllActions()
            return step.objectID
        }
        let nested = ManagedObjectContext(parent: root)
        try delete(id, in: nested)
        _ = try nested.performAndWait { try nested.save() }
        _ = try root.performAndWait { try root.save() }
        try nested.performAndWait {
            nested.undo()
            try nested.save()
        }
        try delete(id, in: root)
        try root.performAndWait {
            try root.save()
            root.undo()
            root.undo()
            root.undo()
            #expect(root.insertedObjects.map(\.objectID) == [id])
            _ = Plan(context: root)
            root.processPendingChanges()
            #expect(root.insertedObjects.map(\.objectID).contains(id))
            try root.save()
            let new = office.container.newBackgroundContext()
            #expect(try new.performAndWait { try new.count(FetchRequest<Step>()) } == 1)
        }
    }

    @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func `F86 a child's delete that loses gives away nothing`(_ policy: MergePolicy) throws {
        let ids = try makeOccupant()

        try child.performAndWait {
            child.mergePolicy = policy
            child.delete(try read(ids.person, as: Person.self, in: child))
            let successor = Person(context: child)
            successor.room = try read(ids.room, as: Room.self, in: child)
            try parent.performAndWait {
                try read(ids.person, as: Person.self, in: parent).first = "Ada"
            }
            #expect(try child.previewSave().conflicts.map(\.kind).contains(.reference))
            try child.save()
        }

        try parent.performAndWait {
            let room = try read(ids.room, as: Room.self, in: parent)
            #expect(room.occupant?.objectID == ids.person)
        }
    }

    @Test func `F86 a child's move that loses gives away nothing`() throws {
        let ids = try makeOccupant()

        try child.performAndWait {
            child.mergePolicy = .rollback
            try read(ids.person, as: Person.self, in: child).first = "Grace"
            let successor = Person(context: child)
            successor.room = try read(ids.room, as: Room.self, in: child)
            try parent.performAndWait {
                try read(ids.person, as: Person.self, in: parent).first = "Ada"
            }
            try child.save()
        }

        try parent.performAndWait {
            let room = try read(ids.room, as: Room.self, in: parent)
            #expect(room.occupant?.objectID == ids.person)
        }
    }

    @Test func `F72 a list read while its object was gone is read again when it is back`() throws {
        let ids = try root.performAndWait {
            let person = Person(context: root)
            let team = Team(context: root)
            person.team = team
            try root.save()
            return (person: person.objectID, team: team.objectID)
        }
        let ours = office.container.newBackgroundContext()
        try ours.performAndWait {
            let person = try read(ids.person, as: Person.self, in: ours)
            let team = try read(ids.team, as: Team.self, in: ours)
            try delete(ids.team, in: root)
            _ = try root.performAndWait { try root.save() }
            _ = try ours.mergeChanges()
            #expect(team.people.isEmpty)
            try root.performAndWait {
                root.undo()
                try root.save()
            }

            person.first = "Ada"
            try ours.save()

            #expect(person.team === team)
            #expect(team.people == [person])
        }
    }

    @Test func `F86 what cannot be looked for stays gone, and is looked for once`() throws {
        let ids = try root.performAndWait {
            let team = Team(context: root)
            let badges = [Badge(context: root), Badge(context: root)]
            for badge in badges { badge.team = team }
            try root.save()
            root.delete(team)
            try root.save()
            return badges.map(\.objectID)
        }
        var failures = 0
        try parent.performAndWait {
            parent.mergeFailureHandler = { _ in failures += 1 }
            let badges = try ids.map { try read($0, as: Badge.self, in: parent) }
            let team = try #require(badges[0].team)
            #expect(team.name == nil)
            for badge in badges { badge.label = "blue" }
            root.performAndWait {
                _ = Plan(context: root)
                root.processPendingChanges()
            }
            let stores = office.container.persistentStoreCoordinator.persistentStores
            for store in stores { try store.store.close() }

            try parent.save()

            #expect(team.isDeleted)
            #expect(failures == 1)
        }
    }

    /// A step whose saved delete a context has undone, while the root has a title pending for it.
    private func undoneDelete() throws -> (ours: ManagedObjectContext, id: ManagedObjectID) {
        let ours = office.container.newBackgroundContext()
        ours.retainsRegisteredObjects = true
        let id = try ours.performAndWait {
            let step = Step(context: ours)
            try ours.save()
            return step.objectID
        }
        try root.performAndWait {
            try read(id, as: Step.self, in: root).title = "kept"
            root.processPendingChanges()
        }
        try delete(id, in: ours)
        try ours.performAndWait {
            try ours.save()
            ours.undo()
        }
        return (ours, id)
    }

    @Test func `an object that is undone here altogether is seen where somebody else has kept it`()
        throws
    {
        let (ours, id) = try undoneDelete()
        ours.performAndWait {
            #expect(ours.insertedObjects.map(\.objectID) == [id])
            // This takes back the insert as well.
            ours.undo()
            #expect(!ours.hasChanges)
        }
        try root.performAndWait {
            root.mergePolicy = .mergeByPropertyObjectTrump
            try root.save()
        }
        try ours.performAndWait {
            _ = try ours.mergeChanges()
            let request = FetchRequest<Step>()
            #expect(try ours.fetch(request).map(\.title) == ["kept"])
            #expect(try ours.count(request) == 1)
            let step = try read(id, as: Step.self, in: ours)
            step.title = "ours"
            try ours.save()
            ours.undo()
            #expect(step.title == "kept")
        }
    }

    @Test func `undo of a delete brings back what was pending of an object that others kept, too`()
        throws
    {
        let (ours, id) = try undoneDelete()
        try ours.performAndWait {
            try read(id, as: Step.self, in: ours).title = "ours"
            ours.processPendingChanges()
        }
        try root.performAndWait {
            root.mergePolicy = .mergeByPropertyObjectTrump
            try root.save()
        }
        try delete(id, in: ours)
        try ours.performAndWait {
            #expect(!ours.hasChanges)

            ours.undo()

            #expect(ours.insertedObjects.map(\.objectID) == [id])
            #expect(try read(id, as: Step.self, in: ours).title == "ours")
            ours.mergePolicy = .mergeByPropertyObjectTrump
            try ours.save()
        }
        try root.performAndWait {
            _ = try root.mergeChanges()
            #expect(try read(id, as: Step.self, in: root).title == "ours")
        }
    }

    @Test func `F86 what came back belongs to the list that others have put it into`() throws {
        let (id, list) = try parent.performAndWait {
            let step = Step(context: parent)
            let plan = Plan(context: parent)
            plan.title = "plan"
            try parent.save()
            return (step.objectID, plan.objectID)
        }
        _ = try root.performAndWait { try root.save() }
        child.undoManager = UndoManager()
        try delete(id, in: child)
        _ = try child.performAndWait { try child.save() }
        _ = try parent.performAndWait { try parent.save() }
        let others = office.container.newBackgroundContext()
        try others.performAndWait {
            try read(id, as: Step.self, in: others).plan = try read(list, as: Plan.self, in: others)
            try others.save()
        }

        // The child takes the delete back, and the root forgets it.
        try child.performAndWait {
            child.undo()
            try child.save()
        }
        root.performAndWait { root.reset() }

        let again = ManagedObjectContext(parent: parent)
        try parent.performAndWait {
            _ = try parent.mergeChanges()
            let step = try read(id, as: Step.self, in: parent)
            #expect(parent.insertedObjects == [step])
            #expect(step.plan?.objectID == list)
            #expect(step.plan?.steps == [step])
        }
        try delete(id, in: again)
        _ = try again.performAndWait { try again.save() }
        try parent.performAndWait {
            let plan = try read(list, as: Plan.self, in: parent)
            #expect(plan.steps.isEmpty)
        }
    }
}
