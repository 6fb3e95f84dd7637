import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct ChangeTrackingTests {
    @Test func `F16 changed values are those that differ from the last save`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)

            ada.lastName = "Lovelace"
            ada.salary = nil
            ada.fullName = "A. L."

            let changed = ada.changedValues()
            #expect(changed.keys.sorted() == ["fullName", "lastName", "salary"])
            #expect(changed["lastName"] as? String == "Lovelace")
            #expect(changed["salary"].map { $0 == nil } == true)
            context.processPendingChanges()
            #expect(ada.changedValues().keys.sorted() == ["fullName", "lastName", "salary"])
            try context.save()
            #expect(ada.changedValues().isEmpty)
        }
    }

    @Test func `F16 changed values of a fault and of a deleted object are none`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            context.refresh(ada, mergeChanges: false)
            #expect(ada.changedValues().isEmpty)
            #expect(ada.isFault)

            ada.lastName = "Lovelace"
            context.delete(ada)

            #expect(ada.changedValues().isEmpty)
            #expect(ada.committedValues(forKeys: ["lastName"])["lastName"] as? String == "Byron")
        }
    }

    @Test
    func
        `F16 a new object's changes are compared with the defaults, and it has no committed values`()
        throws
    {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            ada.lastName = "Byron"

            #expect(ada.changedValues().keys.sorted() == ["lastName"])
            let committed = ada.committedValues(forKeys: ["lastName", "grade"])
            #expect(committed.keys.sorted() == ["grade", "lastName"])
            #expect(committed.values.allSatisfy { $0 == nil })
        }
    }

    @Test func `F16 relationships are among the changed and committed values`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            let old = Department(context: context)
            old.name = "Old"
            let new = Department(context: context)
            new.name = "New"
            ada.department = old
            try context.save()

            ada.department = new

            #expect(ada.changedValues()["department"] as? Department === new)
            #expect(ada.committedValues()["department"] as? Department === old)
            #expect(old.changedValues()["employees"] as? [ManagedObject] == [])
            #expect(old.committedValues()["employees"] as? [ManagedObject] == [ada])
            #expect(new.changedValues()["employees"] as? [ManagedObject] == [ada])
            #expect(new.committedValues()["employees"] as? [ManagedObject] == [])
        }
    }

    @Test func `F16 the current event tells the values before it`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            ada.lastName = "King"
            context.processPendingChanges()

            ada.lastName = "Lovelace"
            ada.lastName = "Milbanke"
            ada.firstName = "Augusta"
            ada.firstName = "Ada"

            let changed = ada.changedValuesForCurrentEvent()
            #expect(changed.keys.sorted() == ["lastName"])
            #expect(changed["lastName"] as? String == "King")
            context.processPendingChanges()
            #expect(ada.changedValuesForCurrentEvent().isEmpty)
            #expect(ada.changedValues()["lastName"] as? String == "Milbanke")
        }
    }

    @Test func `F16 the current event tells the members before it`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            let project = Project(context: context)
            project.members = [ada]
            try context.save()

            project.members = []

            #expect(
                project.changedValuesForCurrentEvent()["members"] as? [ManagedObject] == [ada])
        }
    }

    @Test func `F17 there and back leaves an object dirty without persistent changes`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            ada.lastName = "Lovelace"
            #expect(ada.hasPersistentChangedValues)

            ada.lastName = "Byron"

            #expect(ada.hasChanges)
            #expect(!ada.hasPersistentChangedValues)
            context.processPendingChanges()
            #expect(ada.hasChanges)
            #expect(!ada.hasPersistentChangedValues)
        }
    }

    @Test func `F17 a transient change makes an object dirty and is not persistent`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)

            ada.fullName = "Ada"

            #expect(ada.hasChanges)
            #expect(!ada.hasPersistentChangedValues)
            ada.department = Department(context: context)
            #expect(ada.hasPersistentChangedValues)
        }
    }

    @Test func `F17 asking for persistent changes fires no relationship`() throws {
        let store = try StaffStore()
        let id = try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            ada.department = Department(context: context)
            try context.save()
            return ada.objectID
        }
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: id) as? Employee)
            ada.lastName = "Lovelace"

            #expect(ada.hasPersistentChangedValues)
            #expect(context.registeredObjects == [ada])
        }
    }

    @Test func `F18 a primitive value is set without a change`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)

            ada.setPrimitiveValue(.string("Quiet"), forKey: "fullName")

            #expect(ada.fullName == "Quiet")
            #expect(ada.primitiveValue(forKey: "fullName") == .string("Quiet"))
            #expect(!ada.hasChanges)
            #expect(!context.hasChanges)
            context.refresh(ada, mergeChanges: false)
            #expect(ada.primitiveValue(forKey: "lastName") == .null)
            #expect(ada.isFault)
        }
    }

    @Test func `F19 the committed value stays the first until the save`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = try savedEmployee(in: context)
            ada.salary = 123_456
            try context.save()
            func committed() -> Decimal? {
                ada.committedValues(forKeys: ["salary"])["salary"] as? Decimal
            }

            ada.salary = 101
            #expect(committed() == 123_456)
            context.processPendingChanges()
            ada.salary = 202
            #expect(committed() == 123_456)
            try context.save()

            #expect(committed() == 202)
        }
    }

    @Test func `F21 what is not modelled makes no object dirty`() throws {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            try context.save()

            diary.log.append("noted")

            #expect(!diary.hasChanges)
            #expect(!context.hasChanges)
        }
    }

    @Test func `F22 editing a coded value in place is a change, setting an equal one is not`()
        throws
    {
        let store = try ClassStore(diaries)
        try store.inContext { (context) throws in
            let diary = Diary(context: context)
            diary.tags = Tags(names: ["a"])
            try context.save()

            diary.tags = Tags(names: ["a"])
            #expect(!diary.hasChanges)
            diary.tags.names.append("b")

            #expect(diary.hasPersistentChangedValues)
            #expect(diary.changedValues().keys.sorted() == ["tags"])
        }
    }

    private func savedEmployee(in context: ManagedObjectContext) throws -> Employee {
        let ada = Employee(context: context)
        ada.firstName = "Ada"
        ada.lastName = "Byron"
        ada.salary = 12
        try context.save()
        return ada
    }
}
