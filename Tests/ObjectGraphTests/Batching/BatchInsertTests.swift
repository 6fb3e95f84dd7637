import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// A class that records whether an instance was ever made.
private final class Reading: ManagedObject {
    @Attribute(.unique) var code: String
    @Attribute(.indexed, rules: [.minimum(0), .maximum(100)]) var level: Int = 50
    @Attribute var remark: String?
    @Attribute var takenAt: Date?
    @Transient var text: String?

    override func awakeFromInsert() {
        remark = "awake"
    }

    override func validateForInsert() throws {
        throw ValidationFailure(.invalid, "The hook refuses everything.")
    }
}

private func makeReadings() throws -> (TemporaryDirectory, PersistentContainer) {
    let folder = try TemporaryDirectory()
    let url = folder.url.appendingPathComponent("readings.daybook")
    return (folder, try TestContainer.make(url, model: [Reading.self]))
}

extension PersistentContainer {
    /// Runs `body` in a new context on its queue.
    @discardableResult
    fileprivate func inContext<Result>(
        _ body: (ManagedObjectContext) throws -> Result
    ) throws -> Result {
        let context = newBackgroundContext()
        return try context.performAndWait { try body(context) }
    }

    /// The stored values of each reading.
    fileprivate func readings() throws -> [String: Int] {
        try inContext { (context) throws in
            let found = try context.fetch(FetchRequest<Reading>())
            return Dictionary(found.map { ($0.code, $0.level) }) { first, _ in first }
        }
    }
}

@Suite struct BatchInsertTests {
    // MARK: - Inserted rows

    @Test func `a batch becomes one entry with author, note and time, and no hook is called`()
        throws
    {
        let (folder, container) = try makeReadings()
        let date = Date(timeIntervalSince1970: 1_000_000)

        let result = try container.inContext { (context) throws in
            context.name = "import"
            let request = BatchInsertRequest<Reading>(0..<3) { number, row in
                row[\.code] = "R\(number)"
                row[\.level] = number
            }
            return try context.execute(request, author: "ada", note: "First load", at: date)
        }

        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let entry = try store.store.entry(try #require(result.sequence))
        #expect(result.count == 3 && result.objectIDs.isEmpty)
        #expect(entry.header.kind == .batch)
        #expect(entry.header.author == "ada" && entry.header.note == "First load")
        #expect(entry.header.context == "import")
        #expect(entry.header.occurredAt == 1_000_000_000_000)
        #expect(entry.changes.count == 3)
        #expect(try store.head() == result.sequence)
        #expect(try container.readings() == ["R0": 0, "R1": 1, "R2": 2])
        try container.inContext { (context) throws in
            let remarks = try context.fetch(FetchRequest<Reading>()).map(\.remark)
            #expect(remarks == [nil, nil, nil])
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `what a row leaves out has the default, whatever the row before had set`() throws {
        let (folder, container) = try makeReadings()

        try container.inContext { (context) throws in
            try context.execute(
                BatchInsertRequest<Reading>(0..<2) { number, row in
                    #expect(row[\.level] == 50)
                    #expect(row[\.remark] == nil)
                    #expect(row["level"] == .int(50))
                    row[\.code] = "R\(number)"
                    if number == 0 {
                        row[\.level] = 7
                        row[\.remark] = "first"
                        #expect(row[\.level] == 7)
                    }
                })
        }

        #expect(try container.readings() == ["R0": 7, "R1": 50])
        withExtendedLifetime(folder) {}
    }

    @Test func `rows are asked for until the request is finished`() throws {
        let (folder, container) = try makeReadings()
        var asked: [Int] = []

        let result = try container.inContext { (context) throws in
            try context.execute(
                BatchInsertRequest<Reading> { row in
                    asked.append(row.index)
                    guard row.index < 4 else { return .finish }
                    row[\.code] = "R\(row.index)"
                    return .insert
                })
        }

        #expect(asked == [0, 1, 2, 3, 4])
        #expect(result.count == 4)
        #expect(try container.readings().count == 4)
        withExtendedLifetime(folder) {}
    }

    @Test func `dictionaries, names and key paths set the same`() throws {
        let (folder, container) = try makeReadings()
        let taken = Date(timeIntervalSinceReferenceDate: 5)

        try container.inContext { (context) throws in
            let objects: [[String: any AttributeValue]] = [
                ["code": "A", "level": 3, "takenAt": taken], ["code": "B"],
            ]
            try context.execute(BatchInsertRequest<Reading>(objects: objects))
            try context.execute(
                BatchInsertRequest<ManagedObject>(["C"], entityName: "Reading") { code, row in
                    row["code"] = .string(code)
                    row["takenAt"] = .date(taken)
                })
        }

        #expect(try container.readings() == ["A": 3, "B": 50, "C": 50])
        try container.inContext { (context) throws in
            let dates = try context.fetch(FetchRequest<Reading>()).map(\.takenAt)
            #expect(dates == [taken, nil, taken])
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `a request that is executed again inserts its elements again`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let request = BatchInsertRequest<Employee>(["Ada", "Grace"]) { name, row in
                row[\.firstName] = name
            }

            try context.execute(request)
            try context.execute(request)

            let names = try context.fetch(FetchRequest<Employee>()).map(\.firstName)
            #expect(names == ["Ada", "Grace", "Ada", "Grace"])
        }
    }

    @Test func `a batch of nothing writes no entry`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let stores = store.container.persistentStoreCoordinator.persistentStores
            let head = try stores.map { try $0.head() }

            let result = try context.execute(
                BatchInsertRequest<Employee>([Int]()) { _, _ in })

            #expect(result.sequence == nil && result.count == 0)
            let headAfter = try stores.map { try $0.head() }
            #expect(headAfter == head)
        }
    }

    @Test func `a reference leads to a saved object, and its list finds the new ones`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            try context.save()
            #expect(research.employees.isEmpty)
            var request = BatchInsertRequest<Employee>(["Ada", "Grace"]) { name, row in
                row[\.firstName] = name
                row.relate(\.department, to: research.objectID)
            }
            request.resultType = .objectIDs

            let result = try context.execute(request)

            _ = try context.mergeChanges()
            #expect(Set(research.employees.map(\.firstName)) == ["Ada", "Grace"])
            let names = result.objectIDs.map { (context.object(with: $0) as? Employee)?.firstName }
            #expect(names == ["Ada", "Grace"])
            #expect(result.objectIDs.allSatisfy { !$0.isTemporaryID })
        }
    }

    // MARK: - Refusals

    /// Executes a request that is refused, and checks that nothing was saved.
    private func refusal(
        _ code: StoreError.Code, _ fill: @escaping (inout BatchInsertRow<Reading>) -> Void
    ) throws -> StoreError {
        let (folder, container) = try makeReadings()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let head = try store.head()
        let error = try container.inContext { (context) throws in
            #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Reading>(0..<5) { number, row in
                        row[\.code] = "R\(number)"
                        if number == 2 { fill(&row) }
                    })
            }
        }
        #expect(try store.head() == head)
        withExtendedLifetime(folder) {}
        let refusal = try #require(error)
        #expect(refusal.code == code)
        return refusal
    }

    @Test func `a rule that is broken is named with row and property`() throws {
        let error = try refusal(.validation) { $0[\.level] = 101 }

        #expect(error.failures.count == 1)
        #expect(error.failures.first?.reason == .numberTooLarge)
        #expect(error.failures.first?.property == "level")
        #expect(error.message.contains("Row 3 of the batch: 'level'"))
    }

    @Test func `a value of another type and a missing one are named with row and property`() throws
    {
        let wrong = try refusal(.validation) { $0["level"] = .string("high") }
        let missing = try refusal(.validation) { $0["level"] = .null }

        #expect(wrong.failures.map(\.property) == ["level"])
        #expect(wrong.message.contains("Row 3"))
        #expect(missing.failures.map(\.reason) == [.missing])
        #expect(missing.message.contains("Row 3"))
    }

    @Test func `a property that does not exist or is not stored is named`() throws {
        let unknown = try refusal(.validation) { $0["levle"] = .int(1) }
        let transient = try refusal(.validation) { $0[\.text] = "gone" }
        let relationship = try refusal(.validation) { $0.relate("owner", to: nil) }

        #expect(unknown.message.contains("Row 3") && unknown.message.contains("'levle'"))
        #expect(transient.message.contains("Row 3") && transient.message.contains("'text'"))
        #expect(relationship.message.contains("'owner'"))
    }

    @Test func `everything that is wrong with a row is reported, and with the other rows`() throws {
        let (folder, container) = try makeReadings()
        var asked: [Int] = []

        let error = try container.inContext { (context) throws in
            #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Reading>(0..<4) { number, row in
                        asked.append(row.index)
                        row[\.code] = "R\(number)"
                        if number == 0 { row[\.level] = 101 }
                        if number == 2 {
                            row["levle"] = .int(1)
                            row[\.text] = "gone"
                            row[\.level] = -1
                        }
                        if number == 3 { row.relate("owner", to: nil) }
                    })
            }
        }

        #expect(asked == [0, 1, 2, 3])
        let failures = try #require(error).failures
        #expect(failures.map(\.property) == ["level", "levle", "text", "level", "owner"])
        #expect(
            failures.map(\.reason)
                == [.numberTooLarge, .invalid, .invalid, .numberTooSmall, .invalid])
        let rows = [1, 3, 3, 3, 4]
        #expect(
            zip(failures, rows).allSatisfy { $0.message.hasPrefix("Row \($1) of the batch: '") },
            "\(failures.map(\.message))")
        #expect(try container.readings().isEmpty)
        withExtendedLifetime(folder) {}
    }

    @Test func `no more rows are asked for after a hundred that cannot be filled`() throws {
        let (folder, container) = try makeReadings()
        var count = 0

        let error = try container.inContext { (context) throws in
            #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Reading>(0..<5_000) { number, row in
                        count += 1
                        row[\.code] = "R\(number)"
                        if !number.isMultiple(of: 2) { row["levle"] = .int(1) }
                    })
            }
        }

        #expect(count == 200)
        #expect(error?.failures.count == 100)
        #expect(error?.failures.last?.message.hasPrefix("Row 200 of the batch: ") == true)
        withExtendedLifetime(folder) {}
    }

    @Test func `a value that must be unique is refused within the batch`() throws {
        let error = try refusal(.duplicate) { $0[\.code] = "R0" }

        #expect(error.message.contains("1, 3") && error.message.contains("'code'"))
    }

    @Test func `what the closure throws ends the batch and reaches the caller`() throws {
        struct Unreadable: Error {}
        let store = try StaffStore()
        try store.inContext { (context) throws in
            #expect(throws: Unreadable.self) {
                try context.execute(
                    BatchInsertRequest<Employee>(0..<3) { number, row in
                        if number == 2 { throw Unreadable() }
                        row[\.firstName] = "Ada"
                    })
            }
            #expect(try context.count(FetchRequest<Employee>()) == 0)
        }
    }

    @Test func `a to-many relationship and one kept at its other end are refused`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            try context.save()
            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Department>(0..<1) { _, row in
                        row[\.name] = "Sales"
                        row.relate("employees", to: research.objectID)
                    })
            }
            #expect(error?.code == .validation)
            #expect(error?.message.contains("'employees'") == true)
        }
    }

    @Test func `a relationship that is its own inverse is refused`() throws {
        let store = try ClubStore()
        try store.inContext { (context) throws in
            let bob = Player(context: context)
            bob.name = "Bob"
            try context.save()
            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Player>(0..<1) { _, row in
                        row[\.name] = "Ann"
                        row.relate("partner", to: bob.objectID)
                    })
            }
            #expect(error?.code == .validation)
            #expect(error?.message.contains("its own inverse") == true)
            #expect(try context.count(FetchRequest<Player>()) == 1)
        }
    }

    @Test func `a row that a policy of the program's own drops is not counted`() throws {
        struct Yielding: CustomMergePolicy {
            func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
                for index in conflicts.indices { conflicts[index].resolve(with: .theirs) }
            }
        }
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            try context.save()
            let gone = research.objectID
            context.delete(research)
            try context.save()
            context.customMergePolicy = Yielding()
            var request = BatchInsertRequest<Employee>(0..<2) { number, row in
                row[\.firstName] = "Row \(number)"
                if number == 1 { row.relate(\.department, to: gone) }
            }
            request.resultType = .objectIDs

            let result = try context.execute(request)

            let employees = try context.fetch(FetchRequest<Employee>())
            #expect(employees.map(\.firstName) == ["Row 0"])
            #expect(result.count == 1)
            #expect(result.objectIDs == employees.map(\.objectID))
        }
    }

    @Test func `each row that leads to an object that is gone is named`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            try context.save()
            let gone = research.objectID
            context.delete(research)
            try context.save()

            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Employee>(0..<5) { number, row in
                        if number % 2 == 1 { row.relate(\.department, to: gone) }
                    })
            }

            #expect(error?.code == .conflict)
            #expect(
                error?.details
                    == [2, 4].map {
                        "Row \($0) of the batch: 'department' leads to an object that is gone."
                    })
        }
    }

    @Test func `a row that leads to what another object holds alone says so`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let ada = Employee(context: context)
            Desk(context: context).occupant = ada
            try context.save()

            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Desk>(0..<1) { _, row in
                        row.relate(\.occupant, to: ada.objectID)
                    })
            }

            #expect(error?.code == .conflict)
            #expect(
                error?.message
                    == "Nothing was saved: Row 1 of the batch: 'occupant' leads to an object that "
                    + "is gone or that another holds.")
        }
    }

    @Test func `a batch that is refused for its rows takes no numbers from the store`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let file = try #require(
                store.container.persistentStoreCoordinator.persistentStores.first
            ).store
            let before = try file.allocateObjectNumbers(1)

            #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Employee>(0..<5) { _, row in row["frstName"] = .null })
            }

            #expect(try file.allocateObjectNumbers(1) == before + 1)
        }
    }

    @Test func `what could not be set is reported once, though the property must not stay empty`()
        throws
    {
        let store = try ClassStore(motorpool)
        let other = try ClassStore(motorpool)
        let elsewhere = try other.inContext { (context) throws in
            let inspector = Inspector(context: context)
            try context.save()
            return inspector.objectID
        }
        let context = store.container.newBackgroundContext()
        try context.performAndWait { () throws in
            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<Truck>(0..<1) { _, row in
                        row[\.keeper] = "Ada"
                        row[\.seats] = 12
                        row.relate(\.inspector, to: elsewhere)
                    })
            }

            let failures = error?.failures ?? []
            #expect(failures.map(\.property) == ["inspector", "seats"], "\(failures)")
        }
    }

    @Test func `a policy of the program's own settles each of many rows`() throws {
        struct Sorting: CustomMergePolicy {
            func resolve(optimisticLockingConflicts conflicts: inout [ObjectConflict]) {
                for index in conflicts.indices {
                    guard case .string(let name)? = conflicts[index].ours["firstName"] else {
                        continue
                    }
                    if name.hasSuffix("0") {
                        conflicts[index].resolve(with: .theirs)
                    } else {
                        conflicts[index].resolve("department", with: .value(.null))
                    }
                }
            }
        }
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let research = Department(context: context)
            research.name = "Research"
            try context.save()
            let gone = research.objectID
            context.delete(research)
            try context.save()
            context.customMergePolicy = Sorting()
            var request = BatchInsertRequest<Employee>(0..<300) { number, row in
                row[\.firstName] = "Row \(number)"
                if number % 3 != 0 { row.relate(\.department, to: gone) }
            }
            request.resultType = .objectIDs

            let result = try context.execute(request)

            let expected = (0..<300).filter { $0 % 3 == 0 || $0 % 10 != 0 }.map { "Row \($0)" }
            let names = result.objectIDs.map { (context.object(with: $0) as? Employee)?.firstName }
            #expect(names == expected)
            #expect(result.count == expected.count)
            let employees = try context.fetch(FetchRequest<Employee>())
            #expect(employees.allSatisfy { $0.department == nil })
        }
    }

    @Test func `an object of another entity or that is gone cannot be referred to`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            let desk = Desk(context: context)
            let research = Department(context: context)
            research.name = "Research"
            try context.save()
            let gone = research.objectID
            context.delete(research)
            try context.save()

            func insert(_ id: ManagedObjectID) throws {
                try context.execute(
                    BatchInsertRequest<Employee>(0..<1) { _, row in
                        row.relate(\.department, to: id)
                    })
            }

            let wrong = #expect(throws: StoreError.self) { try insert(desk.objectID) }
            let missing = #expect(throws: StoreError.self) { try insert(gone) }
            #expect(wrong?.code == .validation)
            #expect(wrong?.failures.map(\.property) == ["department"])
            #expect(missing?.code == .conflict)
            #expect(missing?.conflicts.map(\.kind) == [.reference])
            #expect(
                missing?.message
                    == "Nothing was saved: Row 1 of the batch: 'department' leads to an object "
                    + "that is gone.")
            #expect(try context.count(FetchRequest<Employee>()) == 0)
        }
    }

    @Test func `an unknown entity and a context in the past are refused`() throws {
        let store = try StaffStore()
        let past = try store.container.context(at: .head)
        try store.inContext { (context) throws in
            let error = #expect(throws: StoreError.self) {
                try context.execute(
                    BatchInsertRequest<ManagedObject>(entityName: "Ghost") { _ in .finish })
            }
            #expect(error?.code == .noSuchEntity)
        }
        past.performAndWait {
            let error = #expect(throws: StoreError.self) {
                try past.execute(BatchInsertRequest<Employee>(0..<1) { _, _ in })
            }
            #expect(error?.code == .readOnly)
        }
    }

    // MARK: - Policies

    @Test(arguments: [
        (MergePolicy.mergeByPropertyObjectTrump, 9), (.mergeByPropertyStoreTrump, 1),
        (.rollback, 1), (.overwrite, 9),
    ])
    func `a value that is taken goes by the merge policy`(policy: MergePolicy, level: Int) throws {
        let (folder, container) = try makeReadings()
        try container.inContext { (context) throws in
            try context.execute(
                BatchInsertRequest<Reading>(0..<1) { _, row in
                    row[\.code] = "taken"
                    row[\.level] = 1
                })
        }

        let result = try container.inContext { (context) throws in
            context.mergePolicy = policy
            var request = BatchInsertRequest<Reading>(["new", "taken"]) { code, row in
                row[\.code] = code
                row[\.level] = 9
            }
            request.resultType = .objectIDs
            return try context.execute(request)
        }

        #expect(result.count == 1)
        #expect(try container.readings() == ["new": 9, "taken": level])
        try container.inContext { (context) throws in
            let codes = result.objectIDs.map { (context.object(with: $0) as? Reading)?.code }
            #expect(codes == ["new", "taken"])
        }
        withExtendedLifetime(folder) {}
    }

    @Test func `a value that is taken refuses the batch and names its row`() throws {
        let (folder, container) = try makeReadings()
        try container.inContext { (context) throws in
            let request = BatchInsertRequest<Reading>(["A"]) { code, row in row[\.code] = code }
            try context.execute(request)

            let error = #expect(throws: StoreError.self) { try context.execute(request) }

            #expect(error?.code == .duplicate)
            #expect(error?.message.contains("Row 1 of the batch: 'code'") == true)
            #expect(error?.constraintConflicts.count == 1)
        }
        #expect(try container.readings().count == 1)
        withExtendedLifetime(folder) {}
    }

    // MARK: - Other contexts

    @Test func `pending changes stay pending, and a child inserts past its parent`() throws {
        let store = try StaffStore()
        let parent = store.context("parent")
        try parent.performAndWait { () throws in
            let pending = Employee(context: parent)
            pending.firstName = "Pending"
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                _ = try child.execute(
                    BatchInsertRequest<Employee>(["Ada"]) { name, row in row[\.firstName] = name })
            }
            #expect(parent.hasChanges && pending.isInserted)
        }
        try store.inContext { (context) throws in
            #expect(try context.fetch(FetchRequest<Employee>()).map(\.firstName) == ["Ada"])
        }
    }

    @Test func `contexts learn of a batch by merging, and get the new objects`() throws {
        let store = try StaffStore()
        let follower = store.context("follower")
        try follower.performAndWait { () throws in
            _ = try follower.fetch(FetchRequest<Employee>())
        }
        var request = BatchInsertRequest<Employee>(["Ada"]) { name, row in row[\.firstName] = name }
        request.resultType = .objectIDs
        let result = try store.inContext { try $0.execute(request) }
        let inbox = Inbox(.managedObjectContextObjectsDidChange, of: follower)

        try follower.performAndWait { () throws in
            let ada = follower.object(with: try #require(result.objectIDs.first))
            _ = try follower.mergeChanges()
            #expect(inbox.notifications.count == 1)
            let told = inbox.notifications.first?.userInfo?.values.contains { value in
                (value as? Set<ManagedObject>)?.contains { $0 === ada } == true
            }
            #expect(told == true)
        }
    }

    @Test func `a batch is undone like any entry`() throws {
        let store = try StaffStore()
        let result = try store.inContext { (context) throws in
            try context.execute(
                BatchInsertRequest<Employee>(["Ada", "Grace"]) { name, row in
                    row[\.firstName] = name
                })
        }

        let outcome = try store.container.undo(try #require(result.sequence))

        #expect(outcome.deletedObjectIDs.count == 2)
        try store.inContext { (context) throws in
            #expect(try context.count(FetchRequest<Employee>()) == 0)
        }
    }

    @Test func `objects made after a batch have numbers of their own`() throws {
        let store = try StaffStore()
        try store.inContext { (context) throws in
            var request = BatchInsertRequest<Employee>(0..<5_000) { _, _ in }
            request.resultType = .objectIDs
            let first = Employee(context: context)
            let batch = try context.execute(request)
            let second = Employee(context: context)
            try context.save()
            let numbers = (batch.objectIDs + [first.objectID, second.objectID]).map(\.object.number)
            #expect(Set(numbers).count == 5_002)
            #expect(try context.count(FetchRequest<Employee>()) == 5_002)
        }
    }
}
