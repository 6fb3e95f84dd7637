import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// The treatment of confidential values.
@Suite struct ConfidentialTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Patient",
            attributes: [
                AttributeDescription(name: "name", type: .string, isConfidential: true),
                AttributeDescription(name: "ward", type: .string),
            ],
            relationships: [
                RelationshipDescription(name: "doctor", destinationName: "Patient")
            ])
    ])

    /// A patient whose name changes from Rosalind to Franklin.
    private static func write() throws -> TemporaryStore {
        let temporary = try TemporaryStore(model)
        let store = temporary.store
        let patient = try store.newObject("Patient")
        let name = try #require(store.schema.entity(named: "Patient")?.property(named: "name"))
        try store.commit(
            SaveRequest(changes: [
                store.insert(
                    patient, ["name": .string("Rosalind"), "ward": .string("Eastwing")])
            ]))
        try store.commit(
            SaveRequest(changes: [
                Change(
                    object: patient,
                    kind: .update(
                        edits: [
                            Edit(
                                property: name.number, old: .string("Rosalind"),
                                new: .string("Franklin"))
                        ],
                        members: []))
            ]))
        return temporary
    }

    private static func text(
        _ temporary: borrowing TemporaryStore, as name: String, _ confidentiality: Confidentiality
    ) throws -> String {
        let bytes = try Exporting.bytes(
            of: temporary.store, as: name, confidentiality: confidentiality)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The formats that write bytes, and seeds of histories.
    private static let formats = AuditFormats.all.filter { !type(of: $0).writesFile }
        .map { type(of: $0).name }

    @Test(arguments: formats, [1, 2, 3] as [UInt64])
    func `no format tells a confidential value of any history`(
        format: String, seed: UInt64
    ) throws {
        let history = try SecretHistory(seed: seed, entries: 30)

        let text = try Self.text(history.temporary, as: format, .standard)

        for secret in history.secrets {
            #expect(!text.contains(secret), "seed \(seed): \(format) tells '\(secret)'")
        }
        #expect(text.contains(history.open), "seed \(seed): what is not confidential is told")
    }

    @Test(arguments: formats, [1, 2, 3] as [UInt64])
    func `every format tells hashes in place of confidential values`(
        format: String, seed: UInt64
    ) throws {
        let history = try SecretHistory(seed: seed, entries: 30)
        let treatment = Confidentiality(.hash(secret: [UInt8](repeating: 7, count: 16)))

        let text = try Self.text(history.temporary, as: format, treatment)

        for secret in history.secrets {
            #expect(!text.contains(secret), "seed \(seed): \(format) tells '\(secret)'")
        }
        #expect(text.contains(/hmac-sha256:[0-9a-f]{64}/), "seed \(seed)")
    }

    @Test(arguments: formats)
    func `every format tells a confidential value when it is to be shown`(format: String) throws {
        let temporary = try Self.write()

        let text = try Self.text(temporary, as: format, .none)

        #expect(text.contains("Rosalind"))
        #expect(text.contains("Franklin"))
    }

    @Test(arguments: ["jsonl", "csv"])
    func `a confidential value is left out and its property named`(format: String) throws {
        let temporary = try Self.write()

        let text = try Self.text(temporary, as: format, .standard)

        #expect(!text.contains("Rosalind"))
        #expect(!text.contains("Franklin"))
        #expect(text.contains("Eastwing"))
        #expect(text.contains("name"))
    }

    @Test func `a text that reads like one that is left out is told apart from it`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(
            SaveRequest(changes: [store.insert(skill, ["title": .string("(confidential)")])]))

        let shown = try Self.text(temporary, as: "csv", .standard)
        let hidden = try Self.text(
            temporary, as: "csv", Confidentiality(.omit, properties: ["Skill.title"]))

        #expect(shown.contains(#",title,,"(confidential)""#))
        #expect(hidden.contains(",title,(confidential),(confidential)\r\n"))
    }

    @Test func `a hash is the same for the same value and another under another secret`() throws {
        let temporary = try Self.write()
        let secret = [UInt8](repeating: 7, count: 16)
        let other = [UInt8](repeating: 8, count: 16)

        let text = try Self.text(temporary, as: "jsonl", Confidentiality(.hash(secret: secret)))
        let again = try Self.text(temporary, as: "jsonl", Confidentiality(.hash(secret: other)))

        let hashes = text.matches(of: /hmac-sha256:[0-9a-f]{64}/).map { String($0.output) }
        #expect(hashes.count == 3)
        #expect(Set(hashes).count == 2, "the inserted value is the old one of the update")
        #expect(!text.contains("Rosalind"))
        #expect(!hashes.contains { again.contains($0) })
    }

    @Test func `no digest is told from the first entry on that has something kept back`() throws {
        let temporary = try Self.write()

        let told = try Self.text(temporary, as: "jsonl", .standard)
        let hashed = try Self.text(
            temporary, as: "jsonl", Confidentiality(.hash(secret: [UInt8](repeating: 7, count: 16)))
        )

        for text in [told, hashed] {
            let lines = text.split(separator: "\n")
            #expect(lines.map { $0.contains("\"digest\"") } == [true, false, false])
        }
    }

    @Test(arguments: AuditFormats.all.map { type(of: $0).name })
    func `no format tells a digest that covers something kept back`(format: String) throws {
        let temporary = try Self.write()
        guard let kind = AuditFormats.format(named: format), !type(of: kind).writesFile else {
            return
        }
        let head = try temporary.store.entry(try temporary.store.head())
        let earlier = try temporary.store.entry(head.sequence.previous)

        let text = try Self.text(temporary, as: format, .standard)

        #expect(!text.contains(head.digest.hexadecimal))
        #expect(!text.contains(earlier.digest.hexadecimal))
    }

    @Test func `an export that begins later tells no digest at all`() throws {
        let temporary = try Self.write()
        var filter = AuditFilter()
        filter.range = SequenceNumber(3)...SequenceNumber(3)

        let bytes = try Exporting.bytes(of: temporary.store, matching: filter)

        #expect(!String(decoding: bytes, as: UTF8.self).contains("\"digest\""))
    }

    @Test func `hiding one side of a relationship hides the side that the journal has`() throws {
        let story = try AtlasStory.write()

        let bytes = try Exporting.bytes(
            of: story.store, as: "csv",
            confidentiality: Confidentiality(.omit, properties: ["Country.subdivisions"]))

        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(",country,(confidential),(confidential)"))
        #expect(!text.contains(",country,,Country/1"))
    }

    @Test func `a property can be named that the model does not call confidential`() throws {
        let temporary = try Self.write()

        let text = try Self.text(
            temporary, as: "jsonl", Confidentiality(.omit, properties: ["Patient.ward"]))

        #expect(!text.contains("Eastwing"))
        #expect(!text.contains("Rosalind"))
    }

    @Test(arguments: ["Patient.wart", "Patent.ward", "ward"])
    func `a name that is no property's is refused`(name: String) throws {
        let temporary = try Self.write()

        let error = #expect(throws: StoreError.self) {
            _ = try Self.text(temporary, as: "jsonl", Confidentiality(.omit, properties: [name]))
        }

        #expect(error?.code == .noSuchEntity)
    }

    @Test func `an export with values left out says why it cannot be loaded`() throws {
        let temporary = try Self.write()
        let lines = try Exporting.lines(of: temporary.store)
        let folder = try TemporaryDirectory()
        let loader = try StoreLoader(creating: folder.path("copy.daybook"))

        let error = #expect(throws: ExportError.self) {
            for line in lines { try loader.load(line) }
        }
        try loader.abandon()

        #expect(error?.message.contains("--confidential show") == true)
    }

    @Test func `an export that shows everything is loaded with the same digests`() throws {
        let temporary = try Self.write()
        let bytes = try Exporting.bytes(of: temporary.store, confidentiality: .none)
        let folder = try TemporaryDirectory()
        let loader = try StoreLoader(creating: folder.path("copy.daybook"))

        for line in bytes.split(separator: 0x0a) { try loader.load(Array(line)) }
        try loader.finish()

        let entry = try temporary.store.entry(try temporary.store.head())
        #expect(loader.head.digest == entry.digest)
    }
}
