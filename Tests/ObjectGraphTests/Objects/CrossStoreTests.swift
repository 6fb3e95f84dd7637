import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

@Suite struct CrossStoreTests {
    /// An employee in the first store and a department in the second one, both new.
    private static func pair(
        _ set: StoreSet, _ context: ManagedObjectContext
    ) throws -> (Employee, Department) {
        let ada = Employee(context: context)
        let research = Department(context: context)
        research.name = "Research"
        try context.assign(research, to: set.coordinator.persistentStores[1])
        return (ada, research)
    }

    @Test func `F5 relating objects of different stores is refused at every save`() throws {
        let set = try StoreSet("first", "second")

        try set.inContext { (context) throws in
            let (ada, research) = try Self.pair(set, context)
            ada.department = research
            #expect(ada.department == nil)
            #expect(research.employees.isEmpty)

            for _ in 1...2 {
                let error = #expect(throws: StoreError.self) { try context.save() }
                #expect(error?.code == .crossStoreRelationship)
                #expect(error?.message.contains("'department' of '\(ada.objectID)'") == true)
                #expect(
                    error?.message.contains("'\(research.objectID)' in 'second.daybook'") == true)
            }
            #expect(ada.isInserted && research.isInserted)
        }

        for store in set.coordinator.persistentStores {
            #expect(try store.head() == SequenceNumber(1))
        }
    }

    @Test func `F5 setting the relationship to something else resolves it`() throws {
        let set = try StoreSet("first", "second")

        try set.inContext { (context) throws in
            let (ada, research) = try Self.pair(set, context)
            ada.department = research
            let local = Department(context: context)
            ada.department = local
            try context.save()
            #expect(ada.department === local)

            ada.department = research
            #expect(context.hasChanges)
            #expect(ada.department === local)
            expect(.crossStoreRelationship) { try context.save() }
            ada.department = nil
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test func `F5 assigning both to one store and relating them again mends it`() throws {
        let set = try StoreSet("first", "second")
        let second = set.coordinator.persistentStores[1]

        try set.inContext { (context) throws in
            let (ada, research) = try Self.pair(set, context)
            ada.department = research
            try context.assign(ada, to: second)
            expect(.crossStoreRelationship) { try context.save() }
            ada.department = research
            try context.save()
            #expect(research.employees == [ada])
        }

        #expect(try StoreSet.lastNames(at: set.url("second")).count == 1)
    }

    @Test func `F5 to-many relationships are refused from either end`() throws {
        let set = try StoreSet("first", "second")

        try set.inContext { (context) throws in
            let (ada, research) = try Self.pair(set, context)
            let project = Project(context: context)
            try context.assign(project, to: set.coordinator.persistentStores[1])
            research.employees = [ada]
            project.members = [ada]
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.code == .crossStoreRelationship)
            #expect(error?.details.count == 2)
            #expect(research.employees.isEmpty && project.members.isEmpty)

            research.employees = []
            project.members = []
            try context.save()
        }
    }

    enum Remedy: CaseIterable { case rollback, reset, deletion, otherDeletion, refresh }

    @Test(arguments: Remedy.allCases)
    func `F5 a refused relationship goes with its object or with the changes`(_ remedy: Remedy)
        throws
    {
        let set = try StoreSet("first", "second")
        let id = try set.hire("Byron", in: set.coordinator.persistentStores[0])[0]

        try set.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            let (_, research) = try Self.pair(set, context)
            ada.department = research
            expect(.crossStoreRelationship) { try context.save() }

            switch remedy {
            case .rollback: context.rollback()
            case .reset: context.reset()
            case .deletion: context.delete(ada)
            case .otherDeletion: context.delete(research)
            case .refresh: context.refresh(ada, mergeChanges: false)
            }

            try context.save()
            #expect(!context.hasChanges)
        }
    }

    @Test func `F5 a child refuses as well, and its parent gets nothing`() throws {
        let set = try StoreSet("first", "second")
        let root = set.context()
        let child = ManagedObjectContext(parent: root)

        try child.performAndWait { () throws in
            let (ada, research) = try Self.pair(set, child)
            ada.department = research
            expect(.crossStoreRelationship) { try child.save() }
        }

        root.performAndWait { #expect(!root.hasChanges) }
    }

    @Test func `F86 what a child deletes in one store gives away nothing in another`() throws {
        let set = try StoreSet("first", "second")
        let stores = set.coordinator.persistentStores
        let ids = try stores.map { try set.hire("Byron", in: $0)[0] }
        try #require(ids[0].object == ids[1].object)
        let id = try set.inContext { (context) throws in
            let desk = Desk(context: context)
            try context.assign(desk, to: stores[1])
            try context.save()
            return desk.objectID
        }
        let root = set.context()
        let child = ManagedObjectContext(parent: root)
        func desk(in context: ManagedObjectContext) throws -> Desk {
            try #require(try context.existingObject(with: id) as? Desk)
        }

        try child.performAndWait { () throws in
            child.mergePolicy = .mergeByPropertyStoreTrump
            child.delete(try child.existingObject(with: ids[0]))
            let successor = Employee(context: child)
            try child.assign(successor, to: stores[1])
            successor.desk = try desk(in: child)
            try root.performAndWait { () throws in
                try desk(in: root).occupant = try root.existingObject(with: ids[1]) as? Employee
            }
            try child.save()
        }

        try root.performAndWait { () throws in
            #expect(try desk(in: root).occupant?.objectID == ids[1])
        }
    }
}
