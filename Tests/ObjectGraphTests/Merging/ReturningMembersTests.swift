import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// What an object has again that a child brings back, after its parent or others have deleted it.
@Suite struct ReturningMembersTests {
    private let store: StaffStore
    private let root: ManagedObjectContext
    private let child: ManagedObjectContext
    private let (engine, research): (ManagedObjectID, ManagedObjectID)
    private let (ada, bob): (ManagedObjectID, ManagedObjectID)

    init() throws {
        store = try StaffStore()
        root = store.context("root")
        child = ManagedObjectContext(parent: root)
        child.performAndWait { [child] in child.mergePolicy = .mergeByPropertyObjectTrump }
        (engine, research, ada, bob) = try root.performAndWait { [root] () throws in
            let engine = Project(context: root)
            let research = Department(context: root)
            let (ada, bob) = (Employee(context: root), Employee(context: root))
            engine.members = [ada, bob]
            engine.sponsor = research
            research.employees = [ada, bob]
            try root.save()
            return (engine.objectID, research.objectID, ada.objectID, bob.objectID)
        }
    }

    private func object<Object: ManagedObject>(
        _ id: ManagedObjectID, in context: ManagedObjectContext
    ) throws -> Object {
        try #require(try context.existingObject(with: id) as? Object)
    }

    /// Deletes the project and the department, and has the child bring them back with new names.
    private func bringBack(
        afterDeleteBy delete: () throws -> Void,
        meanwhile: (_ engine: Project, _ research: Department) throws -> Void = { _, _ in }
    ) throws {
        let (project, department): (Project, Department) = try child.performAndWait { () throws in
            (try object(engine, in: child), try object(research, in: child))
        }
        try child.performAndWait { () throws in
            #expect(project.members.count == 2)
            for employee in project.members { #expect(employee.projects == [project]) }
            #expect(department.employees.count == 2)
        }
        try delete()
        try child.performAndWait { () throws in
            project.title = "Engine"
            department.name = "Research"
            try meanwhile(project, department)
            try child.save()
            #expect(!child.hasChanges)
        }
    }

    private func deleteInRoot() throws {
        try root.performAndWait { () throws in
            root.delete(try object(engine, in: root))
            root.delete(try object(research, in: root))
            root.processPendingChanges()
        }
    }

    private func deleteByOthers() throws {
        let other = store.context("other")
        try other.performAndWait { () throws in
            other.delete(try object(engine, in: other))
            other.delete(try object(research, in: other))
            try other.save()
        }
        try root.performAndWait { () throws in _ = try root.mergeChanges() }
    }

    private func found(
        in context: ManagedObjectContext
    ) throws -> (members: Set<ManagedObjectID>, employees: Set<ManagedObjectID>) {
        try context.performAndWait { () throws in
            let project: Project = try object(engine, in: context)
            let department: Department = try object(research, in: context)
            #expect(project.title == "Engine")
            #expect(project.sponsor === department)
            for employee in department.employees { #expect(employee.department === department) }
            for employee in project.members { #expect(employee.projects == [project]) }
            return (
                Set(project.members.map(\.objectID)), Set(department.employees.map(\.objectID))
            )
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `what a child brings back has its members again`(
        isDeletedByParent: Bool, keepsSteps: Bool
    ) throws {
        if !keepsSteps { root.performAndWait { root.undoManager = nil } }

        try bringBack(afterDeleteBy: isDeletedByParent ? deleteInRoot : deleteByOthers)

        for context in [root, child] {
            let (members, employees) = try found(in: context)
            #expect(members == [ada, bob])
            #expect(employees == [ada, bob])
        }
        try root.performAndWait { () throws in _ = try root.save() }
        let (members, employees) = try found(in: store.context("later"))
        #expect(members == [ada, bob])
        #expect(employees == [ada, bob])
    }

    @Test func `a grandchild brings back what the root has deleted, with its members`() throws {
        let grandchild = ManagedObjectContext(parent: child)
        let project: Project = try grandchild.performAndWait { () throws in
            grandchild.mergePolicy = .mergeByPropertyObjectTrump
            return try object(engine, in: grandchild)
        }
        try deleteInRoot()
        try child.performAndWait { () throws in _ = try child.mergeChanges() }

        try grandchild.performAndWait { () throws in
            project.title = "Engine"
            try grandchild.save()
        }
        try child.performAndWait { () throws in _ = try child.save() }

        try root.performAndWait { () throws in
            let project: Project = try object(engine, in: root)
            #expect(Set(project.members.map(\.objectID)) == [ada, bob])
        }
    }

    @Test(arguments: [true, false])
    func `what has become of a member since stays`(isDeletedByParent: Bool) throws {
        try bringBack(
            afterDeleteBy: {
                try isDeletedByParent ? deleteInRoot() : deleteByOthers()
                try root.performAndWait { () throws in
                    let elsewhere = Department(context: root)
                    let employee: Employee = try object(ada, in: root)
                    employee.department = elsewhere
                    root.processPendingChanges()
                }
            },
            meanwhile: { project, _ in
                let employee: Employee = try object(bob, in: child)
                employee.projects = []
            })

        let (members, employees) = try found(in: root)
        #expect(members == [ada])
        #expect(employees == [bob])
    }

    @Test func `members that are gone do not come back`() throws {
        try bringBack(
            afterDeleteBy: {
                try deleteInRoot()
                try root.performAndWait { () throws in
                    root.delete(try object(ada, in: root) as Employee)
                    root.processPendingChanges()
                }
            },
            meanwhile: { _, _ in child.delete(try object(bob, in: child) as Employee) })

        let (members, employees) = try found(in: root)
        #expect(members.isEmpty)
        #expect(employees.isEmpty)
    }

    @Test func `one undo in the parent takes back all that came back`() throws {
        try bringBack(afterDeleteBy: deleteInRoot)

        try root.performAndWait { () throws in
            root.undo()

            #expect(try root.count(FetchRequest<Project>()) == 0)
            #expect(try root.count(FetchRequest<Department>()) == 0)
            let employee: Employee = try object(ada, in: root)
            #expect(employee.department == nil)
            #expect(employee.projects.isEmpty)
            root.redo()
        }
        let (members, employees) = try found(in: root)
        #expect(members == [ada, bob])
        #expect(employees == [ada, bob])
    }
}
