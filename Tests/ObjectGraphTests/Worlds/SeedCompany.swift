import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation

/// The entities of the seeds' examples, written as a program that uses the library would.
enum Company {
    final class Employee: ManagedObject {
        @Attribute var firstName: String = ""
        @Attribute var lastName: String = ""
        @Attribute var salary: Decimal?
        @Attribute var hired: Date?
        @Transient var fullName: String?
        @Relationship(inverse: \Department.employees) var department: Department?
        @Relationship(inverse: \Employee.reports) var manager: Employee?
        @Relationship var reports: Set<Employee>

        /// Not a property of the model: distinguishes an instance from a later one of the same
        /// record.
        var mark = 0
        /// Whether a refresh computes the full name again.
        var renewsFullName = false
        /// The numbers of calls of the life-cycle hooks.
        var calls = Calls()

        struct Calls: Equatable {
            var awakeFromInsert = 0
            var awakeFromFetch = 0
            var didTurnIntoFault = 0
        }

        override func awakeFromInsert() {
            calls.awakeFromInsert += 1
            hired = Company.openingDay
        }

        override func awakeFromFetch() {
            calls.awakeFromFetch += 1
            cacheFullName()
        }

        override func awake(fromSnapshotEvents events: SnapshotEventType) {
            if renewsFullName, events.contains(.refresh) { cacheFullName() }
        }

        override func didTurnIntoFault() {
            calls.didTurnIntoFault += 1
        }

        func cacheFullName() {
            fullName = "\(firstName) \(lastName)"
        }
    }

    final class Department: ManagedObject {
        @Attribute var name: String = "Unnamed"
        @Relationship var employees: Set<Employee>
    }

    static let entities: [ManagedObject.Type] = [Employee.self, Department.self]
    static let openingDay = Date(timeIntervalSinceReferenceDate: 0)
}

/// A store of a company in a temporary folder, with a stack on it.
final class CompanyStore: Sendable {
    let folder: TemporaryDirectory
    let container: PersistentContainer

    init() throws {
        folder = try TemporaryDirectory()
        container = try TestContainer.make(
            folder.url.appendingPathComponent("company.daybook"), model: Company.entities)
    }

    /// Where the store is.
    var url: URL { folder.url.appendingPathComponent("company.daybook") }

    /// How many entries the journal has.
    var head: SequenceNumber? {
        get throws { try container.persistentStoreCoordinator.persistentStores.first?.head() }
    }

    /// A context with a queue of its own.
    func context() -> ManagedObjectContext {
        container.newBackgroundContext()
    }

    /// Runs `body` in a new context on its queue.
    @discardableResult
    func inContext<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }

    /// Saves an employee, in a department if one is named.
    func addEmployee(
        _ firstName: String, _ lastName: String, in department: ManagedObjectID? = nil
    ) throws -> ManagedObjectID {
        try inContext { (context) throws in
            let employee = Company.Employee(context: context)
            employee.firstName = firstName
            employee.lastName = lastName
            if let department {
                employee.department = try context.department(department)
            }
            try context.save()
            return employee.objectID
        }
    }

    /// Saves a department.
    func addDepartment(_ name: String) throws -> ManagedObjectID {
        try inContext { (context) throws in
            let department = Company.Department(context: context)
            department.name = name
            try context.save()
            return department.objectID
        }
    }

    /// Edits an employee in a context of its own and saves.
    func edit(_ id: ManagedObjectID, _ body: (Company.Employee) -> Void) throws {
        try inContext { (context) throws in
            body(try context.employee(id))
            try context.save()
        }
    }

    /// Deletes an object in a context of its own and saves.
    func delete(_ id: ManagedObjectID) throws {
        try inContext { (context) throws in
            context.delete(try context.existingObject(with: id))
            try context.save()
        }
    }
}

extension ManagedObjectContext {
    /// The realized employee with an identifier.
    func employee(_ id: ManagedObjectID) throws -> Company.Employee {
        try find(id)
    }

    /// The realized department with an identifier.
    func department(_ id: ManagedObjectID) throws -> Company.Department {
        try find(id)
    }

    private func find<Object: ManagedObject>(_ id: ManagedObjectID) throws -> Object {
        guard let object = try existingObject(with: id) as? Object else {
            preconditionFailure("The identifier is of another entity.")
        }
        return object
    }
}
