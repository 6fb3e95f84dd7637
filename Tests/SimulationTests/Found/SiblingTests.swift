import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import Testing

/// Laws that random runs have found broken, in their shortest form.
@Suite struct SiblingTests {
    private let office: OfficeStore
    private let ours: ManagedObjectContext
    private let theirs: ManagedObjectContext

    init() throws {
        office = try OfficeStore()
        ours = office.container.newBackgroundContext()
        theirs = office.container.newBackgroundContext()
        for context in [ours, theirs] { context.retainsRegisteredObjects = true }
    }

    private func make<Object: ManagedObject>(
        _ type: Object.Type, _ body: (Object) throws -> Void = { _ in }
    ) throws -> Object {
        let object = try #require(
            ours.insertNewObject(forEntityName: Object.entityName) as? Object)
        try body(object)
        try ours.save()
        return object
    }

    private func change<Object: ManagedObject>(
        _ object: Object, _ body: (Object, ManagedObjectContext) throws -> Void
    ) throws {
        let id = object.objectID
        try theirs.performAndWait {
            try body(try #require(try theirs.existingObject(with: id) as? Object), theirs)
            try theirs.save()
        }
    }

    private func twin<Object: ManagedObject>(_ object: Object) throws -> Object {
        try #require(try theirs.existingObject(with: object.objectID) as? Object)
    }

    @Test func `a membership that was undone here does not hide theirs`() throws {
        try ours.performAndWait {
            let team = try make(Team.self)
            let badge = try make(Badge.self)
            badge.team = team
            ours.processPendingChanges()
            ours.undo()
            try change(badge) { badge, _ in badge.team = try twin(team) }

            _ = try ours.mergeChanges()

            #expect(team.badges == [badge])
        }
    }

    @Test func `a derived list reads as it was set although it was read before theirs`() throws {
        try ours.performAndWait {
            let team = try make(Team.self)
            #expect(team.rooms.isEmpty)
            let room = try make(Room.self)
            ours.refresh(room, mergeChanges: false)
            try change(room) { room, _ in room.team = try twin(team) }

            team.rooms = [room]

            #expect(team.rooms == [room])
        }
    }

    @Test func `a merged edit of an object deleted here lets the delete stand`() throws {
        try ours.performAndWait {
            let room = try make(Room.self)
            ours.delete(room)
            try change(room) { room, _ in room.label = "theirs" }

            let conflicts = try ours.mergeChanges()
            try ours.save()

            #expect(conflicts.map(\.kind) == [.deletedByUs])
            #expect(try ours.count(FetchRequest<Room>()) == 0)
        }
    }

    @Test func `undo of a delete brings back their values, not older ones`() throws {
        try ours.performAndWait {
            let room = try make(Room.self)
            ours.delete(room)
            ours.processPendingChanges()
            try change(room) { room, _ in room.label = "theirs" }
            _ = try ours.mergeChanges()

            ours.undo()

            #expect(room.label == "theirs")
            #expect(try ours.save() == nil)
        }
    }

    @Test func `a step can be undone after a save took in what others had made`() throws {
        try ours.performAndWait {
            let person = try make(Person.self)
            person.first = "ours"
            ours.processPendingChanges()
            try change(person) { person, _ in person.first = "theirs" }
            ours.mergePolicy = .mergeByPropertyStoreTrump
            try ours.save()
            #expect(person.first == "theirs")
            person.last = "last"
            ours.processPendingChanges()

            ours.undo()
            ours.undo()
            ours.redo()
            try ours.save()

            #expect(person.last == "" || person.isDeleted)
            let fresh = office.container.newBackgroundContext()
            try fresh.performAndWait {
                let people = try fresh.fetch(FetchRequest<Person>())
                #expect(people.map(\.first) == (person.isDeleted ? [] : [person.first]))
            }
        }
    }

    @Test func `a reference without inverse is empty once its target's delete is saved`() throws {
        try ours.performAndWait {
            let mentor = try make(Person.self)
            let person = try make(Person.self) { $0.mentor = mentor }
            ours.delete(mentor)
            try ours.save()

            _ = try ours.mergeChanges()

            #expect(person.mentor == nil)
            #expect(!ours.hasChanges)
        }
    }

    @Test func `a delete is in no conflict over a reference that others have turned elsewhere`()
        throws
    {
        try ours.performAndWait {
            let mentor = try make(Person.self)
            let other = try make(Person.self)
            let person = try make(Person.self) { $0.mentor = mentor }
            person.first = "Ada"
            ours.processPendingChanges()
            try change(person) { person, _ in person.mentor = try twin(other) }

            ours.delete(mentor)
            try ours.save()

            _ = try ours.mergeChanges()
            #expect(person.first == "Ada")
            #expect(person.mentor === other)
        }
    }

    @Test func `an object saved over entries not merged yet still takes in those entries`() throws {
        try ours.performAndWait {
            let plan = try make(Plan.self)
            let step = try make(Step.self)
            #expect(plan.steps.isEmpty)
            try change(plan) { plan, _ in
                plan.title = "theirs"
                plan.steps = [try twin(step)]
            }
            ours.delete(step)
            ours.mergePolicy = .mergeByPropertyObjectTrump
            try ours.save()

            _ = try ours.mergeChanges()

            #expect(plan.title == "theirs")
            #expect(plan.steps.isEmpty)
        }
    }

    @Test func `an object that was deleted and brought back by others keeps its edits here`() throws
    {
        try ours.performAndWait {
            let room = try make(Room.self)
            try theirs.performAndWait {
                theirs.delete(try twin(room))
                try theirs.save()
                theirs.undo()
                try theirs.save()
            }
            room.label = "ours"

            _ = try ours.mergeChanges()

            #expect(!room.isDeleted)
            #expect(room.label == "ours")
            #expect(ours.hasChanges)
        }
    }

    @Test func `an edit that agreed with theirs for a while is kept when they take theirs back`()
        throws
    {
        try ours.performAndWait {
            let room = try make(Room.self)
            room.label = "same"
            try theirs.performAndWait {
                try twin(room).label = "same"
                try theirs.save()
                try twin(room).label = ""
                try theirs.save()
            }

            _ = try ours.mergeChanges()
            try ours.save()

            #expect(room.label == "same")
        }
    }

    @Test func `undo of a saved delete leaves a record that others brought back alone`() throws {
        try ours.performAndWait {
            let id = try make(Room.self).objectID
            theirs.performAndWait {
                theirs.object(with: id)?.setStoredValue(.string("theirs"), forKey: "label")
            }
            ours.delete(try ours.existingObject(with: id))
            try ours.save()
            try theirs.performAndWait {
                theirs.mergePolicy = .mergeByPropertyObjectTrump
                try theirs.save()
            }
            let again = try ours.existingObject(with: id)

            ours.undo()

            #expect(ours.registeredObject(for: id) === again)
            #expect(again.storedValue(forKey: "label") == .string("theirs"))
        }
    }

    @Test func `merging a delete drops pending references to what was deleted`() throws {
        try ours.performAndWait {
            let team = try make(Team.self)
            let room = try make(Room.self)
            let person = try make(Person.self)
            person.first = "ours"
            person.mentor = try make(Person.self)
            try ours.save()
            team.rooms = [room]
            person.team = team
            person.last = "ours"
            try change(team) { team, theirs in theirs.delete(team) }

            let conflicts = try ours.mergeChanges()

            #expect(conflicts.map(\.kind) == [.reference, .reference])
            #expect(Set(conflicts.map(\.object)) == [room.objectID.object, person.objectID.object])
            #expect(!room.hasChanges)
            #expect(room.team == nil)
            #expect(person.last == "ours")
            #expect(try ours.save() != nil)
            ours.undo()
            ours.redo()
            #expect(room.team == nil)
            #expect(person.team == nil)
            try ours.save()
        }
    }

    @Test func `merging a delete drops pending memberships of what was deleted`() throws {
        try ours.performAndWait {
            let plan = try make(Plan.self)
            let kept = try make(Step.self)
            let step = try make(Step.self)
            let made = try make(Plan.self)
            made.steps = [step]
            plan.steps = [kept]
            plan.steps = [step, kept]
            let person = try make(Person.self)
            let late = Plan(context: ours)
            person.plans = [late, plan]
            try ours.save()
            person.plans = [late]
            ours.processPendingChanges()
            person.plans = [late, made]
            try change(made) { made, theirs in theirs.delete(made) }

            let conflicts = try ours.mergeChanges()

            #expect(conflicts.map(\.kind) == [.reference])
            #expect(person.plans == [late])
            #expect(try ours.save() != nil)
            ours.undo()
            #expect(person.plans == [late, plan])
            try ours.save()
        }
    }

    @Test func `an insert keeps what it has besides a reference to what others deleted`() throws {
        try ours.performAndWait {
            let team = try make(Team.self)
            let room = Room(context: ours)
            room.label = "ours"
            room.team = team
            try change(team) { team, theirs in theirs.delete(team) }

            let conflicts = try ours.mergeChanges()
            try ours.save()

            #expect(conflicts.map(\.kind) == [.reference])
            #expect(room.team == nil)
            #expect(room.label == "ours")
        }
    }

    @Test func `an object is clean once its other edits are undone after a merged delete`() throws {
        try ours.performAndWait {
            let team = try make(Team.self)
            let room = try make(Room.self)
            room.label = "ours"
            ours.processPendingChanges()
            room.team = team
            try change(team) { team, theirs in theirs.delete(team) }
            _ = try ours.mergeChanges()
            #expect(room.hasChanges)

            ours.undo()

            #expect(room.label == "")
            #expect(!room.hasChanges)
        }
    }

    @Test func `a refresh that drops edits leaves what was saved before to undo`() throws {
        try ours.performAndWait {
            let room = try make(Room.self)
            room.label = "saved"
            try ours.save()
            room.label = "dropped"
            ours.refresh(room, mergeChanges: false)

            ours.undo()

            #expect(room.label == "")
            #expect(ours.hasChanges)
        }
    }

    @Test func `a reference left dangling reads as none, and undo brings its object back`() throws {
        try ours.performAndWait {
            let team = try make(Team.self)
            let badge = try make(Badge.self) { $0.team = team }
            ours.delete(team)
            try ours.save()
            #expect(badge.team == nil)
            ours.refresh(badge, mergeChanges: false)
            let stranger = badge.team

            ours.undo()

            #expect(stranger !== team)
            #expect(ours.registeredObject(for: team.objectID) === team)
            #expect(badge.team === team)
        }
    }

    @Test func `rollback makes a list what it was, though others have made it something else`()
        throws
    {
        try ours.performAndWait {
            let (first, second) = (try make(Step.self), try make(Step.self))
            let plan = try make(Plan.self) { $0.steps = [first] }
            plan.steps = []
            second.title = "ours"
            try change(plan) { plan, _ in plan.steps = [try twin(second)] }
            ours.refresh(second, mergeChanges: true)
            #expect(plan.steps.isEmpty)

            ours.rollback()

            #expect(plan.steps == [first])
        }
    }

    @Test func `what others put into a list not read here goes out of it at the other end`() throws
    {
        try ours.performAndWait {
            let step = try make(Step.self)
            let plan = try make(Plan.self)
            ours.refresh(step, mergeChanges: false)
            ours.refresh(plan, mergeChanges: false)
            #expect(plan.title.isEmpty)
            try change(plan) { plan, _ in plan.steps = [try twin(step)] }

            step.plan = nil
            try ours.save()

            try theirs.performAndWait {
                _ = try theirs.mergeChanges()
                #expect(try twin(plan).steps.isEmpty)
                #expect(try twin(step).plan == nil)
            }
        }
    }

    @Test
    func `what others have emptied and is set anew here is in conflict, though it reads as none`()
        throws
    {
        try ours.performAndWait {
            let (old, new) = (try make(Team.self), try make(Team.self))
            let room = try make(Room.self)
            let person = try make(Person.self) { $0.team = old }
            try change(person) { person, theirs in
                person.room = try twin(room)
                theirs.delete(try twin(old))
            }
            ours.refresh(old, mergeChanges: false)
            #expect(old.name == nil)
            #expect(person.team == nil)

            person.team = new

            let refusal = #expect(throws: StoreError.self) { try ours.save() }
            #expect(refusal?.code == .conflict)
            ours.mergePolicy = .overwrite
            try ours.save()
            #expect(person.team === new)
            #expect(person.room == nil)
        }
    }
}
