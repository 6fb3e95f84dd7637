import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Conflicts name the entry that made the other side.
@Suite struct ConflictOriginTests {
    @Test func `P2 J6 a conflict names the entry that last changed that property`() throws {
        let rivals = try Rivals()
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let salary = try rivals.saveTheirs(author: "bob", at: date) { $0.salary = 50 }
        let name = try rivals.saveTheirs(author: "dora") { $0.lastName = "King" }
        try rivals.saveTheirs(author: "eve") { $0.firstName = "Augusta" }

        let error = rivals.refusal {
            try rivals.saveOurs {
                $0.salary = 99
                $0.lastName = "Lovelace"
            }
        }

        let conflicts = try #require(error?.conflicts)
        let bySalary = try #require(conflicts.first { $0.propertyName == "salary" })
        let byName = try #require(conflicts.first { $0.propertyName == "lastName" })
        #expect(conflicts.count == 2)
        #expect(bySalary.sequence == salary)
        #expect(bySalary.author == "bob")
        #expect(bySalary.time == date)
        #expect(byName.sequence == name)
        #expect(byName.author == "dora")
    }

    @Test func `P2 the error reads as sentences with names, entry, author and time`() throws {
        let rivals = try Rivals()
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let entry = try #require(
            try rivals.saveTheirs(author: "bob", at: date) { $0.salary = 50 })

        let error = rivals.refusal { try rivals.saveOurs { $0.salary = 99 } }

        #expect(
            error?.details == [
                "'salary' of \(rivals.id) was changed by both sides; theirs is entry \(entry) by "
                    + "'bob' at 2023-11-14T22:13:20Z."
            ])
        #expect(error?.description.contains("99") == false)
    }

    @Test func `P2 a policy is set once for all that a context saves`() throws {
        let rivals = try Rivals(.mergeByPropertyObjectTrump)
        for round in 1...3 {
            try rivals.saveTheirs { $0.salary = Decimal(round) }
            try rivals.saveOurs { $0.salary = Decimal(round * 10) }
            try rivals.first.performAndWait { _ = try rivals.first.mergeChanges() }
        }

        #expect(try rivals.record()?.salary == 30)
    }

    @Test func `P2 a lost reference names the entry that deleted its object`() throws {
        let rivals = try Rivals()
        let department = try rivals.first.performAndWait { () throws in
            let department = Department(context: rivals.first)
            department.name = "Research"
            try rivals.first.save()
            return department
        }
        let id = rivals.first.performAndWait { department.objectID }
        try rivals.second.performAndWait { () throws in
            rivals.ours.department =
                try rivals.second.existingObject(with: id) as? Department
        }
        let entry = try rivals.saveTheirs { _ in rivals.first.delete(department) }

        let error = rivals.refusal { try rivals.saveOurs { _ in } }

        #expect(error?.conflicts.map(\.kind) == [.reference])
        #expect(error?.conflicts.map(\.propertyName) == ["department"])
        #expect(error?.conflicts.first?.sequence == entry)
        #expect(error?.conflicts.first?.author == "bob")
    }

    @Test
    func `J11 merging a delete onto a local edit tells of the lost edit and whose delete it was`()
        throws
    {
        let rivals = try Rivals()
        rivals.second.performAndWait { rivals.ours.salary = 99 }
        let entry = try rivals.saveTheirs { rivals.first.delete($0) }

        let conflicts = try rivals.second.performAndWait { try rivals.second.mergeChanges() }

        #expect(conflicts.map(\.kind) == [.deletedByThem])
        #expect(conflicts.first?.propertyName == "salary")
        #expect(conflicts.first?.ours != .null)
        #expect(conflicts.first?.sequence == entry)
        #expect(conflicts.first?.author == "bob")
        try rivals.second.performAndWait { () throws in
            #expect(rivals.ours.isDeleted)
            #expect(try rivals.second.save() == nil)
        }
        #expect(try rivals.record() == nil)
    }

    @Test func `J6 merging names the entry of each collision and keeps the pending values`() throws
    {
        let rivals = try Rivals()
        rivals.second.performAndWait { rivals.ours.salary = 99 }
        let entry = try rivals.saveTheirs { $0.salary = 50 }
        try rivals.saveTheirs(author: "eve") { $0.lastName = "King" }

        let conflicts = try rivals.second.performAndWait { try rivals.second.mergeChanges() }

        #expect(conflicts.map(\.propertyName) == ["salary"])
        #expect(conflicts.map(\.sequence) == [entry])
        #expect(rivals.pay() == Pay(name: "King", salary: 99))
    }
}
