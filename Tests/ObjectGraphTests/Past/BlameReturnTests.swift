import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Blame for the values of an object that was deleted and brought back. Carol hires, bob gives a raise,
/// dana deletes, erin brings back.
@Suite struct BlameReturnTests {
    private let whatIf: WhatIf
    private let founding: SequenceNumber
    private let raise: SequenceNumber

    init() throws {
        whatIf = try WhatIf()
        founding = whatIf.then
        raise = try whatIf.others(edit: whatIf.ada) { $0.salary = 20 }
    }

    private func delete(_ id: ManagedObjectID) throws -> SequenceNumber {
        try whatIf.stored { (context) throws in
            context.delete(try context.existingObject(with: id))
            return try #require(try context.save(author: "dana"))
        }
    }

    private func origin(
        _ property: String, of id: ManagedObjectID
    ) throws -> PropertyBlame {
        try whatIf.stored { try $0.blame(of: id, property: property) }
    }

    private func expectCredits(broughtBackBy entry: SequenceNumber, _ author: String) throws {
        let name = try origin("lastName", of: whatIf.ada)
        #expect(name.author == "carol" && name.sequence == founding && name.isInsert)
        #expect(name.value == .string("Byron"))
        let salary = try origin("salary", of: whatIf.ada)
        #expect(salary.author == "bob" && salary.sequence == raise && !salary.isInsert)
        #expect(salary.value == .decimal(20) && salary.previous == .decimal(10))
        for origin in [name, salary] {
            #expect(origin.broughtBackBy?.sequence == entry)
            #expect(origin.broughtBackBy?.author == author)
        }
    }

    @Test func `after the undo of a delete the writers keep the credit`() throws {
        let deletion = try delete(whatIf.ada)

        let undo = try whatIf.store.container.undo(deletion, author: "erin", note: "Back")

        try expectCredits(broughtBackBy: try #require(undo.entry), "erin")
        #expect(try origin("salary", of: whatIf.ada).broughtBackBy?.note == "Back")
        #expect(try origin("salary", of: whatIf.grace).broughtBackBy == nil)
    }

    @Test func `a restored object is credited as an undone delete is`() throws {
        // Because the entry has a second change, the restore undoes only a part of it.
        let deletion = try whatIf.stored { (context) throws in
            context.delete(try context.hired(whatIf.ada))
            try context.hired(whatIf.grace).salary = 30
            return try #require(try context.save(author: "dana"))
        }

        let restore = try whatIf.store.container.restore(whatIf.ada, author: "erin")

        try expectCredits(broughtBackBy: try #require(restore.entry), "erin")
        #expect(try origin("salary", of: whatIf.grace).sequence == deletion)
    }

    @Test func `an insert that is made again keeps its author`() throws {
        let container = whatIf.store.container
        let hire = try whatIf.others { (context) throws in
            let karen = Employee(context: context)
            karen.lastName = "Jones"
        }
        let karen = try #require(
            try whatIf.stored {
                try $0.fetch(FetchRequest<Employee>(where: \Employee.lastName == "Jones")).first?
                    .objectID
            })
        try container.undo(hire, author: "dana")

        let redo = try container.redo(hire, author: "erin")

        let name = try origin("lastName", of: karen)
        #expect(name.author == "bob" && name.sequence == hire && name.isInsert)
        #expect(name.broughtBackBy?.sequence == redo.entry)
    }

    @Test func `what an undo in a context brings back and what a save edits are distinguished`()
        throws
    {
        try whatIf.stored { (context) throws in
            context.undoManager = UndoManager()
            let ada = try context.hired(whatIf.ada)
            context.delete(ada)
            try context.save(author: "dana")
            context.undo()
            ada.firstName = "Augusta"
            try context.save(author: "erin")
        }

        let head = try whatIf.head()
        try expectCredits(broughtBackBy: head, "erin")
        let first = try origin("firstName", of: whatIf.ada)
        #expect(first.author == "erin" && first.sequence == head && first.broughtBackBy == nil)
    }

    @Test func `references that went with an object are credited to their author`() throws {
        let deletion = try delete(whatIf.research)
        #expect(try origin("department", of: whatIf.grace).author == "dana")

        let undo = try whatIf.store.container.undo(deletion, author: "erin")

        let department = try origin("department", of: whatIf.grace)
        #expect(department.author == "carol" && department.sequence == founding)
        #expect(department.broughtBackBy?.sequence == undo.entry)
        #expect(department.objects == [whatIf.research])
        let employees = try origin("employees", of: whatIf.research)
        #expect(employees.author == "carol" && employees.broughtBackBy?.author == "erin")
    }

    @Test func `deleted and brought back again and again, the writer stays the writer`() throws {
        let container = whatIf.store.container
        var undo: SequenceNumber?
        for _ in 0..<5 {
            undo = try container.undo(try delete(whatIf.ada), author: "erin").entry
        }

        try expectCredits(broughtBackBy: try #require(undo), "erin")
        let last = try #require(undo)
        let past = try container.context(at: .sequence(last.previous.previous))
        let then = try past.performAndWait {
            try past.blame(of: whatIf.ada, property: "salary")
        }
        #expect(then.broughtBackBy?.sequence == last.previous.previous)
    }

    @Test func `the undo of an update is its author's own`() throws {
        let undo = try whatIf.store.container.undo(raise, author: "erin")

        let salary = try origin("salary", of: whatIf.ada)
        #expect(salary.author == "erin" && salary.sequence == undo.entry)
        #expect(salary.value == .decimal(10) && salary.previous == .decimal(20))
        #expect(salary.broughtBackBy == nil)
    }
}
