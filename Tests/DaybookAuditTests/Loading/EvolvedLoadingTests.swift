import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Exports of stores whose model has changed, made into stores again.
struct EvolvedLoadingTests {
    /// The export, confidential values shown: without them nothing can be loaded.
    private func shownLines(of store: Store) throws -> [[UInt8]] {
        try Exporting.bytes(of: store, confidentiality: .none).split(separator: 0x0a)
            .map(Array.init)
    }

    @Test(arguments: 201...208 as ClosedRange<UInt64>)
    func `an export with several models loads into the same bytes and tables`(seed: UInt64) throws {
        let history = try EvolvingHistory(seed: seed)
        for _ in 1...6 {
            for _ in 1...3 { _ = try history.save(by: history.versions.count - 1) }
            _ = try history.migrate()
        }
        let directory = try TemporaryDirectory()
        let path = directory.path("new.daybook")

        let lines = try shownLines(of: history.store)
        let loader = try StoreLoader(creating: path)
        for line in lines { try loader.load(line) }
        try loader.finish()

        let loaded = try TestStore.open(at: path)
        #expect(try loaded.headDigest() == history.store.headDigest(), "seed \(seed)")
        #expect(try shownLines(of: loaded) == lines, "seed \(seed)")
        let tables = try loaded.projectionDigest().filter { $0.key != "meta" }
        #expect(
            try history.store.projectionDigest().filter { $0.key != "meta" } == tables,
            "seed \(seed)")
        #expect(loaded.schema.version == history.store.schema.version, "seed \(seed)")
        #expect(try loaded.verify().isSound, "seed \(seed)")
        #expect(history.versions.count > 1, "seed \(seed)")
        try loaded.close()
    }

    @Test func `an export loads by its numbers, in whatever words it tells the steps`() throws {
        let history = try EvolvingHistory(seed: 201)
        while history.versions.count < 2 {
            _ = try history.save(by: history.versions.count - 1)
            _ = try history.migrate()
        }
        let directory = try TemporaryDirectory()
        let path = directory.path("new.daybook")
        let loader = try StoreLoader(creating: path)
        var altered = 0
        for line in try shownLines(of: history.store) {
            let text = String(decoding: line, as: UTF8.self)
            if text.contains("\"steps\":[") { altered += 1 }
            let told = text.replacing("\"steps\":[", with: "\"steps\":[\"in other words\",")
            try loader.load(Array(told.utf8))
        }
        try loader.finish()

        #expect(altered > 0)
        let loaded = try TestStore.open(at: path)
        #expect(try loaded.head() == history.store.head())
        try loaded.close()
    }
}
