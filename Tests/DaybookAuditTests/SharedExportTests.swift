import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Exports whose records other cores prepare, compared with those made on one thread.
@Suite struct SharedExportTests {
    /// More threads than most machines have cores.
    private static let many = OtherCores(count: 5) { Thread(block: $0).start() }
    private static let all: [OtherCores] = [.all, many, OtherCores(count: 5) { _ in }]

    /// What an export has written when it ends, and why it ended.
    private struct Outcome {
        var bytes: [UInt8] = []
        var progress: [UInt64] = []
        var error: (any Error)?
    }

    private func export(
        _ store: Store, as format: any AuditFormat, on cores: OtherCores,
        _ change: (inout AuditExport) -> Void = { _ in },
        output: (inout [UInt8], [UInt8]) throws -> Void = { $0 += $1 }
    ) -> Outcome {
        var export = AuditExport(of: AuditReader(store))
        export.cores = cores
        change(&export)
        var outcome = Outcome()
        do {
            try export.write(format) {
                outcome.progress.append($0.rawValue)
            } to: {
                try output(&outcome.bytes, $0)
            }
        } catch {
            outcome.error = error
        }
        return outcome
    }

    private static let formats = AuditFormats.all.filter { !type(of: $0).writesFile }
        .map { type(of: $0).name }

    @Test(arguments: formats)
    func `every format has the same bytes, whoever prepares the records`(name: String) throws {
        let format = try #require(AuditFormats.format(named: name))
        let history = try RandomHistory(seed: 2_201, entries: 300)
        let changes: [(inout AuditExport) -> Void] = [
            { _ in }, { $0.filter.entities = ["Person"] },
            { $0.resumesAfter = type(of: format).canResume ? SequenceNumber(70) : nil },
        ]

        for change in changes {
            let plain = export(history.store, as: format, on: .none, change)
            #expect(plain.error == nil)
            #expect(!plain.bytes.isEmpty)
            for cores in Self.all {
                let shared = export(history.store, as: format, on: cores, change)
                #expect(shared.error == nil)
                #expect(shared.bytes == plain.bytes)
                #expect(shared.progress == plain.progress)
            }
        }
    }

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Notice", attributes: [AttributeDescription(name: "text", type: .string)]),
        EntityDescription(
            name: "Patient",
            attributes: [AttributeDescription(name: "name", type: .string, isConfidential: true)]),
    ])

    /// A store with a notice in each entry behind the first, but a patient in one.
    private func makeStore(entries: Int, patientAt place: Int = 0) throws -> TemporaryStore {
        let temporary = try TemporaryStore(Self.model, options: .counting(verification: .off))
        let store = temporary.store
        for number in 2...entries {
            let object = try store.newObject(number == place ? "Patient" : "Notice")
            let values = [number == place ? "name" : "text": Value.string("text \(number)")]
            try store.commit(SaveRequest(changes: [store.insert(object, values)]))
        }
        return temporary
    }

    @Test(arguments: [2, 64, 65, 200, 399])
    func `digests are told up to the first entry with a hidden value`(place: Int) throws {
        let temporary = try makeStore(entries: 400, patientAt: place)
        for cores in [.none] + Self.all {
            let outcome = export(temporary.store, as: JSONLinesFormat(), on: cores)

            let lines = String(decoding: outcome.bytes, as: UTF8.self).split(separator: "\n")
            #expect(lines.count == 400)
            let telling = lines.prefix { $0.contains("\"digest\":") }
            #expect(telling.count == place - 1)
            #expect(!lines.dropFirst(place - 1).contains { $0.contains("\"digest\":") })
        }
    }

    @Test func `an entry that cannot be read ends an export behind those before it`() throws {
        let temporary = try makeStore(entries: 400)
        let store = temporary.store
        let whole = export(store, as: JSONLinesFormat(), on: .none)
        let lines = whole.bytes.split(separator: 0x0a, omittingEmptySubsequences: true)
        try store.close()
        try damage("text 251", in: temporary.path)
        let damaged = try TestStore.open(
            at: temporary.path, options: StoreOptions(isReadOnly: true))

        let plain = export(damaged, as: JSONLinesFormat(), on: .none)
        for cores in Self.all {
            let shared = export(damaged, as: JSONLinesFormat(), on: cores)
            #expect(shared.bytes == plain.bytes)
            #expect("\(String(describing: shared.error))" == "\(String(describing: plain.error))")
        }
        try damaged.close()

        #expect((plain.error as? StoreError)?.code == .corrupt)
        var before: [UInt8] = []
        for line in lines.prefix(250) { before += Array(line) + [0x0a] }
        #expect(plain.bytes == before)
    }

    /// Changes a text wherever it stands in a file.
    private func damage(_ text: String, in path: String) throws {
        let url = URL(fileURLWithPath: path)
        var data = try Data(contentsOf: url)
        let wanted = Data(text.utf8)
        var found = 0
        while let range = data.range(of: wanted) {
            data[range.lowerBound] ^= 1
            found += 1
        }
        try #require(found > 0)
        try data.write(to: url)
    }

    private struct Closed: Error {}

    @Test func `an export whose reader has gone ends at once`() throws {
        let temporary = try makeStore(entries: 400)
        for cores in [.none] + Self.all {
            var pieces = 0
            let outcome = export(
                temporary.store, as: JSONLinesFormat(), on: cores,
                output: { _, _ in
                    pieces += 1
                    if pieces == 150 { throw Closed() }
                })
            #expect(outcome.error is Closed)
            #expect(pieces == 150)
        }
    }

    /// A format that cannot write one of the entries.
    private struct Fragile: AuditFormat {
        static let name = "fragile"
        static let summary = "fails at an entry"

        func encoder(for scope: AuditScope) -> any AuditEncoder { Encoder() }

        private struct Encoder: RecordwiseEncoder {
            func bytes(of record: AuditRecord, inPass pass: Int) throws -> [UInt8] {
                if record.sequence == SequenceNumber(170) { throw Closed() }
                return Array("\(record.sequence)\n".utf8)
            }
        }
    }

    @Test func `a record that cannot be written ends an export behind those before it`() throws {
        let temporary = try makeStore(entries: 400)
        let expected = (1...169).map { "\($0)\n" }.joined()
        for cores in [.none] + Self.all {
            let outcome = export(temporary.store, as: Fragile(), on: cores)
            #expect(outcome.error is Closed)
            #expect(String(decoding: outcome.bytes, as: UTF8.self) == expected)
        }
    }
}
