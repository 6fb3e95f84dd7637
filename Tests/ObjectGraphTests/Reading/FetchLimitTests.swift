import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

@Suite struct FetchLimitTests {
    /// What a request reads from.
    enum Source: CaseIterable {
        case store, overPending, child, memory, rows, twoStores
    }

    @Test(arguments: Source.allCases)
    func `a limit of 0 is none, as a batch size and an offset of 0 are`(source: Source) throws {
        let set = try source == .twoStores ? StoreSet("first", "second") : StoreSet("first")
        for store in set.coordinator.persistentStores {
            try set.hire("Babbage", "Byron", "Lovelace", in: store)
        }
        let root = set.context()
        let context = source == .child ? ManagedObjectContext(parent: root) : root
        try context.performAndWait { () throws in
            var request = FetchRequest<Employee>()
            if source == .memory {
                request = FetchRequest(
                    where: #Predicate<Employee> { !$0.isDeleted && $0.lastName.count < 20 })
            }
            #expect(try context.explain(request).contains("memory") == (source == .memory))
            if source == .rows { request.returnsObjectsAsFaults = false }
            if source == .overPending { Employee(context: context).lastName = "Turing" }
            let all = try context.fetch(request).count
            #expect(all > 1)
            request.limit = 0
            request.fetchBatchSize = 0
            request.offset = 0

            #expect(try context.fetch(request).count == all)
            #expect(try context.count(request) == all)
            request.offset = 1
            #expect(try context.fetch(request).count == all - 1)
            #expect(try context.count(request) == all - 1)
        }
    }

    @Test(arguments: [-1, Int.min])
    func `a limit below 0 is refused rather than finding nothing`(limit: Int) throws {
        let store = try StaffStore()
        try store.inContext { context in
            var request = FetchRequest<Employee>()
            request.limit = limit
            #expect(throws: QueryError.self) { try context.fetch(request) }
            #expect(throws: QueryError.self) { try context.count(request) }
        }
    }
}
