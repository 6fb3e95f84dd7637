import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

/// The two sides of a relationship follow each other; and the definition of an edit.
@Suite struct CoreDataRelationshipTests {
    @Test func `F20 setting either side of a relationship sets the other`() throws {
        let store = try CompanyStore()
        try store.inContext { (context) throws in
            let ada = Company.Employee(context: context)
            let grace = Company.Employee(context: context)
            let engines = Company.Department(context: context)

            ada.department = engines
            #expect(engines.employees == [ada])
            engines.employees = [grace]

            #expect(ada.department == nil)
            #expect(grace.department === engines)
            engines.employees.insert(ada)
            #expect(ada.department === engines)
            grace.department = nil
            #expect(engines.employees == [ada])
        }
    }

    @Test func `F20 a move between owners shows in all three objects`() throws {
        let store = try CompanyStore()
        let ids = try ["Engines", "Sales"].map { try store.addDepartment($0) }
        let id = try store.addEmployee("Ada", "Lovelace", in: ids[0])
        try store.inContext { (context) throws in
            let (engines, sales) = (try context.department(ids[0]), try context.department(ids[1]))
            let ada = try context.employee(id)

            ada.department = sales

            #expect(engines.employees.isEmpty)
            #expect(sales.employees == [ada])
            #expect(ada.isUpdated)
            try context.save()
        }
        try store.inContext { (context) throws in
            #expect(try context.department(ids[0]).employees.isEmpty)
            #expect(try context.department(ids[1]).employees.map(\.objectID) == [id])
        }
    }

    @Test
    func `F20 a relationship set in awakeFromFetch is not an edit and leaves the other side alone`()
        throws
    {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("choir.daybook"), model: [Choir.self, Singer.self])
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let choir = Choir(context: context)
            _ = Singer(context: context)
            try context.save()
            #expect(choir.singers.isEmpty)
            context.refreshAllObjects()
        }
        let other = container.newBackgroundContext()
        try other.performAndWait { () throws in
            let choir = try #require(try other.fetch(FetchRequest<Choir>()).first)
            let singer = try #require(try other.fetch(FetchRequest<Singer>()).first)

            #expect(singer.name == "")

            #expect(singer.wasAwakened)
            #expect(singer.choir === choir)
            #expect(choir.singers.isEmpty)
            #expect(!singer.hasChanges)
            #expect(!choir.hasChanges)
            #expect(!other.hasChanges)
            #expect(try other.save() == nil)
        }
    }

    @Test func `F22 a codable value changed in place or set to an equal one is not an edit`() throws
    {
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("notes.daybook"), model: [Notebook.self])
        let context = container.newBackgroundContext()
        try context.performAndWait { () throws in
            let notebook = Notebook(context: context)
            notebook.page = NotebookPage(lines: ["first"])
            try context.save()

            notebook.page.lines.append("second")
            #expect(!context.hasChanges)
            #expect(try context.save() == nil)
            notebook.page = NotebookPage(lines: ["first"])

            #expect(!notebook.isUpdated)
            #expect(try context.save() == nil)
        }
        let other = container.newBackgroundContext()
        try other.performAndWait { () throws in
            let notebooks = try other.fetch(FetchRequest<Notebook>())
            #expect(notebooks.map(\.page.lines) == [["first"]])
        }
    }
}

private final class Choir: ManagedObject {
    @Attribute var name: String = ""
    @Relationship var singers: Set<Singer>
}

private final class Singer: ManagedObject {
    @Attribute var name: String = ""
    @Relationship(inverse: \Choir.singers) var choir: Choir?
    var wasAwakened = false

    /// Joins the first existing choir.
    override func awakeFromFetch() {
        wasAwakened = true
        let choirs = managedObjectContext?.registeredObjects.compactMap { $0 as? Choir } ?? []
        choir = choirs.first
    }
}

private final class Notebook: ManagedObject {
    @Attribute var page: NotebookPage = NotebookPage(lines: [])
}

/// A value that is a reference, so that it can be changed without being set.
private final class NotebookPage: CodableAttributeValue {
    var lines: [String]

    init(lines: [String]) {
        self.lines = lines
    }
}
