import Daybook
import DaybookTestSupport
import Foundation
import Testing

/// The examples of the page *Who, why, and what else*.
@Suite struct AttributionExampleTests {
    final class Employee: ManagedObject {
        @Attribute var name: String = ""
    }

    @MainActor @Test func `information is kept as the page says`() throws {
        let container = try PersistentContainer(inMemory: [Employee.self])
        let context = container.viewContext
        // example
        context.author = "ada"
        context.info = ["request": "77", "device": "front desk"]
        let employee = Employee(context: context)
        employee.name = "Grace"
        try context.save(note: "Hired", info: ["reason": "vacancy 12"])
        print(try context.history(of: employee.objectID)[0].info)
        // end of example
        let entry = try context.history(of: employee.objectID)[0]
        #expect(
            entry.info == ["request": "77", "device": "front desk", "reason": "vacancy 12"])
        #expect(entry.author == "ada" && entry.note == "Hired")
    }

    @MainActor @Test func `a model requires it as the page says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")
        // example
        let container = try PersistentContainer(
            url, model: [Employee.self], requires: [.author, .info("request")])
        let context = container.viewContext
        Employee(context: context).name = "Grace"
        do {
            try context.save(author: "ada")
        } catch let error as StoreError where error.code == .attribution {
            print(error.message)  // … the model requires the information "request". …
            try context.save(author: "ada", info: ["request": "77"])
        }
        // end of example
        #expect(!context.hasChanges)
        #expect(try context.count(FetchRequest<Employee>()) == 1)
        withExtendedLifetime(folder) {}
    }

    @MainActor @Test func `entries are found by who and what as the page says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")
        // example
        let container = try PersistentContainer(
            url, model: [Employee.self], indexesEntries: [.author, .info("request")])
        let context = container.viewContext
        Employee(context: context).name = "Grace"
        try context.save(author: "ada", info: ["request": "77"])
        if let store = container.persistentStoreCoordinator.persistentStores.first {
            for entry in try store.changes(where: .all.having("request", "77")) {
                print(entry.sequence, entry.author ?? "nobody")  // 2 ada
            }
        }
        // end of example
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let entries = try store.changes(where: .all.having("request", "77"))
        #expect(entries.map(\.sequence) == [SequenceNumber(2)])
        #expect(entries.map(\.author) == ["ada"])
        withExtendedLifetime(folder) {}
    }
}
