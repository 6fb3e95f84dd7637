import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A store that has the department "Research" with Ada in it, and a context that makes another of
/// that name.
private struct Namesakes {
    let store: StaffStore
    let context: ManagedObjectContext
    let research: ManagedObjectID

    init(_ policy: MergePolicy) throws {
        let store = try StaffStore()
        research = try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            let ada = Employee(context: context)
            ada.firstName = "Ada"
            ada.department = research
            try context.save()
            return research.objectID
        }
        self.store = store
        context = store.context()
        context.mergePolicy = policy
    }

    /// The names of all departments, each with the first names of its employees.
    func departments() throws -> [String: [String]] {
        try store.inContext { context in
            let found = try context.fetch(FetchRequest<Department>()).map { department in
                (department.name, department.employees.map(\.firstName).sorted())
            }
            return Dictionary(found) { $0 + $1 + ["twice"] }
        }
    }
}

@Suite struct ConflictUniquenessTests {
    static let policies = MergePolicy.allCases.filter { $0 != .error }

    @Test func `F70 a taken value refuses the save and names the owner in the store`() throws {
        let namesakes = try Namesakes(.error)
        let context = namesakes.context
        try context.performAndWait { () throws in
            let twin = Department(context: context)
            twin.name = "Research"

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .duplicate)
            let conflict = try #require(error?.constraintConflicts.first)
            #expect(error?.constraintConflicts.count == 1)
            #expect(conflict.properties == ["name"])
            #expect(conflict.values == [.string("Research")])
            #expect(conflict.owner == namesakes.research.object)
            #expect(conflict.objects == [twin.objectID.object])
            #expect(error?.description.contains("Research") == false)
            #expect(twin.isInserted)
        }
        #expect(try namesakes.departments() == ["Research": ["Ada"]])
    }

    @Test func `F70 a clash inside the context has no owner and is reported once`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let departments = (0..<3).map { _ in Department(context: context) }
            for department in departments { department.name = "Research" }

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .duplicate)
            #expect(error?.constraintConflicts.count == 1)
            #expect(error?.constraintConflicts.first?.owner == nil)
            #expect(
                Set(error?.constraintConflicts.first?.objects ?? [])
                    == Set(departments.map(\.objectID.object)))
        }
    }

    @Test(arguments: policies)
    func `F70 a clash inside the context is refused under every policy`(
        policy: MergePolicy
    ) throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            context.mergePolicy = policy
            for _ in 0..<2 { Department(context: context).name = "Research" }

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .duplicate)
            #expect(context.insertedObjects.count == 2)
        }
    }

    @Test(arguments: policies)
    func `F70 P15 what refers to a new namesake refers to the stored object after the save`(
        policy: MergePolicy
    ) throws {
        let namesakes = try Namesakes(policy)
        let context = namesakes.context
        try context.performAndWait { () throws in
            let twin = Department(context: context)
            twin.name = "Research"
            let grace = Employee(context: context)
            grace.firstName = "Grace"
            grace.department = twin
            let plan = Project(context: context)
            plan.sponsor = twin

            try context.save()

            let research = try #require(
                try context.existingObject(with: namesakes.research) as? Department)
            #expect(grace.department === research)
            #expect(plan.sponsor === research)
            #expect(research.employees.map(\.firstName).sorted() == ["Ada", "Grace"])
            #expect(twin.managedObjectContext == nil)
            #expect(!context.hasChanges)
            #expect(try context.count(FetchRequest<Department>()) == 1)
        }
        #expect(try namesakes.departments() == ["Research": ["Ada", "Grace"]])
    }

    @Test(arguments: policies)
    func `P15 a stored object that the context has read takes in the new namesake`(
        policy: MergePolicy
    ) throws {
        let namesakes = try Namesakes(policy)
        let context = namesakes.context
        try context.performAndWait { () throws in
            let research = try #require(
                try context.existingObject(with: namesakes.research) as? Department)
            #expect(research.employees.count == 1)
            let ada = try #require(research.employees.first)
            let twin = Department(context: context)
            twin.name = "Research"
            ada.department = twin
            #expect(research.employees.isEmpty)

            try context.save()

            #expect(ada.department === research)
            #expect(research.employees == [ada])
        }
        #expect(try namesakes.departments() == ["Research": ["Ada"]])
    }

    @Test
    func
        `F70 under store trump the stored object keeps its values, under object trump it takes ours`()
        throws
    {
        for (policy, expected) in [
            (MergePolicy.mergeByPropertyStoreTrump, "stored"), (.rollback, "stored"),
            (.mergeByPropertyObjectTrump, "new"), (.overwrite, "new"),
        ] {
            let badges = try BadgeStore()
            let id = try badges.save { context in Badge(context, "A", note: "stored") }
            _ = try badges.save(policy) { context in Badge(context, "A", note: "new") }

            let found = try badges.all()

            #expect(found.map(\.note) == [expected], "\(policy)")
            #expect(found.map(\.id) == [id], "\(policy)")
        }
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, "B changed"), (.rollback, "B"),
    ])
    func `F70 an edit to a taken value is left out where the store wins`(
        policy: MergePolicy, note: String
    ) throws {
        let badges = try BadgeStore()
        _ = try badges.save { context in Badge(context, "A", note: "A") }
        let id = try badges.save { context in Badge(context, "B", note: "B") }
        let context = badges.container.newBackgroundContext()
        context.mergePolicy = policy
        try context.performAndWait { () throws in
            let badge = try #require(try context.existingObject(with: id) as? Badge)
            badge.code = "A"
            badge.note = "B changed"

            try context.save()

            #expect(badge.code == "B")
            #expect(badge.note == note)
            #expect(!context.hasChanges)
        }
        #expect(try badges.all().map(\.code).sorted() == ["A", "B"])
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `F70 an edit to a taken value is refused where nobody can yield`(
        policy: MergePolicy
    ) throws {
        let badges = try BadgeStore()
        _ = try badges.save { context in Badge(context, "A", note: "A") }
        let id = try badges.save { context in Badge(context, "B", note: "B") }
        let context = badges.container.newBackgroundContext()
        context.mergePolicy = policy
        try context.performAndWait { () throws in
            let badge = try #require(try context.existingObject(with: id) as? Badge)
            badge.code = "A"

            let error = #expect(throws: StoreError.self) { try context.save() }

            #expect(error?.code == .duplicate)
            #expect(badge.isUpdated)
        }
    }

    @Test(arguments: policies)
    func `P15 members and references of a new namesake go to the stored object`(
        policy: MergePolicy
    ) throws {
        let badges = try BadgeStore()
        let id = try badges.save { context in Badge(context, "A", note: "A") }
        let context = badges.container.newBackgroundContext()
        context.mergePolicy = policy
        try context.performAndWait { () throws in
            let badge = Badge(context, "A", note: "new")
            let door = Door(context: context)
            let reader = Door(context: context)
            badge.doors = [door]
            badge.home = reader

            try context.save()

            let stored = try #require(try context.existingObject(with: id) as? Badge)
            let isDropped = policy == .rollback
            #expect(stored.doors == (isDropped ? [] : [door]))
            #expect(stored.home === (isDropped ? nil : reader))
        }
    }

    @Test(arguments: policies)
    func `F70 undo after a save that made two objects one brings neither back`(
        policy: MergePolicy
    ) throws {
        let namesakes = try Namesakes(policy)
        let context = namesakes.context
        try context.performAndWait { () throws in
            let grace = Employee(context: context)
            grace.firstName = "Grace"
            try context.save()
            let twin = Department(context: context)
            twin.name = "Research"
            grace.department = twin
            try context.save()

            context.undo()
            try context.save()
            context.redo()
            try context.save()

            #expect(try context.count(FetchRequest<Department>()) == 1)
            #expect(grace.department == nil || grace.department?.name == "Research")
        }
        #expect(try namesakes.departments().keys.sorted() == ["Research"])
    }
}

// MARK: - Badges

private final class Badge: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute var note: String = ""
    @Relationship var doors: Set<Door>
    @Relationship(inverse: \Door.residents) var home: Door?

    convenience init(_ context: ManagedObjectContext, _ code: String, note: String) {
        self.init(context: context)
        self.code = code
        self.note = note
    }
}

private final class Door: ManagedObject {
    @Attribute var label: String = ""
    @Relationship var residents: Set<Badge>
}

private final class BadgeStore {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("badges.daybook"), model: [Badge.self, Door.self])
    }

    func save(
        _ policy: MergePolicy = .error, _ make: (ManagedObjectContext) -> Badge
    ) throws -> ManagedObjectID {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy
        return try context.performAndWait { () throws in
            let badge = make(context)
            let id = badge.objectID
            try context.save()
            return id
        }
    }

    struct Record {
        let id: ManagedObjectID
        let code: String
        let note: String
    }

    func all() throws -> [Record] {
        let context = container.newBackgroundContext()
        return try context.performAndWait { () throws in
            try context.fetch(FetchRequest<Badge>())
                .map { Record(id: $0.objectID, code: $0.code, note: $0.note) }
        }
    }
}
