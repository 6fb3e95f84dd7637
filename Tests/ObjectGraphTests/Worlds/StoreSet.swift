import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation

@testable import DaybookObjectGraph

/// Stores of staff in a temporary folder behind one coordinator.
final class StoreSet: Sendable {
    let folder: TemporaryDirectory
    let coordinator: PersistentStoreCoordinator

    /// Makes a store for each name.
    init(_ names: String...) throws {
        folder = try TemporaryDirectory()
        coordinator = try PersistentStoreCoordinator(classes: staff)
        for name in names { try coordinator.addPersistentStore(at: url(name)) }
    }

    /// The URL of the store with a name.
    func url(_ name: String) -> URL {
        folder.url.appendingPathComponent("\(name).daybook")
    }

    /// A context with a queue of its own.
    func context() -> ManagedObjectContext {
        ManagedObjectContext(coordinator: coordinator)
    }

    /// Runs `body` in a new context on its queue.
    func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = context()
        return try context.performAndWait { try body(context) }
    }

    /// Saves an employee of each last name to a store.
    @discardableResult
    func hire(_ lastNames: String..., in store: PersistentStore) throws -> [ManagedObjectID] {
        try inContext { context in
            let hired = try lastNames.map { name in
                let employee = Employee(context: context)
                try context.assign(employee, to: store)
                employee.lastName = name
                return employee
            }
            try context.save()
            return hired.map(\.objectID)
        }
    }

    /// The last names of the employees in one file, read without this coordinator.
    static func lastNames(at url: URL) throws -> [String] {
        let coordinator = try PersistentStoreCoordinator(classes: staff)
        var options = PersistentStoreOptions()
        options.isReadOnly = true
        try coordinator.addPersistentStore(at: url, options: options)
        let context = ManagedObjectContext(coordinator: coordinator)
        return try context.performAndWait { () throws in
            try context.fetch(FetchRequest<Employee>()).map(\.lastName)
        }
    }
}
