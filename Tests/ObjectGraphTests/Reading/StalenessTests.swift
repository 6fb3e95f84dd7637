import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Two stacks on one file, as independent as two processes.
private struct TwoStacks {
    let store: StaffStore
    let other: PersistentContainer

    init() throws {
        store = try StaffStore()
        other = try TestContainer.make(store.url, model: staff)
    }

    func renameElsewhere(_ id: ManagedObjectID, _ name: String) throws {
        let context = other.newBackgroundContext()
        try context.performAndWait {
            let employee = try #require(try context.existingObject(with: id) as? Employee)
            employee.lastName = name
            try context.save()
        }
    }
}

@Suite struct StalenessTests {
    @Test func `S17 S61 a row that another context keeps serves a fault without a read`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        let background = store.context("background")
        let kept = try background.performAndWait { () throws in
            try ids.map { try background.existingObject(with: $0) }
        }
        try store.inContext { (context) throws in
            let employees = ids.compactMap { context.object(with: $0) as? Employee }
            #expect(employees.allSatisfy { $0.isFault })
            let before = store.readCount

            #expect(employees.map(\.firstName) == ["Ada", "Grace"])

            #expect(store.readCount == before)
        }
        withExtendedLifetime(kept) {}
    }

    @Test(arguments: [false, true])
    func `S17 S61 rows that were fetched together serve the faults of another context`(
        areFaults: Bool
    ) throws {
        let store = try StaffStore()
        let ids = try store.hire((1...200).map { "Employee \($0)" })
        let background = store.context("background")
        var kept = try background.performAndWait { () throws in
            var request = FetchRequest<Employee>()
            request.returnsObjectsAsFaults = areFaults
            request.includesPropertyValues = true
            return try background.fetch(request)
        }
        #expect(kept.count == 200)
        try store.inContext { (context) throws in
            let employees = ids.compactMap { context.object(with: $0) as? Employee }
            let before = store.readCount

            #expect(employees.map(\.firstName) == (1...200).map { "Employee \($0)" })

            #expect(store.readCount == before)
        }
        background.performAndWait { kept = [] }
        try store.inContext { (context) throws in
            let before = store.readCount

            _ = try context.existingObject(with: ids[100])

            #expect(store.readCount == before + 1)
        }
    }

    @Test
    func `S17 S61 rows serve others as long as one of two that fetched them keeps its objects`()
        throws
    {
        let store = try StaffStore()
        let ids = try store.hire((1...200).map { "Employee \($0)" })
        var request = FetchRequest<Employee>()
        request.returnsObjectsAsFaults = false
        let keeping = store.context("keeping")
        let kept = try keeping.performAndWait { try keeping.fetch(request) }
        #expect(try store.inContext { try $0.fetch(request).count } == 200)
        try store.inContext { (context) throws in
            let employees = ids.compactMap { context.object(with: $0) as? Employee }
            let before = store.readCount

            #expect(employees.map(\.firstName) == (1...200).map { "Employee \($0)" })

            #expect(store.readCount == before)
        }
        withExtendedLifetime(kept) {}
    }

    @Test func `F80 of what was fetched together nothing is served that was saved since`() throws {
        let store = try StaffStore()
        let ids = try store.hire((1...100).map { "Employee \($0)" })
        let keeping = store.context("keeping")
        var request = FetchRequest<Employee>()
        request.returnsObjectsAsFaults = false
        let kept = try keeping.performAndWait { try keeping.fetch(request) }
        try store.rename(ids[50], "Lovelace")
        try store.inContext { (context) throws in
            let employees = ids.compactMap { context.object(with: $0) as? Employee }
            let before = store.readCount

            let names = employees.map(\.lastName)

            #expect(names[50] == "Lovelace")
            #expect(names.filter { $0 == "of Marketing" }.count == 99)
            #expect(store.readCount == before + 1)
        }
        #expect(keeping.performAndWait { kept.count { $0.lastName == "of Marketing" } } == 100)
    }

    @Test func `S45 what a parent has in memory is never read again, whatever the interval`() throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let root = store.context("root")
        let child = ManagedObjectContext(parent: root)
        let kept = try root.performAndWait { try root.existingObject(with: ids[0]) }
        try child.performAndWait { () throws in
            child.stalenessInterval = 0
            let before = store.readCount

            let ada = try #require(try child.existingObject(with: ids[0]) as? Employee)
            child.refresh(ada, mergeChanges: false)

            #expect(ada.firstName == "Ada")
            #expect(store.readCount == before)
        }
        withExtendedLifetime(kept) {}
    }

    @Test func `S17 a row that nobody keeps is read again`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (background) throws in
            _ = try background.existingObject(with: ids[0])
        }
        try store.inContext { (context) throws in
            let before = store.readCount

            _ = try context.existingObject(with: ids[0])

            #expect(store.readCount == before + 1)
        }
    }

    @Test func `S36 WE1 two-context fetch: a fetch leaves edits and values in memory alone`()
        throws
    {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (first) throws in
            let employees = try first.fetch(FetchRequest<Employee>())
            let ada = try #require(employees.first { $0.objectID == ids[0] })
            let grace = try #require(employees.first { $0.objectID == ids[1] })
            ada.lastName = "Byron"
            #expect(grace.lastName == "of Marketing")
            try store.rename(ids[0], "Lovelace")
            try store.rename(ids[1], "Hopper")

            let again = try first.fetch(FetchRequest<Employee>())

            #expect(Set(again) == Set(employees))
            #expect(ada.lastName == "Byron")
            #expect(grace.lastName == "of Marketing")
        }
    }

    @Test func `S37 S38 F77 a merging refresh keeps edits and takes everything else`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            ada.firstName = "Augusta"
            ada.lastName = "Byron"
            try store.inContext { (other) throws in
                let twin = try #require(try other.existingObject(with: ids[0]) as? Employee)
                twin.lastName = "Lovelace"
                twin.salary = 100
                try other.save()
            }

            context.refresh(ada, mergeChanges: true)

            #expect(ada.firstName == "Augusta")
            #expect(ada.lastName == "Byron")
            #expect(ada.salary == 100)
            #expect(ada.isUpdated)
        }
    }

    @Test func `S39 S40 S41 a refresh that drops makes a fault without values`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            weak let department = ada.department
            #expect(department != nil)
            ada.lastName = "Byron"
            try store.rename(ids[0], "Lovelace")

            context.refresh(ada, mergeChanges: false)

            #expect(ada.isFault)
            #expect(ada.values.isEmpty)
            #expect(department == nil)
            #expect(!context.hasChanges)
            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test(arguments: [true, false])
    func `S42 two stacks differ until a refresh brings the store's values`(
        isMerging: Bool
    ) throws {
        let stacks = try TwoStacks()
        let ids = try stacks.store.hire(["Ada"])
        try stacks.store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            try stacks.renameElsewhere(ids[0], "Lovelace")
            #expect(ada.lastName == "of Marketing")

            context.refresh(ada, mergeChanges: isMerging)

            #expect(ada.lastName == "Lovelace")
        }
    }

    @Test func `S42 a refresh renews the row that others are served`() throws {
        let stacks = try TwoStacks()
        let ids = try stacks.store.hire(["Ada"])
        let keeping = stacks.store.context("keeping")
        let second = stacks.store.context("second")
        try keeping.performAndWait { () throws in
            let kept = try keeping.existingObject(with: ids[0])
            try stacks.renameElsewhere(ids[0], "Lovelace")

            keeping.refresh(kept, mergeChanges: true)

            try second.performAndWait { () throws in
                let ada = try #require(try second.existingObject(with: ids[0]) as? Employee)
                #expect(ada.lastName == "Lovelace")
            }
        }
    }

    @Test(arguments: [true, false])
    func `S42 what a refresh has brought stays when its object goes and those fetched with it stay`(
        isReadElsewhere: Bool
    ) throws {
        let stacks = try TwoStacks()
        let ids = try stacks.store.hire((1...6).map { "Employee \($0)" })
        let keeping = stacks.store.context("keeping")
        let second = stacks.store.context("second")
        try keeping.performAndWait { () throws in
            var request = FetchRequest<Employee>()
            request.returnsObjectsAsFaults = false
            var kept = try keeping.fetch(request)
            let index = try #require(kept.firstIndex { $0.objectID == ids[0] })
            try stacks.renameElsewhere(ids[0], "Lovelace")
            keeping.refresh(kept[index], mergeChanges: true)
            #expect(kept[index].lastName == "Lovelace")

            kept.remove(at: index)

            #expect(keeping.registeredObject(for: ids[0]) == nil)
            let reader = isReadElsewhere ? second : keeping
            let name = reader.performAndWait {
                (reader.object(with: ids[0]) as? Employee)?.lastName
            }
            #expect(name == "Lovelace")
            withExtendedLifetime(kept) {}
        }
    }

    @Test func `S43 S44 F80 the interval says how old a shared row may be`() throws {
        let stacks = try TwoStacks()
        let ids = try stacks.store.hire(["Ada"])
        let now = Atomic<Int64>(1_000_000)
        let rows = stacks.store.container.persistentStoreCoordinator.rows
        rows.setClock { now.load(ordering: .relaxed) }
        let keeping = stacks.store.context("keeping")
        let readers = ["early", "late"].map { stacks.store.context($0) }
        for reader in readers { reader.performAndWait { reader.stalenessInterval = 10 } }
        try keeping.performAndWait { () throws in
            let kept = try #require(try keeping.existingObject(with: ids[0]) as? Employee)
            try stacks.renameElsewhere(ids[0], "Lovelace")
            var seen: [String] = []
            for (reader, time) in zip(readers, [10_999_999, 11_000_000] as [Int64]) {
                now.store(time, ordering: .relaxed)
                try reader.performAndWait { () throws in
                    let ada = try #require(try reader.existingObject(with: ids[0]) as? Employee)
                    seen.append(ada.lastName)
                }
            }

            #expect(seen == ["of Marketing", "Lovelace"])
            #expect(kept.lastName == "of Marketing")
        }
    }

    @Test(arguments: [(-1.0, 0), (0.0, 1)])
    func `F80 a negative interval never reads again and zero always does`(
        interval: Double, reads: Int
    ) throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let keeping = store.context("keeping")
        let second = store.context("second")
        try keeping.performAndWait { () throws in
            let kept = try keeping.existingObject(with: ids[0])
            try second.performAndWait { () throws in
                second.stalenessInterval = interval
                let before = store.readCount

                _ = try second.existingObject(with: ids[0])

                #expect(store.readCount == before + reads)
            }
            withExtendedLifetime(kept) {}
        }
    }

    @Test func `F80 what is saved in the same stack is never served as it was`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let keeping = store.context("keeping")
        try keeping.performAndWait { () throws in
            let kept = try #require(try keeping.existingObject(with: ids[0]) as? Employee)
            try store.rename(ids[0], "Lovelace")

            try store.inContext { (context) throws in
                let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
                #expect(ada.lastName == "Lovelace")
            }
            #expect(kept.lastName == "of Marketing")
        }
    }

    @Test func `F80 a context never reads a row older than what it has merged`() throws {
        let stacks = try TwoStacks()
        let ids = try stacks.store.hire(["Ada"])
        let keeping = stacks.store.context("keeping")
        let second = stacks.store.context("second")
        try keeping.performAndWait { () throws in
            let kept = try keeping.existingObject(with: ids[0])
            try stacks.renameElsewhere(ids[0], "Lovelace")
            try second.performAndWait { () throws in
                _ = try second.mergeChanges()

                let ada = try #require(try second.existingObject(with: ids[0]) as? Employee)

                #expect(ada.lastName == "Lovelace")
            }
            withExtendedLifetime(kept) {}
        }
    }

    @Test func `F80 a context that is held to a generation is served no shared row`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada"])
        let pinned = store.context("pinned")
        try pinned.performAndWait { () throws in
            try pinned.setQueryGeneration(from: .current)
            #expect(try pinned.count(FetchRequest<Employee>()) == 1)
        }
        try store.rename(ids[0], "Lovelace")
        try store.inContext { (keeping) throws in
            let kept = try keeping.existingObject(with: ids[0])
            try pinned.performAndWait { () throws in
                let ada = try #require(try pinned.existingObject(with: ids[0]) as? Employee)

                #expect(ada.lastName == "of Marketing")
            }
            withExtendedLifetime(kept) {}
        }
    }

    @Test func `F76 refreshing all keeps edited objects and makes the others faults`() throws {
        let store = try StaffStore()
        let ids = try store.hire(["Ada", "Grace"])
        try store.inContext { (context) throws in
            let ada = try #require(try context.existingObject(with: ids[0]) as? Employee)
            let grace = try #require(try context.existingObject(with: ids[1]) as? Employee)
            let new = Employee(context: context)
            ada.lastName = "Byron"
            try store.rename(ids[1], "Hopper")

            context.refreshAllObjects()

            #expect(!ada.isFault && ada.lastName == "Byron" && ada.isUpdated)
            #expect(grace.isFault && grace.lastName == "Hopper")
            #expect(new.isInserted && !new.isFault)
        }
    }
}
