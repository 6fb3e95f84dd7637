import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A company with a past state: entry 2, by carol, hires Ada Byron, who earns 10, and Grace Hopper,
/// both into R&D. Saves of the tests come after that.
final class WhatIf {
    let store: StaffStore
    let ada: ManagedObjectID
    let grace: ManagedObjectID
    let research: ManagedObjectID
    let then: SequenceNumber
    /// A context on that state.
    let context: ManagedObjectContext

    init(_ policy: MergePolicy = .error) throws {
        let store = try StaffStore()
        self.store = store
        (ada, grace, research, then) = try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "R&D"
            let people = ["Ada Byron", "Grace Hopper"].map { name in
                let words = name.split(separator: " ").map(String.init)
                let employee = Employee(context: context)
                (employee.firstName, employee.lastName) = (words[0], words[1])
                employee.salary = 10
                employee.department = research
                return employee
            }
            let then = try #require(try context.save(author: "carol", note: "Founded"))
            return (people[0].objectID, people[1].objectID, research.objectID, then)
        }
        context = try store.container.speculativeContext(at: .sequence(then))
        context.performAndWait { context.mergePolicy = policy }
    }

    /// The last entry.
    func head() throws -> SequenceNumber {
        try store.container.persistentStoreCoordinator.persistentStores[0].head()
    }

    /// Saves changes of others, as bob.
    @discardableResult
    func others(
        _ edit: (ManagedObjectContext) throws -> Void
    ) throws -> SequenceNumber {
        try store.inContext { (context) throws in
            try edit(context)
            return try #require(try context.save(author: "bob", note: "Later"))
        }
    }

    /// Edits an employee on behalf of others.
    @discardableResult
    func others(
        edit id: ManagedObjectID, _ edit: (Employee) -> Void
    ) throws -> SequenceNumber {
        try others { edit(try $0.hired(id)) }
    }

    /// Runs a closure in the context on the past.
    func here<Result>(_ body: (ManagedObjectContext) throws -> Result) throws -> Result {
        try context.performAndWait { try body(context) }
    }

    /// What a new context reads.
    func stored<Result>(_ read: (ManagedObjectContext) throws -> Result) throws -> Result {
        try store.inContext(read)
    }

    /// An employee's last name and salary in the store.
    func pay(_ id: ManagedObjectID) throws -> Pay {
        try stored { (context) throws in
            let employee = try context.hired(id)
            return Pay(name: employee.lastName, salary: employee.salary)
        }
    }

    /// The error of a save that is refused.
    func refusal() throws -> StoreError {
        try here { (context) throws in
            try #require(#expect(throws: StoreError.self) { try context.save() })
        }
    }
}

extension ManagedObjectContext {
    /// An existing employee.
    func hired(_ id: ManagedObjectID) throws -> Employee {
        try #require(try existingObject(with: id) as? Employee)
    }

    /// An existing department.
    func unit(_ id: ManagedObjectID) throws -> Department {
        try #require(try existingObject(with: id) as? Department)
    }
}
