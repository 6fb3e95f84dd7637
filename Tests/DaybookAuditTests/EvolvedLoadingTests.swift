import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Exports of stores whose model has changed, made into stores again.
struct EvolvedLoadingTests {
    @Test(arguments: 201...208 as ClosedRange<UInt64>)
    func `an export with several models loads into the same bytes and tables`(seed: UInt64) throws {
        let history = try EvolvingHistory(seed: seed)
        for _ in 1...6 {
            for _ in 1...3 { _ = try history.save(by: history.versions.count - 1) }
            _ = try history.migrate()
        }
        let directory = try TemporaryDirectory()
        let path = directory.path("new.daybook")

        let lines = try Exporting.lines(of: history.store)
        let loader = try StoreLoader(creating: path)
        for line in lines { try loader.load(line) }
        try loader.finish()

        let loaded = try Store.open(at: path)
        #expect(try loaded.headDigest() == history.store.headDigest(), "seed \(seed)")
        #expect(try Exporting.lines(of: loaded) == lines, "seed \(seed)")
        let tables = try loaded.projectionDigest().filter { $0.key != "meta" }
        #expect(
            try history.store.projectionDigest().filter { $0.key != "meta" } == tables,
            "seed \(seed)")
        #expect(loaded.schema.version == history.store.schema.version, "seed \(seed)")
        #expect(try loaded.verify().isSound, "seed \(seed)")
        #expect(history.versions.count > 1, "seed \(seed)")
        try loaded.close()
    }

    @Test func `an export whose steps were altered does not load`() throws {
        let history = try EvolvingHistory(seed: 201)
        while history.versions.count < 2 {
            _ = try history.save(by: history.versions.count - 1)
            _ = try history.migrate()
        }
        let directory = try TemporaryDirectory()
        let lines = try Exporting.lines(of: history.store)
        let place = try #require(
            lines.firstIndex { line in
                String(decoding: line, as: UTF8.self).contains("\"steps\":[")
            })
        let altered = String(decoding: lines[place], as: UTF8.self)
            .replacing("\"steps\":[", with: "\"steps\":[\"remove 'Secret'\",")
        let loader = try StoreLoader(creating: directory.path("new.daybook"))
        for line in lines[..<place] { try loader.load(line) }

        let refusal = #expect(throws: ExportError.self) { try loader.load(Array(altered.utf8)) }

        #expect(refusal?.description.contains("steps") == true, "\(String(describing: refusal))")
        #expect(refusal?.line == place + 1)
        try loader.abandon()
    }
}
