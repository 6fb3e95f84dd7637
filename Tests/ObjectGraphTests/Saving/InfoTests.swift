import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectGraph

/// Information that saves keep with their entries, and what a model requires of them.
@Suite struct InfoTests {
    private let store: StaffStore

    init() throws {
        store = try StaffStore()
    }

    private func header(_ sequence: SequenceNumber?) throws -> EntryHeader {
        let stores = store.container.persistentStoreCoordinator.persistentStores
        return try stores[0].store.entry(try #require(sequence)).header
    }

    private func hire(
        _ name: String, in context: ManagedObjectContext, info: [String: String] = [:]
    ) throws -> SequenceNumber? {
        try context.performAndWait { () throws in
            Employee(context: context).lastName = name
            return try context.save(info: info)
        }
    }

    // MARK: - Saves

    @Test func `what a save says goes before what the context says, key by key`() throws {
        let context = store.context()
        context.performAndWait { context.info = ["request": "1", "device": "pad"] }

        let first = try hire("Byron", in: context, info: ["request": "2", "reason": "new"])
        let second = try hire("Hopper", in: context)

        #expect(
            try header(first).info == ["request": "2", "device": "pad", "reason": "new"])
        #expect(try header(second).info == ["request": "1", "device": "pad"])
    }

    @Test func `conditional saves, updates and batches keep information`() throws {
        let context = store.context()
        let info = ["request": "7"]

        let sequences = try context.performAndWait { () throws -> [SequenceNumber?] in
            Employee(context: context).lastName = "Byron"
            let none = FetchRequest<Employee>(where: \.lastName == "Byron")
            let first = try context.save(ifNone: none, info: info)
            let everybody = FetchRequest<Employee>()
            Employee(context: context).lastName = "Hopper"
            let second = try context.save(
                ifUnchanged: everybody, since: try #require(first), info: info)
            try context.update(info: info) { Employee(context: context).lastName = "Turing" }
            let third = SequenceNumber(try #require(second).rawValue + 1)
            let inserted = try context.execute(
                BatchInsertRequest<Department>(objects: [["name": "Engines"]]), info: info)
            let updated = try context.execute(
                BatchUpdateRequest<Employee>(assigning: [.set(\.firstName, to: "X")]), info: info)
            let deleted = try context.execute(
                BatchDeleteRequest<Employee>(where: \.lastName == "Turing"), info: info)
            return [first, second, third, inserted.sequence, updated.sequence, deleted.sequence]
        }

        for sequence in sequences { #expect(try header(sequence).info == info, "\(sequences)") }
        #expect(Set(sequences).count == 6)
    }

    @Test func `undo, redo and restore keep information`() throws {
        let context = store.context()
        let hired = try #require(try hire("Byron", in: context))
        let container = store.container

        let undone = try container.undo(hired, info: ["request": "1"])
        let redone = try container.redo(hired, info: ["request": "2"])
        let id = try store.inContext { context in
            let all = try context.fetch(FetchRequest<Employee>())
            let employee = try #require(all.first)
            context.delete(employee)
            try context.save()
            return employee.objectID
        }
        let restored = try container.restore(id, info: ["request": "3"])

        let sequences = [undone.entry, redone.entry, restored.entry]
        #expect(try sequences.map { try header($0).info["request"] } == ["1", "2", "3"])
    }

    @Test func `history and blame tell the information, also in words`() throws {
        let (revisions, blame) = try store.inContext { context in
            let ada = Employee(context: context)
            ada.lastName = "Byron"
            try context.save(
                author: "Ada", note: "Hired", info: ["request": "7", "why": "two words"])
            return (
                try context.history(of: ada.objectID),
                try context.blame(of: ada.objectID, property: "lastName")
            )
        }

        #expect(revisions.map(\.info) == [["request": "7", "why": "two words"]])
        #expect(blame.info == revisions[0].info)
        #expect(blame.description.hasSuffix(#": "Hired" (request=7, why="two words")"#))
        #expect(revisions[0].description.contains(#"(request=7, why="two words")"#))
    }

    // MARK: - Children

    @Test func `children's information joins that of the parent, which goes before it`() throws {
        let parent = store.context()
        parent.performAndWait { parent.info = ["device": "pad"] }
        for (name, request) in [("Byron", "1"), ("Hopper", "2"), ("Turing", "1")] {
            let child = ManagedObjectContext(parent: parent)
            _ = try hire(name, in: child, info: ["request": request, "device": "phone"])
        }

        let sequence = try parent.performAndWait { () throws in
            try parent.save(info: ["reason": "new"])
        }

        #expect(
            try header(sequence).info == ["request": "1, 2", "device": "pad", "reason": "new"])
    }

    @Test func `however many children there are, the parent can be saved`() throws {
        let parent = store.context()
        parent.performAndWait { parent.info = ["device": "pad"] }
        for number in 0..<500 {
            let child = ManagedObjectContext(parent: parent)
            let request = "request number \(1_000 + number)"
            _ = try hire(
                "\(number)", in: child, info: ["request": request, "key \(number)": "x"])
        }

        let info = try header(try parent.performAndWait { try parent.save() }).info

        #expect(info.count == 64)
        #expect(info["device"] == "pad")
        let texts = try #require(info["request"]).split(separator: ", ").map(String.init)
        #expect(try #require(info["request"]).utf8.count <= 4096)
        #expect(texts.last == "…")
        // Each takes 19 bytes and 2 between them; 4093 are left beside the mark.
        #expect(texts.dropLast() == (0..<194).map { "request number \(1_000 + $0)" })
    }

    @Test func `what is rolled back takes its information with it`() throws {
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)
        _ = try hire("Byron", in: child, info: ["request": "1"])
        parent.performAndWait { parent.rollback() }

        #expect(try header(hire("Hopper", in: parent)).info.isEmpty)
    }

    @Test func `information that cannot be kept leaves everything pending`() throws {
        let context = store.context()
        try context.performAndWait { () throws in
            Employee(context: context).lastName = "Byron"

            let error = #expect(throws: StoreError.self) { try context.save(info: ["a=b": "c"]) }

            #expect(error?.code == .information)
            #expect(context.insertedObjects.count == 1)
            #expect(try context.save(info: ["a": "b=c"]) == SequenceNumber(2))
        }
    }

    @Test func `a child's information that cannot be kept is refused by the child's save`() throws {
        let parent = store.context()
        let child = ManagedObjectContext(parent: parent)

        let error = #expect(throws: StoreError.self) {
            try hire("Byron", in: child, info: ["text": String(repeating: "x", count: 4097)])
        }

        #expect(error?.code == .information)
        #expect(child.performAndWait { child.insertedObjects.count } == 1)
        #expect(parent.performAndWait { !parent.hasChanges })
    }

    // MARK: - Requirements

    private func demanding() throws -> PersistentContainer {
        try TestContainer.make(inMemory: staff, requires: [.author, .info("request")])
    }

    @Test func `a save without what is required is refused, and nothing is lost`() throws {
        let context = try demanding().viewContext
        try context.performAndWait { () throws in
            Employee(context: context).lastName = "Byron"

            let error = #expect(throws: StoreError.self) { try context.save(author: "Ada") }

            #expect(error?.code == .attribution)
            #expect(error?.message.contains(#"the information "request""#) == true)
            #expect(context.insertedObjects.count == 1)
            #expect(try context.save(author: "Ada", info: ["request": "7"]) == SequenceNumber(2))
            #expect(!context.hasChanges)
        }
    }

    @Test func `what the context and its children say is enough`() throws {
        let parent = try demanding().viewContext
        try parent.performAndWait { () throws in
            let child = ManagedObjectContext(parent: parent)
            try child.performAndWait { () throws in
                Employee(context: child).lastName = "Byron"
                try child.save(info: ["request": "7"])
            }
            #expect(throws: StoreError.self) { try parent.save() }
            parent.author = "Ada"

            #expect(try parent.save() == SequenceNumber(2))
        }
    }

    @Test func `batches, updates and undo are held to it`() throws {
        let container = try demanding()
        let context = container.viewContext
        try context.performAndWait { () throws in
            context.author = "Ada"
            let batch = BatchInsertRequest<Department>(objects: [["name": "Engines"]])

            #expect(throws: StoreError.self) { try context.execute(batch) }
            #expect(throws: StoreError.self) {
                try context.update { Employee(context: context).lastName = "Byron" }
            }
            context.rollback()
            let done = try context.execute(batch, info: ["request": "1"])
            let entry = try #require(done.sequence)
            #expect(throws: StoreError.self) { try container.undo(entry, author: "Ada") }
            let undone = try container.undo(entry, author: "Ada", info: ["request": "2"])

            #expect(undone.entry == SequenceNumber(3))
        }
    }

    @Test func `undo in a context is saved on the same terms as anything else`() throws {
        let context = try demanding().viewContext
        try context.performAndWait { () throws in
            Employee(context: context).lastName = "Byron"
            try context.save(author: "Ada", info: ["request": "1"])
            context.undo()
            let error = #expect(throws: StoreError.self) { try context.save(author: "Ada") }
            #expect(error?.code == .attribution)

            context.info = ["request": "2"]
            #expect(try context.save(author: "Ada") == SequenceNumber(3))
        }
    }

    @Test func `an older program that restores has no note of its own where one is required`()
        throws
    {
        enum First: VersionedSchema {
            static let models: [ManagedObject.Type] = staff
        }
        enum Second: VersionedSchema {
            static let models: [ManagedObject.Type] = staff
            static let requires: Set<AttributionRequirement> = [.note]
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [First.self, Second.self]
            static let stages: [MigrationStage] = [
                .lightweight(fromVersion: First.self, toVersion: Second.self)
            ]
        }
        let id = try store.inContext { context in
            let employee = Employee(context: context)
            employee.lastName = "Byron"
            try context.save()
            context.delete(employee)
            try context.save()
            return employee.objectID
        }
        let newer = try TestContainer.make(store.url, migrationPlan: Plan.self)

        let error = #expect(throws: StoreError.self) {
            try store.container.restore(id)
        }

        #expect(error?.code == .attribution)
        _ = try store.container.restore(id, note: "Asked for")
        withExtendedLifetime(newer) {}
    }

    @Test func `the version of a plan says what it requires`() throws {
        enum First: VersionedSchema {
            static let models: [ManagedObject.Type] = staff
        }
        enum Second: VersionedSchema {
            static let models: [ManagedObject.Type] = staff
            static let requires: Set<AttributionRequirement> = [.note]
        }
        enum Plan: SchemaMigrationPlan {
            static let schemas: [any VersionedSchema.Type] = [First.self, Second.self]
            static let stages: [MigrationStage] = [
                .lightweight(
                    fromVersion: First.self, toVersion: Second.self, info: ["ticket": "12"])
            ]
        }
        let sequence = try hire("Byron", in: store.context())
        #expect(sequence == SequenceNumber(2))

        let planned = try TestContainer.make(store.url, migrationPlan: Plan.self)

        let context = planned.viewContext
        try context.performAndWait { () throws in
            Employee(context: context).lastName = "Hopper"
            #expect(throws: StoreError.self) { try context.save(author: "Ada") }
            #expect(try context.save(note: "Hired") == SequenceNumber(4))
        }
        #expect(try header(SequenceNumber(3)).info == ["ticket": "12"])
        // The other program, whose model does not have it, is held to it too.
        let error = #expect(throws: StoreError.self) {
            try hire("Turing", in: store.context())
        }
        #expect(error?.code == .attribution)
    }
}
