import DaybookAudit
import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Exports that continue earlier ones.
@Suite struct ResumingTests {
    /// Git itself joins two streams for git: see `GitFormatTests`.
    private static let formats = AuditFormats.all
        .filter { type(of: $0).canResume && !type(of: $0).writesFile && !($0 is GitFormat) }
        .map { type(of: $0).name }

    private static func bytes(
        of store: Store, as name: String, after start: SequenceNumber? = nil,
        through end: SequenceNumber = SequenceNumber(.max)
    ) throws -> (bytes: [UInt8], reached: SequenceNumber) {
        let format = try #require(AuditFormats.format(named: name))
        var export = AuditExport(of: AuditReader(store))
        export.resumesAfter = start
        export.filter.range = .zero...end
        var bytes: [UInt8] = []
        let reached = try export.write(format) { bytes += $0 }
        return (bytes, reached)
    }

    @Test(arguments: formats, [1, 2, 3] as [UInt64])
    func `two parts of an export are one whole`(format: String, seed: UInt64) throws {
        var history = try RandomHistory(seed: seed, entries: 15)
        let store = history.store
        let head = try store.head()
        let middle = SequenceNumber(
            UInt64(history.random.number(in: 1...Int(clamping: head.rawValue))))

        let whole = try Self.bytes(of: store, as: format)
        let first = try Self.bytes(of: store, as: format, through: middle)
        let second = try Self.bytes(of: store, as: format, after: first.reached)

        #expect(first.reached == middle, "seed \(seed)")
        #expect(second.reached == head, "seed \(seed)")
        #expect(first.bytes + second.bytes == whole.bytes, "seed \(seed), after \(middle)")
    }

    @Test(arguments: formats)
    func `there is nothing to add when nothing is new`(format: String) throws {
        let history = try RandomHistory(seed: 4, entries: 5)

        let more = try Self.bytes(
            of: history.store, as: format, after: try history.store.head())

        #expect(more.bytes.isEmpty)
        #expect(try more.reached == history.store.head())
    }
}
