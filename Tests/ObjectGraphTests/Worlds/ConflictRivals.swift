import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation

@testable import DaybookObjectGraph

/// Two contexts on one store that have both read Alice, who earns 10; the first one's saves collide
/// with the second one's pending changes.
final class Rivals {
    let store: StaffStore
    let first: ManagedObjectContext
    let second: ManagedObjectContext
    let id: ManagedObjectID
    /// Alice in the first context.
    let theirs: Employee
    /// Alice in the second context.
    let ours: Employee

    init(
        _ policy: MergePolicy = .error, _ granularity: ConflictGranularity = .property
    ) throws {
        let store = try StaffStore()
        let first = store.context("first")
        let second = store.context("second")
        let (id, theirs) = try first.performAndWait { () throws in
            let alice = Employee(context: first)
            alice.firstName = "Alice"
            alice.lastName = "Alice"
            alice.salary = 10
            try first.save(author: "carol")
            return (alice.objectID, alice)
        }
        ours = try second.performAndWait { () throws in
            second.mergePolicy = policy
            second.conflictGranularity = granularity
            return try Self.employee(id, in: second)
        }
        self.store = store
        self.first = first
        self.second = second
        self.id = id
        self.theirs = theirs
    }

    /// Runs `edit` in the first context and saves as bob.
    @discardableResult
    func saveTheirs(
        author: String? = "bob", at date: Date? = nil, _ edit: (Employee) -> Void
    ) throws -> SequenceNumber? {
        try first.performAndWait { () throws in
            edit(theirs)
            return try first.save(author: author, at: date)
        }
    }

    /// Runs `edit` in the second context and saves.
    @discardableResult
    func saveOurs(_ edit: (Employee) -> Void) throws -> SequenceNumber? {
        try second.performAndWait { () throws in
            edit(ours)
            return try second.save()
        }
    }

    /// The error of a save that must be refused.
    func refusal(_ save: () throws -> SequenceNumber?) -> StoreError? {
        do {
            _ = try save()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    /// What a new context reads.
    func stored<Result>(_ read: (Employee) -> Result) throws -> Result? {
        try store.inContext { context in
            try context.fetch(FetchRequest<Employee>()).first.map(read)
        }
    }

    /// Last name and salary in the store.
    func record() throws -> Pay? {
        try stored { Pay(name: $0.lastName, salary: $0.salary) }
    }

    /// Last name and salary in the second context.
    func pay() -> Pay {
        second.performAndWait { Pay(name: ours.lastName, salary: ours.salary) }
    }

    private static func employee(
        _ id: ManagedObjectID, in context: ManagedObjectContext
    ) throws -> Employee {
        guard let employee = try context.existingObject(with: id) as? Employee else {
            throw CocoaError(.fileNoSuchFile)
        }
        return employee
    }
}

/// The values that the tests of conflicts compare.
struct Pay: Equatable, Sendable {
    var name: String
    var salary: Decimal?
}
