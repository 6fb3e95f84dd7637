import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Exports of stores whose model has changed.
@Suite struct EvolvedFormatTests {
    /// A database and a report have the names of now.
    private static let formats = AuditFormats.all
        .filter { !($0 is SQLiteFormat) && !($0 is HTMLFormat) }
        .map { type(of: $0).name }

    private static func pieces(
        of store: Store, as name: String, after start: SequenceNumber? = nil,
        through end: SequenceNumber
    ) throws -> [[UInt8]] {
        let format = try #require(AuditFormats.format(named: name))
        var export = AuditExport(of: AuditReader(store))
        export.confidentiality = .none
        export.resumesAfter = start
        export.filter.range = .zero...end
        var pieces: [[UInt8]] = []
        try export.write(format) { pieces.append($0) }
        return pieces
    }

    @Test(arguments: formats, 201...204 as ClosedRange<UInt64>)
    func `an export of the same entries is the same after the model has changed`(
        format: String, seed: UInt64
    ) throws {
        let history = try EvolvingHistory(seed: seed)
        var exports: [(last: SequenceNumber, bytes: [UInt8])] = []
        for _ in 1...5 {
            for _ in 1...3 { _ = try history.save(by: history.versions.count - 1) }
            let last = try history.store.head()
            let pieces = try Self.pieces(of: history.store, as: format, through: last)
            exports.append((last, Array(pieces.joined())))
            _ = try history.migrate()
        }

        for (last, bytes) in exports {
            let pieces = try Self.pieces(of: history.store, as: format, through: last)
            let isSame = Array(pieces.joined()) == bytes
            #expect(isSame, "\(format) through entry \(last), seed \(seed)")
        }
        #expect(history.versions.count > 1, "seed \(seed)")
    }

    @Test(arguments: ["json-patch", "git"])
    func `a store that is written anew is written a few objects at a time`(
        format: String
    ) throws {
        func model(_ attributes: [String]) -> ManagedObjectModel {
            ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Person",
                    attributes: attributes.map { AttributeDescription(name: $0, type: .string) })
            ])
        }
        let temporary = try TemporaryStore(model(["name"]))
        let people = try (1...2000).map { number in
            try temporary.store.insert(
                temporary.store.newObject("Person"), ["name": .string("Person \(number)")])
        }
        try temporary.store.commit(SaveRequest(changes: people))
        var options = StoreOptions.counting()
        options.migration = .automatic
        _ = try Store.migrate(at: temporary.path, to: model(["name", "town"]), options: options)
        let store = try TestStore.open(at: temporary.path, options: .counting())

        let head = try store.head()
        let pieces = try Self.pieces(of: store, as: format, after: head.previous, through: head)

        let text = String(decoding: pieces.joined(), as: UTF8.self)
        #expect(text.split(separator: "Person ").count == 2001)
        let largest = try #require(pieces.map(\.count).max())
        #expect(largest < text.utf8.count / 4)
        try store.close()
    }
}
