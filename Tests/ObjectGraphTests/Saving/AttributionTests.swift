import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

@testable import DaybookObjectGraph

/// The author of an entry that holds children's saves into a context.
@Suite struct AttributionTests {
    private let store: StaffStore
    private let parent: ManagedObjectContext

    init() throws {
        store = try StaffStore()
        parent = store.context()
    }

    /// Saves a new employee into the parent under an author's name.
    @discardableResult
    private func hire(_ name: String, by author: String) throws -> ManagedObjectID {
        let child = ManagedObjectContext(parent: parent)
        return try child.performAndWait { () throws in
            let employee = Employee(context: child)
            employee.lastName = name
            try child.save(author: author, note: "By \(author)")
            return employee.objectID
        }
    }

    /// Saves the parent without an author.
    private func saved() throws -> EntryHeader {
        let sequence = try parent.performAndWait { () throws in try #require(try parent.save()) }
        return try store.entry(sequence).header
    }

    @Test func `rollback takes back the credit of what a child had saved`() throws {
        try hire("Byron", by: "ada")
        parent.performAndWait {
            parent.rollback()
            Employee(context: parent).lastName = "Hopper"
        }

        let header = try saved()

        #expect(header.author == nil)
        #expect(header.note == nil)
    }

    @Test func `undo of what a child saved takes its credit back, and redo gives it again`() throws
    {
        try hire("Byron", by: "ada")
        try hire("Turing", by: "alan")
        parent.performAndWait { parent.undo() }
        #expect(try saved().author == "ada")

        try hire("Babbage", by: "charles")
        try hire("Turing", by: "alan")
        parent.performAndWait {
            parent.undo()
            parent.undo()
            parent.redo()
        }
        #expect(try saved().author == "charles")
    }

    @Test func `what was undone is not credited because its object is edited by somebody else`()
        throws
    {
        let id = try hire("Byron", by: "ada")
        _ = try saved()
        let child = ManagedObjectContext(parent: parent)
        try child.performAndWait { () throws in
            (try child.existingObject(with: id) as? Employee)?.firstName = "Alan"
            try child.save(author: "alan")
        }
        try parent.performAndWait { () throws in
            parent.undo()
            (try parent.existingObject(with: id) as? Employee)?.firstName = "Ada"
        }

        #expect(try saved().author == nil)
    }

    @Test func `a refresh that drops what a child saved drops its credit`() throws {
        let id = try store.inContext { (context) throws in
            let ada = Employee(context: context)
            try context.save()
            return ada.objectID
        }
        let child = ManagedObjectContext(parent: parent)
        try child.performAndWait { () throws in
            (try child.existingObject(with: id) as? Employee)?.lastName = "Byron"
            try child.save(author: "ada")
        }
        try parent.performAndWait { () throws in
            parent.refresh(try parent.existingObject(with: id), mergeChanges: false)
            Employee(context: parent).lastName = "Hopper"
        }

        #expect(try saved().author == nil)
    }

    @Test func `a child whose edits all lost is not credited`() throws {
        let id = try hire("Byron", by: "ada")
        #expect(try saved().author == "ada")
        let child = ManagedObjectContext(parent: parent)
        try child.performAndWait { () throws in
            child.mergePolicy = .mergeByPropertyStoreTrump
            let ada = try #require(try child.existingObject(with: id) as? Employee)
            _ = ada.lastName
            parent.performAndWait {
                (parent.registeredObject(for: id) as? Employee)?.lastName = "King"
                parent.processPendingChanges()
            }
            ada.lastName = "Lovelace"
            try child.save(author: "grace")
        }

        #expect(try saved().author == nil)
    }

    @Test func `rollback in the middle of a stack takes back what is credited above it`() throws {
        let middle = ManagedObjectContext(parent: parent)
        let leaf = ManagedObjectContext(parent: middle)
        try leaf.performAndWait { () throws in
            Employee(context: leaf).lastName = "Byron"
            try leaf.save(author: "ada")
        }
        try middle.performAndWait { () throws in
            middle.rollback()
            Employee(context: middle).lastName = "Hopper"
            try middle.save()
        }

        #expect(try saved().author == nil)
    }
}

extension StaffStore {
    fileprivate func entry(_ sequence: SequenceNumber) throws -> Entry {
        try container.persistentStoreCoordinator.persistentStores[0].store.entry(sequence)
    }
}
