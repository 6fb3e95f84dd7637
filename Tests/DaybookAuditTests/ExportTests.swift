import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The output of the formats.
@Suite struct ExportTests {
    @Test(
        .ownStores("The server's clock is read more often."),
        arguments: ["jsonl", "csv", "json-patch", "cloudevents", "debezium", "ocsf"])
    func `an export is the same as ever`(name: String) throws {
        let story = try AtlasStory.write()

        let bytes = try Exporting.bytes(of: story.store, as: name)

        try Fixture.expect(Data(bytes), equals: "exports/atlas.\(name)")
    }

    @Test func `a csv line ends with CR LF and null differs from empty text`() throws {
        let story = try AtlasStory.write()

        let text = String(
            decoding: try Exporting.bytes(of: story.store, as: "csv"), as: UTF8.self)

        let lines = text.components(separatedBy: "\r\n")
        #expect(lines.last == "")
        #expect(
            lines.first
                == "sequence,time,recorded,author,note,info,context,op,object,entity,property,old,new"
        )
        #expect(lines.contains { $0.hasSuffix(",update,Country/2,Country,motto,\"\",") })
        #expect(lines.contains { $0.hasSuffix(",insert,Country/2,Country,motto,,\"\"") })
    }

    @Test func `a public reader needs only the path`() throws {
        let story = try AtlasStory.write()
        let reader = try AuditReader(path: story.path)

        var operations: [String] = []
        try reader.records { record in
            operations += record.changes.map { "\($0.operation.rawValue) \($0.object)" }
            return operations.count < 4 ? .proceed : .stop
        }

        #expect(
            operations.prefix(3) == ["insert Country/1", "insert Country/2", "insert Country/3"])
        #expect(operations.count == 6)
    }
}

/// Whole exports in memory.
enum Exporting {
    static func bytes(
        of store: Store, as name: String = "jsonl", matching filter: AuditFilter = AuditFilter(),
        confidentiality: Confidentiality = .standard
    ) throws -> [UInt8] {
        let format = try #require(AuditFormats.format(named: name))
        var export = AuditExport(of: AuditReader(store))
        export.filter = filter
        export.confidentiality = confidentiality
        var bytes: [UInt8] = []
        try export.write(format) { bytes += $0 }
        return bytes
    }

    static func lines(of store: Store) throws -> [[UInt8]] {
        try bytes(of: store).split(separator: 0x0a).map(Array.init)
    }
}
