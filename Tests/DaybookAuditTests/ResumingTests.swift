import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Exports that continue earlier ones.
@Suite struct ResumingTests {
    /// Git itself joins two streams for git: see `GitFormatTests`.
    private static let formats = AuditFormats.all
        .filter { type(of: $0).canResume && !type(of: $0).writesFile && !($0 is GitFormat) }
        .map { type(of: $0).name }

    private static func bytes(
        of store: Store, as name: String, after start: SequenceNumber? = nil,
        through end: SequenceNumber = SequenceNumber(.max), by author: String? = nil,
        until time: Date? = nil
    ) throws -> (bytes: [UInt8], reached: SequenceNumber) {
        let format = try #require(AuditFormats.format(named: name))
        var export = AuditExport(of: AuditReader(store))
        export.resumesAfter = start
        export.filter.range = .zero...end
        export.filter.authors = Set([author].compactMap(\.self))
        export.filter.until = time
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

    /// The numbers of the entries in JSON Lines.
    private static func sequences(_ bytes: [UInt8]) -> [Int] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\{"sequence":(\d+)/).flatMap { Int($0.1) }
        }
    }

    /// A time after that of the third entry of the atlas, and before that of the fourth.
    private static let time = Date(timeIntervalSince1970: 1_704_196_950)

    @Test func `what happened after the last selected time comes with the next export`() throws {
        let story = try AtlasStory.write()

        let first = try Self.bytes(of: story.store, as: "jsonl", until: Self.time)
        let second = try Self.bytes(of: story.store, as: "jsonl", after: first.reached)

        #expect(Self.sequences(first.bytes) == [1, 2, 3, 5, 6])
        #expect(first.reached == SequenceNumber(3))
        #expect(Self.sequences(second.bytes) == Array(4...10))
    }

    @Test func `large data of an entry that was left out come with the next that refers to them`()
        throws
    {
        let temporary = try TemporaryStore(
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Photo", attributes: [AttributeDescription(name: "image", type: .data)])
            ]))
        let store = temporary.store
        let image = Value.large(LargeData(Data(repeating: 7, count: 100_000)))
        for (author, value) in [("Bob", image), ("Ada", .null), ("Ada", image)] as [(String, Value)]
        {
            let photo = try store.newObject("Photo")
            try store.commit(
                SaveRequest(
                    header: EntryHeader(author: author, base: try store.head()),
                    changes: [store.insert(photo, ["image": value])]))
        }

        let whole = try Self.bytes(of: store, as: "jsonl", by: "Ada")
        let first = try Self.bytes(
            of: store, as: "jsonl", through: SequenceNumber(3), by: "Ada")
        let second = try Self.bytes(of: store, as: "jsonl", after: first.reached, by: "Ada")

        let isSame = first.bytes + second.bytes == whole.bytes
        #expect(isSame)
        #expect(whole.bytes.count > 100_000)
    }

    @Test func `a later entry that other conditions leave out is not waited for`() throws {
        let story = try AtlasStory.write()

        let part = try Self.bytes(
            of: story.store, as: "jsonl", by: "registry", until: Self.time)

        #expect(Self.sequences(part.bytes) == [2, 3, 5, 6])
        #expect(try part.reached == story.store.head())
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
