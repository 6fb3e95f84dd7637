import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples in the documentation of ``BatchInsertRequest`` and ``BatchInsertRow``.
@Suite struct BatchInsertExampleTests {
    final class Department: ManagedObject {
        @Attribute var name: String = ""
        @Relationship(inverse: \Contact.department) var contacts: Set<Contact>
    }

    final class Contact: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var age: Int = 0
        @Relationship(.nullify) var department: Department?
    }

    @MainActor @Test func `a batch goes as its documentation says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("contacts.daybook"),
            model: [Contact.self, Department.self])
        let context = container.viewContext
        let records: [(name: String, age: Int)] = [("Ada", 36), ("Grace", 85)]

        // example
        let request = BatchInsertRequest<Contact>(records) { record, row in
            row[\.name] = record.name
            row[\.age] = record.age
        }
        let result = try context.execute(request, author: "import", note: "Address book")
        // end of example

        #expect(result.count == 2)
        let ages = try context.fetch(FetchRequest<Contact>()).map { [$0.name: $0.age] }
        #expect(ages == [["Ada": 36], ["Grace": 85]])
        withExtendedLifetime(folder) {}
    }

    @MainActor @Test func `a row is filled as its documentation says`() throws {
        let folder = try TemporaryDirectory()
        let container = try PersistentContainer(
            folder.url.appendingPathComponent("contacts.daybook"),
            model: [Contact.self, Department.self])
        let context = container.viewContext
        let research = Department(context: context)
        try context.save()
        let department = research.objectID

        let request = BatchInsertRequest<Contact>(0..<1) { _, row in
            // example
            row[\.name] = "Ada"
            row["age"] = .int(36)
            row.relate(\.department, to: department)
            // end of example
        }
        try context.execute(request)

        let ada = try #require(try context.fetch(FetchRequest<Contact>()).first)
        #expect(ada.name == "Ada" && ada.age == 36 && ada.department === research)
        withExtendedLifetime(folder) {}
    }
}
