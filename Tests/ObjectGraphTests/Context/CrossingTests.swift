import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Values that cross threads.
@Suite struct CrossingTests {
    private func crosses<Value: Sendable>(_ type: Value.Type) -> Bool { true }

    @Test func `what describes a request or a save is Sendable`() {
        #expect(crosses(FetchRequest<Employee>.self))
        #expect(crosses(Condition<Employee>.self))
        #expect(crosses(FetchOrder<Employee>.self))
        #expect(crosses(AttributeRule<Int>.self))
        #expect(crosses(SavePreview.self))
        #expect(crosses(ValidationFailure.self))
        #expect(crosses(MergeConflict.self))
        #expect(crosses(ConstraintConflict.self))
        #expect(crosses(ObjectConflict.self))
        #expect(crosses(QueryGenerationToken.self))
        #expect(crosses(ObjectRevision.self))
        #expect(crosses(BatchInsertResult.self))
        #expect(crosses(PersistentStoreMetadata.self))
        #expect(crosses(PersistentStoreDescription.self))
        #expect(crosses(StoreError.self))
        #expect(crosses(QueryError.self))
        #expect(crosses(ManagedObjectID.self))
        #expect(crosses(ManagedObjectModel.self))
    }

    @Test func `a request that was made on one thread is carried out on others`() async throws {
        let store = try StaffStore()
        let (first, second) = (store.context(), store.context())
        let id = try await first.perform {
            let research = Department(context: first)
            research.name = "Research"
            let ada = Employee(context: first)
            ada.lastName = "Lovelace"
            ada.department = research
            try first.save()
            return research.objectID
        }
        let condition = try await first.perform {
            \Employee.department == (try first.existingObject(with: id) as? Department)
                && (\Employee.lastName).isIn(["Lovelace"])
        }
        var request = FetchRequest<Employee>(where: condition)
        request.order = [.ascending(\Employee.lastName)]
        request.affectedStores = store.container.persistentStoreCoordinator.persistentStores

        let sent = request
        async let here = first.perform { try first.count(sent) }
        async let there = second.perform { try second.count(sent) }

        #expect(try await [here, there] == [1, 1])
    }
}
