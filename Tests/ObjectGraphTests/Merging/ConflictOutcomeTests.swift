import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import Foundation
import Testing

@testable import DaybookObjectGraph

/// The outcomes of the catalogue's conflicts, under both ways of detecting them.
@Suite struct ConflictOutcomeTests {
    static let granularities: [ConflictGranularity] = [.property, .row]

    @Test(arguments: granularities)
    func `F62 S70 the policy error refuses the save and tells both sides`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.error, granularity)
        let entry = try rivals.saveTheirs { $0.lastName = "FromCtx1" }

        let error = rivals.refusal { try rivals.saveOurs { $0.lastName = "FromCtx2" } }

        #expect(error?.code == .conflict)
        let conflict = try #require(error?.conflicts.first)
        #expect(error?.conflicts.count == 1)
        #expect(conflict.base == .string("Alice"))
        #expect(conflict.theirs == .string("FromCtx1"))
        #expect(conflict.ours == .string("FromCtx2"))
        #expect(conflict.sequence == entry)
        rivals.second.performAndWait { #expect(rivals.ours.isUpdated) }
        #expect(rivals.pay().name == "FromCtx2")
        #expect(try rivals.record()?.name == "FromCtx1")
    }

    @Test(arguments: granularities)
    func `F63 store trump keeps the store's name and saves the local salary`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.mergeByPropertyStoreTrump, granularity)
        try rivals.saveTheirs { $0.lastName = "FromCtx1" }

        try rivals.saveOurs {
            $0.lastName = "FromCtx2"
            $0.salary = 99
        }

        #expect(try rivals.record() == Pay(name: "FromCtx1", salary: 99))
        #expect(rivals.pay() == Pay(name: "FromCtx1", salary: 99))
    }

    @Test(arguments: granularities)
    func `F64 object trump saves the local name and keeps the store's salary`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.mergeByPropertyObjectTrump, granularity)
        try rivals.saveTheirs {
            $0.lastName = "FromCtx1"
            $0.salary = 50
        }

        try rivals.saveOurs { $0.lastName = "FromCtx2" }

        #expect(try rivals.record() == Pay(name: "FromCtx2", salary: 50))
        #expect(rivals.pay() == Pay(name: "FromCtx2", salary: 50))
    }

    @Test(arguments: granularities)
    func `F65 overwrite saves the whole object and takes the other's salary back`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.overwrite, granularity)
        try rivals.saveTheirs {
            $0.lastName = "FromCtx1"
            $0.salary = 50
        }

        try rivals.saveOurs { $0.lastName = "FromCtx2" }

        #expect(try rivals.record() == Pay(name: "FromCtx2", salary: 10))
        #expect(rivals.pay() == Pay(name: "FromCtx2", salary: 10))
    }

    @Test(arguments: granularities)
    func `F66 rollback drops the local changes of the object`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.rollback, granularity)
        try rivals.saveTheirs { $0.lastName = "FromCtx1" }

        let entry = try rivals.saveOurs {
            $0.lastName = "FromCtx2"
            $0.salary = 99
        }

        #expect(entry == nil)
        #expect(try rivals.record() == Pay(name: "FromCtx1", salary: 10))
        #expect(rivals.pay() == Pay(name: "FromCtx1", salary: 10))
        rivals.second.performAndWait {
            #expect(!rivals.ours.hasChanges)
            #expect(!rivals.second.hasChanges)
        }
    }

    @Test(arguments: granularities, MergePolicy.allCases)
    func `F67 changes of different objects are not a conflict`(
        granularity: ConflictGranularity, policy: MergePolicy
    ) throws {
        let rivals = try Rivals(policy, granularity)
        try rivals.first.performAndWait { () throws in
            let other = Employee(context: rivals.first)
            other.lastName = "Other"
            try rivals.first.save()
        }

        try rivals.saveOurs { $0.salary = 99 }

        #expect(try rivals.record() == Pay(name: "Alice", salary: 99))
    }

    // MARK: - Where the two ways differ: both change the object, but not the same property

    @Test(arguments: MergePolicy.allCases)
    func `F61 J6 by property, edits of different properties both survive`(
        policy: MergePolicy
    ) throws {
        let rivals = try Rivals(policy, .property)
        try rivals.saveTheirs { $0.salary = 50 }

        try rivals.saveOurs { $0.lastName = "FromCtx2" }

        #expect(try rivals.record() == Pay(name: "FromCtx2", salary: 50))
    }

    @Test func `F61 F62 by row, any change of the row is a conflict`() throws {
        let rivals = try Rivals(.error, .row)
        let entry = try rivals.saveTheirs { $0.salary = 50 }

        let error = rivals.refusal { try rivals.saveOurs { $0.lastName = "FromCtx2" } }

        #expect(error?.code == .conflict)
        #expect(error?.conflicts.map(\.propertyName) == ["lastName"])
        #expect(error?.conflicts.first?.sequence == entry)
        #expect(try rivals.record() == Pay(name: "Alice", salary: 50))
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, Pay(name: "FromCtx2", salary: 50)),
        (.mergeByPropertyObjectTrump, Pay(name: "FromCtx2", salary: 50)),
        (.overwrite, Pay(name: "FromCtx2", salary: 10)),
        (.rollback, Pay(name: "Alice", salary: 50)),
    ])
    func `F63 F64 F65 F66 by row, each policy settles the row as a whole`(
        policy: MergePolicy, expected: Pay
    ) throws {
        let rivals = try Rivals(policy, .row)
        try rivals.saveTheirs { $0.salary = 50 }

        try rivals.saveOurs { $0.lastName = "FromCtx2" }

        #expect(try rivals.record() == expected)
        #expect(rivals.pay() == expected)
    }

    @Test(arguments: granularities)
    func `F61 a delete of an object that others changed is a conflict`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.error, granularity)
        let entry = try rivals.saveTheirs { $0.salary = 50 }

        let error = rivals.refusal { try rivals.saveOurs { rivals.second.delete($0) } }

        #expect(error?.conflicts.map(\.kind) == [.deletedByUs])
        #expect(error?.conflicts.first?.sequence == entry)
        #expect(try rivals.record() == Pay(name: "Alice", salary: 50))
    }

    @Test(arguments: granularities)
    func `F61 a change of an object that others deleted is a conflict that names the delete`(
        granularity: ConflictGranularity
    ) throws {
        let rivals = try Rivals(.error, granularity)
        let entry = try rivals.saveTheirs { rivals.first.delete($0) }

        let error = rivals.refusal { try rivals.saveOurs { $0.salary = 99 } }

        #expect(error?.conflicts.map(\.kind) == [.deletedByThem])
        #expect(error?.conflicts.first?.sequence == entry)
        #expect(error?.conflicts.first?.author == "bob")
        #expect(try rivals.record() == nil)
    }

    @Test(arguments: [
        (MergePolicy.mergeByPropertyStoreTrump, false), (.mergeByPropertyObjectTrump, true),
        (.overwrite, true), (.rollback, false),
    ])
    func `F61 a change of an object that others deleted is lost or brings the object back`(
        policy: MergePolicy, isBack: Bool
    ) throws {
        let rivals = try Rivals(policy)
        try rivals.saveTheirs { rivals.first.delete($0) }

        try rivals.saveOurs { $0.salary = 99 }

        #expect(try rivals.record() == (isBack ? Pay(name: "Alice", salary: 99) : nil))
        try rivals.second.performAndWait { () throws in
            #expect(try rivals.second.count(FetchRequest<Employee>()) == (isBack ? 1 : 0))
            #expect(rivals.ours.isDeleted == !isBack)
            #expect(!rivals.second.hasChanges)
        }
    }

    // MARK: - Watched objects

    @Test func `F61 an unchanged object is not in conflict unless it is watched`() throws {
        let rivals = try Rivals()
        try rivals.saveTheirs { $0.salary = 50 }

        try rivals.second.performAndWait { () throws in
            Department(context: rivals.second).name = "Research"
            try rivals.second.save()
        }

        #expect(try rivals.record()?.salary == 50)
    }

    @Test(arguments: [true, false])
    func `F61 a watched object that others change or delete refuses the save`(
        isDelete: Bool
    ) throws {
        let rivals = try Rivals()
        rivals.second.performAndWait { rivals.second.detectConflicts(for: rivals.ours) }
        let entry = try rivals.saveTheirs {
            if isDelete { rivals.first.delete($0) } else { $0.salary = 50 }
        }

        let error = rivals.refusal {
            try rivals.second.performAndWait { () throws in
                Department(context: rivals.second).name = "Research"
                return try rivals.second.save()
            }
        }

        #expect(error?.conflicts.map(\.kind) == [isDelete ? .deletedByThem : .value])
        #expect(error?.conflicts.map(\.object) == [rivals.id.object])
        #expect(error?.conflicts.first?.sequence == entry)
    }

    @Test func `F61 a watched object collides in whatever property others change`() throws {
        let rivals = try Rivals()
        rivals.second.performAndWait { rivals.second.detectConflicts(for: rivals.ours) }
        try rivals.saveTheirs { $0.salary = 50 }

        let error = rivals.refusal { try rivals.saveOurs { $0.lastName = "FromCtx2" } }

        #expect(error?.code == .conflict)
    }

    @Test func `F61 refreshing a watched object, or rolling back, lets the save pass`() throws {
        let rivals = try Rivals()
        try rivals.saveTheirs { $0.salary = 50 }
        try rivals.second.performAndWait { () throws in
            rivals.second.detectConflicts(for: rivals.ours)
            rivals.second.refresh(rivals.ours, mergeChanges: true)
            Department(context: rivals.second).name = "Research"
            #expect(throws: Never.self) { try rivals.second.save() }
            rivals.second.detectConflicts(for: rivals.ours)
            rivals.second.rollback()
        }
        try rivals.saveTheirs { $0.salary = 60 }

        try rivals.second.performAndWait { () throws in
            Department(context: rivals.second).name = "Sales"
            #expect(throws: Never.self) { try rivals.second.save() }
        }
    }

    @Test func `F61 watching an object of another context stops the program`() async {
        await #expect(processExitsWith: .failure) {
            let rivals = try Rivals()
            rivals.second.performAndWait { rivals.second.detectConflicts(for: rivals.theirs) }
        }
    }
}
