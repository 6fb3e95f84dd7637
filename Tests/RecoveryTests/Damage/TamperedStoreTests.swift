import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Skilled tampering with a store, and the reaction of `daybook verify`.
struct TamperedStoreTests {
    /// A record changed with a tool for LMDB.
    struct Forgery: Sendable, CustomTestStringConvertible {
        let what: String
        let table: String
        /// Which record, counted from the first.
        let place: Int
        /// The expected report.
        let said: [String]

        var testDescription: String { what }
    }

    private static let forgeries = [
        Forgery(
            what: "an entry", table: "journal", place: 299,
            said: ["journal: Entry 150 is damaged: its digest does not match its bytes."]),
        Forgery(
            what: "a digest", table: "journal", place: 298,
            said: [
                "journal: Entry 150 is damaged: its digest does not match its bytes.",
                "journal: Entry 151 breaks the chain: it does not carry the digest of entry 150.",
            ]),
        Forgery(
            what: "the root of a tile", table: "journal", place: 512,
            said: ["journal: The root of level 1 kept at entry 256 is not that of its entries."]),
        Forgery(
            what: "a row", table: "rows", place: 7,
            said: ["projection: The record of rows, Skill/8 differs from the journal at byte "]),
        Forgery(
            what: "a version", table: "versions", place: 0,
            said: [
                "projection: The record of versions, Skill/1 before entry 300 differs from the "
                    + "journal at byte "
            ]),
        Forgery(what: "what the store says of itself", table: "meta", place: 0, said: ["meta"]),
    ]

    /// A store of 300 entries, so that a tile of the tree is full.
    private static func makeStore(at path: String) throws {
        let store = try Store.create(
            at: path, model: .sample, options: .counting(verification: .off))
        var skills: [ObjectID] = []
        for number in 2...299 {
            let skill = try store.newObject("Skill")
            skills.append(skill)
            try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string("Skill \(number)")])]))
        }
        try store.commit(
            SaveRequest(changes: [
                store.update(skills[0], "title", from: .string("Skill 2"), to: .string("Rowing"))
            ]))
        try store.close()
    }

    /// Changes the last byte of a record's value, and its check with it.
    private static func tamper(_ path: String, _ forgery: Forgery) throws {
        var options = EnvironmentOptions(tables: [forgery.table], create: false)
        if !["journal", "meta"].contains(forgery.table) { options.checkedTables = [forgery.table] }
        let environment = try Environment.open(at: path, options: options)
        let table = try environment.table(forgery.table)
        var records: [(key: [UInt8], value: [UInt8])] = []
        let start: [UInt8] = []
        try environment.read { transaction in
            try transaction.scan(table, from: start.span.bytes, to: nil, order: .ascending) {
                key, value in
                records.append(
                    (key.withUnsafeBytes { Array($0) }, value.withUnsafeBytes { Array($0) }))
                return records.count <= forgery.place ? .proceed : .stop
            }
        }
        let record = try #require(records.last)
        var value = record.value
        // Of the records of the journal only a root carries a check.
        let isRoot = forgery.table == "journal" && record.key.count == 9
        let target = isRoot ? table.checked : table
        if isRoot { value.removeLast(target.checkSize) }
        value[value.count - 1] ^= 1
        try environment.write { [key = record.key, value] transaction in
            try transaction.put(target, key.span.bytes, value.span.bytes, .upsert)
        }
    }

    @Test(arguments: forgeries)
    func `Attack 1: what was changed in a store is named, with its place`(
        forgery: Forgery
    ) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.daybook")
        try Self.makeStore(at: path)
        try Self.tamper(path, forgery)

        let ran = try ChildProcess.run(BuiltTool.daybook, ["verify", path])

        #expect(ran.ending == .exited(3), "\(ran)")
        for sentence in forgery.said {
            #expect(ran.lines.contains { $0.contains(sentence) }, "\(sentence): \(ran)")
        }
    }

    @Test func `no checkpoint, proof or tile comes of a root with a flipped bit`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.daybook")
        try Self.makeStore(at: path)
        try Self.flipRootBit(path)
        let store = try Store.open(at: path)

        for reading in [
            { _ = try store.checkpoint(origin: "example.org/skills") },
            { _ = try store.inclusionProof(of: SequenceNumber(280), amongFirst: 300) },
            { _ = try store.consistencyProof(from: 260, to: 300) },
            { _ = try store.tile(1, 0, width: 1) },
        ] as [() throws -> Void] {
            let error = #expect(throws: StoreError.self, performing: reading)
            #expect(error?.code == .corrupt)
            let message = error?.message ?? ""
            #expect(message.contains("The root of level 1 kept at entry 256 cannot be read"))
            #expect(message.contains("'daybook verify'"))
        }
    }

    /// Flips a bit of the root kept at entry 256, and leaves its check.
    private static func flipRootBit(_ path: String) throws {
        let environment = try Environment.open(
            at: path, options: EnvironmentOptions(tables: ["journal"], create: false))
        let table = try environment.table("journal")
        var writer = KeyWriter()
        writer.append(UInt64(256))
        writer.append(UInt8(1))
        let key = writer.bytes
        let kept = try environment.read { transaction in
            try transaction.get(table, key.span.bytes) { $0.withUnsafeBytes { Array($0) } }
        }
        var root = try #require(kept)
        root[7] ^= 0x20
        try environment.write { [root] transaction in
            try transaction.put(table, key.span.bytes, root.span.bytes, .upsert)
        }
    }

    @Test func `findings are told although there is no room in the temporary folder`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.daybook")
        try Self.makeStore(at: path)
        let row = try #require(Self.forgeries.first { $0.table == "rows" })
        try Self.tamper(path, row)

        let child = try ChildProcess(
            BuiltTool.daybook, ["verify", path], input: URL(fileURLWithPath: "/dev/null"),
            environment: ["TMPDIR": directory.path("nowhere")])
        let lines = child.remainingLines()

        #expect(child.wait() == .exited(3), "\(lines)")
        #expect(lines.first == "projection: The tables do not follow from the journal.")
        let remedy = "Set TMPDIR to a folder with room, and verify again."
        #expect(lines.contains { $0.hasSuffix(remedy) })
    }

    @Test(arguments: [1, 4_096, 40_000])
    func `Attack 3: a file that was cut short is named`(missing: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.daybook")
        try Self.makeStore(at: path)
        let file = URL(fileURLWithPath: path)
        try Data(contentsOf: file).dropLast(missing).write(to: file)

        let ran = try ChildProcess.run(BuiltTool.daybook, ["verify", path])

        #expect(ran.ending == .exited(3), "\(ran)")
        let said = ran.lines.joined() + ran.talk
        #expect(said.contains("is not in the file") || said.contains("shorter"), "\(ran)")
    }
}
