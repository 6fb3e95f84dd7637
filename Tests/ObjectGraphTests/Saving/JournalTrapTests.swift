import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// The entries that a context leaves in the journal.
@Suite struct JournalTrapTests {
    private func journal(_ store: StaffStore) throws -> Store {
        try #require(store.container.persistentStoreCoordinator.persistentStores.first).store
    }

    @Test func `J1 changes that cancel out append nothing`() throws {
        let staff = try StaffStore()
        try staff.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            let project = Project(context: context)
            let first = try #require(try context.save())

            #expect(try context.save() == nil)
            ada.lastName = "Lovelace"
            context.processPendingChanges()
            ada.lastName = "Byron"
            #expect(context.hasChanges)
            #expect(try context.save() == nil)
            project.members = [ada]
            context.processPendingChanges()
            project.members = []
            #expect(try context.save() == nil)
            let ghost = Employee(context: context)
            ghost.department = Department(context: context)
            context.processPendingChanges()
            if let department = ghost.department { context.delete(department) }
            context.delete(ghost)
            #expect(try context.save() == nil)

            #expect(!context.hasChanges)
            #expect(try journal(staff).head() == first)
        }
    }

    @Test func `J2 an entry inserts first and deletes last, and cascades name their cause`() throws
    {
        let staff = try StaffStore()
        let store = try journal(staff)
        try staff.inContext { (context) throws in
            let old = Department(context: context)
            old.name = "Old"
            let desks = [Desk(context: context), Desk(context: context)]
            old.desks = Set(desks)
            let ada = Employee(context: context)
            ada.department = old
            ada.desk = desks[0]
            try context.save()
            let new = Department(context: context)
            new.name = "New"
            context.delete(old)
            context.processPendingChanges()
            ada.department = new

            let sequence = try #require(try context.save())

            let changes = try store.entry(sequence).changes
            let kinds = changes.map { change in
                switch change.kind {
                case .insert: "insert"
                case .update: "update"
                case .delete: "delete"
                }
            }
            #expect(kinds == ["insert", "update", "delete", "delete", "delete"])
            #expect(changes[0].object == new.objectID.object)
            #expect(changes[1].object == ada.objectID.object)
            let deleted = Dictionary(
                uniqueKeysWithValues: changes[2...].map { ($0.object, $0.cause) })
            #expect(deleted.count == 3)
            #expect(deleted[old.objectID.object] == .some(nil))
            for desk in desks {
                #expect(deleted[desk.objectID.object] == old.objectID.object)
            }
        }
    }

    @Test func `J2 undoing the entry of a delete restores the sub-graph and both sides`() throws {
        let staff = try StaffStore()
        let store = try #require(staff.container.persistentStoreCoordinator.persistentStores.first)
        let sequence = try staff.inContext { (context) throws in
            let department = Department(context: context)
            let desk = Desk(context: context)
            desk.department = department
            let ada = Employee(context: context)
            ada.department = department
            ada.desk = desk
            try context.save()
            context.delete(department)
            return try #require(try context.save())
        }

        try store.undo(sequence)

        try staff.inContext { (context) throws in
            let department = try #require(try context.fetch(FetchRequest<Department>()).first)
            let desk = try #require(try context.fetch(FetchRequest<Desk>()).first)
            let ada = try #require(try context.fetch(FetchRequest<Employee>()).first)
            #expect(department.desks == [desk])
            #expect(desk.department === department)
            #expect(department.employees == [ada])
            #expect(ada.department === department)
            #expect(desk.occupant === ada)
            #expect(ada.desk === desk)
        }
    }

    @Test func `J3 an update has the old and the new value of each property that changed`() throws {
        let staff = try StaffStore()
        let store = try journal(staff)
        try staff.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            try context.save()
            ada.lastName = "King"
            context.processPendingChanges()
            ada.lastName = "Lovelace"
            ada.salary = 10

            let sequence = try #require(try context.save())

            let changes = try store.entry(sequence).changes
            guard case .update(let edits, let members)? = changes.first?.kind else {
                Issue.record("The entry has no update.")
                return
            }
            #expect(changes.count == 1)
            #expect(members.isEmpty)
            let names = edits.map { store.schema.property($0.property)?.name }
            let values = Dictionary(
                uniqueKeysWithValues: zip(names, edits.map { [$0.old, $0.new] }))
            #expect(
                values == [
                    "lastName": [.string("Byron"), .string("Lovelace")],
                    "salary": [.null, .decimal(10)],
                ])
        }
    }

    @Test func `J3 members are added and removed one by one, and a move is both`() throws {
        let staff = try StaffStore()
        let store = try journal(staff)
        try staff.inContext { (context) throws in
            let project = Project(context: context)
            let people = (0..<3).map { _ in Employee(context: context) }
            project.members = [people[0], people[1]]
            let tasks = (0..<3).map { _ in Task(context: context) }
            project.tasks = tasks
            try context.save()

            project.members = [people[1], people[2]]
            let joined = try store.entry(try #require(try context.save()))
            project.tasks = [tasks[2], tasks[0], tasks[1]]
            let moved = try store.entry(try #require(try context.save()))

            // A many-to-many relationship is stored at one of its ends.
            var pairs: Set<[AnyHashable]> = []
            for change in joined.changes {
                for edit in change.members {
                    for member in edit.added {
                        pairs.insert(["+", Set([change.object, member.object])])
                    }
                    for member in edit.removed {
                        pairs.insert(["-", Set([change.object, member.object])])
                    }
                }
            }
            let projectID = project.objectID.object
            #expect(
                pairs == [
                    ["-", Set([projectID, people[0].objectID.object])],
                    ["+", Set([projectID, people[2].objectID.object])],
                ])
            let edits = moved.changes.flatMap(\.members)
            #expect(edits.count == 1)
            #expect(edits.first?.added.map(\.object) == [tasks[2].objectID.object])
            #expect(edits.first?.removed.map(\.object) == [tasks[2].objectID.object])
        }
    }

    @Test func `J3 a delete keeps all values`() throws {
        let staff = try StaffStore()
        let store = try journal(staff)
        try staff.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.firstName = "Ada"
            ada.salary = 10
            try context.save()
            context.delete(ada)

            let sequence = try #require(try context.save())

            guard case .delete(let values, _)? = try store.entry(sequence).changes.first?.kind
            else {
                Issue.record("The entry has no delete.")
                return
            }
            #expect(values.contains(.string("Ada")))
            #expect(values.contains(.decimal(10)))
        }
    }

    @Test func `J7 a context held to a generation keeps no reader of the store open`() throws {
        let folder = try TemporaryDirectory()
        var options = PersistentStoreOptions()
        options.durability = .relaxed
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("staff.daybook"), model: staff, options: options)
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first).store
        let writer = container.newBackgroundContext()
        writer.undoManager = nil
        let pinned = container.newBackgroundContext()
        try writer.performAndWait { () throws in
            let ada = Employee(context: writer)
            ada.lastName = "0"
            try writer.save()
            try pinned.performAndWait { () throws in
                try pinned.setQueryGeneration(from: .current)
                #expect(try pinned.count(FetchRequest<Employee>()) == 1)
            }
            let sizeBefore = try store.statistics().fileSize

            for number in 1...600 {
                ada.lastName = "\(number)"
                try writer.save()
            }

            // Each entry leaves about half a kilobyte. With a reader kept open no page would be
            // reused, and each entry would cost about ten pages.
            let growth = try store.statistics().fileSize - sizeBefore
            #expect(growth < 4 << 20, "\(growth) bytes")
        }
        try pinned.performAndWait { () throws in
            #expect(try pinned.fetch(FetchRequest<Employee>()).map(\.lastName) == ["0"])
        }
    }

    @Test func `J14 a batch is one entry with old and new values, and contexts merge it`() throws {
        let staff = try StaffStore()
        let store = try journal(staff)
        try staff.inContext { (context) throws in
            let people = (0..<3).map { _ in Employee(context: context) }
            try context.save()
            let name = try #require(
                store.schema.entity(named: "Employee")?.property(named: "lastName"))
            let changes = people.map {
                Change(
                    object: $0.objectID.object,
                    kind: .update(
                        edits: [
                            Edit(
                                property: name.number, old: .string(""), new: .string("Lovelace"))
                        ], members: []))
            }
            let header = EntryHeader(kind: .batch, base: try store.head())

            let result = try store.commit(SaveRequest(header: header, changes: changes))

            let entry = try store.entry(try #require(result.sequence))
            #expect(entry.header.kind == .batch)
            #expect(Set(entry.changes) == Set(changes))
            #expect(people.map(\.lastName) == ["", "", ""])
            _ = try context.mergeChanges()
            #expect(people.map(\.lastName) == ["Lovelace", "Lovelace", "Lovelace"])
            #expect(!context.hasChanges)
        }
    }
}
