import Daybook
import DaybookAudit
import DaybookTestSupport
import Foundation
import Testing

/// The examples of `DaybookAudit`, in a program that also uses `Daybook`.
@Suite struct AuditExampleTests {
    final class Employee: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var salary: Decimal?
    }

    @MainActor @Test func `records are read and exported as their page says`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")
        let container = try PersistentContainer(url, model: [Employee.self])
        let context = container.viewContext
        let ada = Employee(context: context)
        ada.name = "Ada"
        ada.salary = 5000
        try context.save(author: "grace", at: Date(timeIntervalSinceNow: -9_000_000))
        ada.salary = 5200
        try context.save(author: "grace", note: "First raise")
        ada.salary = nil
        try context.save(author: "grace")

        // example
        let reader = try AuditReader(url)
        var filter = AuditFilter()
        filter.entities = ["Employee"]
        filter.since = Date(timeIntervalSinceNow: -86_400)

        var raises: [String: Decimal] = [:]
        try reader.records(matching: filter) { record in
            for change in record.changes {
                guard let salary = change["salary"] else { continue }
                let before = salary.old.value(as: Decimal.self)  // nil when there was none
                let after = salary.new.value(as: Decimal.self)
                raises[change.object, default: 0] += (after ?? 0) - (before ?? 0)
            }
            return .proceed
        }
        // end of example

        // The insert was long ago.
        #expect(raises == ["Employee/1": -5000])

        // example
        var csv: [UInt8] = []
        var export = AuditExport(of: reader)
        export.filter.entities = ["Employee"]
        try export.write(CSVFormat()) { bytes in csv += bytes }
        // end of example

        #expect(String(decoding: csv, as: UTF8.self).contains("First raise"))
        #expect(try reader.head() == SequenceNumber(4))
    }

    @Test func `a reader prints what it comes by, and its values can be asked for`() throws {
        let folder = try TemporaryDirectory()
        let url = folder.url.appendingPathComponent("staff.daybook")
        let container = try PersistentContainer(url, model: [Employee.self])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let ada = Employee(context: context)
            ada.name = "Ada"
            try context.save(author: "grace")
            ada.salary = 5200
            try context.save(
                author: "grace", note: "First raise", at: Date(timeIntervalSince1970: 1e9))
        }
        var printed: [String] = []
        func print(_ record: AuditRecord) { printed.append("\(record)") }

        // example
        let reader = try AuditReader(url)
        try reader.records { record in
            print(record)
            return .proceed
        }
        // end of example

        #expect(
            printed.last == """
                entry 3 by 'grace' at 2001-09-09T01:46:40Z: "First raise"
                  updated Employee/1
                    salary: none → 5200
                """)
        let record = try reader.record(at: SequenceNumber(3))
        let field = try #require(record.changes.first?["salary"])
        // example
        let before = field.old.value(as: Decimal.self)
        // end of example
        #expect(before == nil && field.new.value() == Decimal(5200))
        #expect(Self.cell(field.old) == "—" && Self.cell(field.new) == "5200")
    }

    // example
    func cell(_ value: AuditValue) -> String {
        switch value.content {
        case .none: "—"
        case .date(let date): date.formatted(.iso8601)
        case .url(let url): url.host ?? url.absoluteString
        case .data(let data): "\(data.count) bytes"
        default: value.text
        }
    }
    // end of example

    private static func cell(_ value: AuditValue) -> String { AuditExampleTests().cell(value) }

    @MainActor @Test func `a journal becomes a folder of tiles`() throws {
        let temporary = try TemporaryDirectory()
        let url = temporary.url.appendingPathComponent("staff.daybook")
        let folder = temporary.url.appendingPathComponent("tiles", isDirectory: true)
        let container = try PersistentContainer(url, model: [Employee.self])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        let note = try store.checkpoint(signedBy: SigningKey.random(name: "example.org/staff"))
        let reader = try AuditReader(url)

        // example
        let tiles = try TilesExport(reader, into: folder, checkpoint: note)
        try tiles.write()
        // end of example

        let written = folder.appendingPathComponent("checkpoint")
        #expect(FileManager.default.fileExists(atPath: written.path))
    }
}
