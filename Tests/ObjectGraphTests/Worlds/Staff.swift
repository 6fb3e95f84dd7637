import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation

@testable import DaybookObjectGraph

/// The entities of most tests of the object graph.
final class Department: ManagedObject {
    @Attribute(.unique) var name: String = UUID().uuidString
    @Relationship(inverse: \Employee.department) var employees: Set<Employee>
    @Relationship(.cascade, inverse: \Desk.department) var desks: Set<Desk>
    @Relationship(.deny, inverse: \Project.sponsor) var projects: Set<Project>
}

final class Desk: ManagedObject {
    @Attribute var label: String = ""
    @Relationship var department: Department?
    @Relationship(inverse: \Employee.desk) var occupant: Employee?
}

final class Employee: ManagedObject {
    @Attribute var firstName: String = ""
    @Attribute(.indexed) var lastName: String = ""
    @Attribute var salary: Decimal?
    @Attribute var grade: Grade = .junior
    @Transient var fullName: String?
    @Relationship(.nullify) var department: Department?
    @Relationship var desk: Desk?
    @Relationship(inverse: \Project.members) var projects: Set<Project>
    @Relationship var mentor: Employee?

    override func awakeFromFetch() {
        fullName = "\(firstName) \(lastName)"
    }
}

enum Grade: String, AttributeValue {
    case junior, senior
}

final class Project: ManagedObject {
    @Attribute var title: String = ""
    @Relationship var members: Set<Employee>
    @Relationship var sponsor: Department?
    @Relationship(.cascade, inverse: \Task.project) var tasks: [Task]
}

final class Task: ManagedObject {
    @Attribute var title: String = ""
    @Relationship var project: Project?
}

let staff: [ManagedObject.Type] = [
    Department.self, Desk.self, Employee.self, Project.self, Task.self,
]

/// A store of staff in a temporary folder, with contexts on it.
final class StaffStore: Sendable {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    convenience init() throws {
        try self.init(in: try TemporaryDirectory())
    }

    /// Opens another instance's store again, as after a restart.
    convenience init(_ other: StaffStore) throws {
        try self.init(in: other.folder)
    }

    private init(in folder: TemporaryDirectory) throws {
        self.folder = folder
        container = try TestContainer.make(
            folder.url.appendingPathComponent("staff.daybook"), model: staff)
    }

    /// Where the store is.
    var url: URL { folder.url.appendingPathComponent("staff.daybook") }

    /// A context with a queue of its own.
    func context(_ name: String? = nil) -> ManagedObjectContext {
        let context = container.newBackgroundContext()
        context.name = name
        return context
    }

    /// Runs `body` in a new context on its queue.
    func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }
}
