import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookJournalLog
@testable import DaybookSnapshotStore

/// The index of entries by author and information: how it begins, goes on and ends, and what damage does.
@Suite struct EntryIndexTests {
    private static let everything: Set<IndexedAttribution> = [.author, .info("request")]

    /// A model; one with another note is never taken for one that was there before.
    private static func model(
        _ indexed: Set<IndexedAttribution>, note: String? = nil
    ) -> ManagedObjectModel {
        var thing = entity("Thing", [attribute("a", .int64)])
        thing.versionHashModifier = note
        return ManagedObjectModel(entities: [thing], indexesEntries: indexed)
    }

    private static func records(_ store: Store) throws -> Int {
        try #require(try store.statistics().tables.first { $0.name == "index" }).records
    }

    /// The numbers of each so-many-th save, of which the first has number 2.
    private static func every(_ step: UInt64, of count: UInt64) -> [UInt64] {
        stride(from: step, through: count, by: Int(step)).map { $0 + 1 }
    }

    // MARK: - Keeping it

    @Test func `an index of entries costs nothing where none is asked for`() throws {
        let plain = try Evolving(model: Self.model([]))
        let indexed = try Evolving(model: Self.model(Self.everything))

        for store in [plain.store, indexed.store] {
            try store.save(by: "ada", ["request": "7", "device": "pad"])
            try store.save(by: nil, ["request": ""])
            try store.save(by: "bob")
            try store.save(by: nil)
        }

        #expect(try Self.records(plain.store) == 0)
        // An author and a request, an empty request, an author.
        #expect(try Self.records(indexed.store) == 4)
        try indexed.store.expectSound()
    }

    @Test func `the first entry is in it, too, if it says something`() throws {
        let folder = try TemporaryDirectory()
        let store = try TestStore.create(
            at: folder.path("first"), model: Self.model([.author]), author: "ada",
            options: .counting())

        #expect(try store.lookedUp(.author, ["ada"]) == [1])
        try store.expectSound()
        try store.close()
    }

    @Test func `an index that begins later has the entries before, and loses them when it ends`()
        throws
    {
        let evolving = try Evolving(model: Self.model([]))
        let first = evolving.store
        for number in 1...30 {
            try first.save(by: ["ada", "bob", nil][number % 3], ["request": "\(number % 5)"])
        }
        let before = try first.projectionDigest()["index"]

        let second = try evolving.open(model: Self.model([.author, .info("request")]), .compatible)
        #expect(try Self.records(second) == 50)
        #expect(try second.lookedUp(.author, ["ada"]) == Self.every(3, of: 30))
        #expect(try second.lookedUp(.info("request"), ["4"]) == [5, 10, 15, 20, 25, 30])
        try second.expectSound()

        let third = try evolving.open(model: Self.model([.info("request")]), .compatible)
        #expect(try Self.records(third) == 30)
        try third.expectSound()

        // Undo brings back what was before, and that again.
        let head = try third.head()
        try third.commit(try third.undoRequest(of: head...head, author: "eve"))
        #expect(try Self.records(third) == 51)
        try third.expectSound()

        let last = try evolving.open(model: Self.model([], note: "last"))
        #expect(try last.projectionDigest()["index"] == before)
        try last.expectSound()
    }

    @Test func `an index of more entries than are kept in memory begins whole`() throws {
        let evolving = try Evolving(model: Self.model([]))
        let keys = (0..<EntryInfo.countMaximum).map { "k\($0)" }
        let info = Dictionary(uniqueKeysWithValues: keys.map { ($0, "v") })
        // 64 records of each entry: more than one part of 65,536.
        let changes = try (0..<1_100).map { _ in
            evolving.store.insert(try evolving.store.newObject("Thing"), ["a": .int(1)])
        }
        for change in changes {
            try evolving.store.commit(
                SaveRequest(header: EntryHeader(info: info), changes: [change]))
        }

        let store = try evolving.open(model: Self.model(Set(keys.map { .info($0) })))

        #expect(try Self.records(store) == 1_100 * 64)
        #expect(try store.lookedUp(.info("k63"), ["v"]) == Self.every(1, of: 1_100))
        #expect(try store.verify().isSound)
        let last = try evolving.open(model: Self.model([.info("k5")]))
        #expect(try Self.records(last) == 1_100)
        #expect(try last.verify().isSound)
    }

    @Test func `work that is stopped leaves the store as it was`() throws {
        struct Stop: Error {}
        let evolving = try Evolving(model: Self.model([]))
        for _ in 1...5 { try evolving.store.save(by: "ada") }
        let before = try evolving.store.projectionDigest()

        #expect(throws: (any Error).self) {
            try evolving.open(model: Self.model([.author]), work: { _, _ in throw Stop() })
        }

        #expect(try evolving.store.projectionDigest() == before)
        try evolving.store.expectSound()
    }

    @Test func `an index does not begin over an entry that cannot be trusted`() throws {
        let evolving = try Evolving(model: Self.model([]))
        for _ in 1...5 { try evolving.store.save(by: "ada") }
        let records = evolving.store.parts.journal.records
        try evolving.store.writing { transaction in
            // Its digest.
            let key = StoreKey.sequence(SequenceNumber(3))
            _ = try transaction.delete(records, key.span.bytes)
        }

        let error = #expect(throws: StoreError.self) {
            try evolving.open(model: Self.model([.author]))
        }

        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("Entry 3") == true, "\(error?.message ?? "")")
        try evolving.store.save(by: "bob")
    }

    // MARK: - Two programs

    @Test func `a program that does not know of the index keeps it, and finds by it`() throws {
        let evolving = try Evolving(model: Self.model([]))
        let older = evolving.store
        for _ in 1...20 { try older.save(by: "bob") }
        try evolving.open(model: Self.model(Self.everything), .compatible)

        try older.save(by: "ada", ["request": "7"])

        var selection = HeaderSelection()
        selection.authors = ["ada"]
        let head = try older.head()
        #expect(
            try older.access(to: selection, from: SequenceNumber(1), through: head)
                == .index(.author, about: 1))
        #expect(try older.found(selection) == [23])
        try evolving.store.expectSound()
    }

    @Test func `a program goes on without an index that another has dropped`() throws {
        let evolving = try Evolving(model: Self.model(Self.everything))
        let older = evolving.store
        for number in 1...40 { try older.save(by: number == 20 ? "ada" : "bob") }
        try evolving.open(model: Self.model([]), .compatible)
        try older.save(by: "ada")

        var selection = HeaderSelection()
        selection.authors = ["ada"]
        let head = try older.head()
        #expect(
            try older.access(to: selection, from: SequenceNumber(1), through: head)
                == .walk(head.rawValue))
        #expect(try older.found(selection) == [21, head.rawValue])
        try older.expectSound()
    }

    @Test(arguments: [EntryOrder.oldestFirst, .newestFirst])
    func `an index that is dropped while entries are looked up leaves none out`(
        order: EntryOrder
    ) throws {
        let evolving = try Evolving(model: Self.model(Self.everything))
        let store = evolving.store
        for number in 1...1_000 { try store.save(by: number % 10 == 0 ? "ada" : nil) }
        var selection = HeaderSelection()
        selection.authors = ["ada"]
        var found: [UInt64] = []

        try store.entries(
            selectedBy: selection, from: SequenceNumber(1), through: try store.head(), order
        ) { entry in
            if selection.includes(entry) { found.append(entry.sequence.rawValue) }
            if found.count == 3 { try evolving.open(model: Self.model([]), .compatible) }
            return .proceed
        }

        let forward = Self.every(10, of: 1_000)
        let expected: [UInt64] = order == .oldestFirst ? forward : forward.reversed()
        #expect(found == expected)
    }

    @Test func `saves meanwhile neither hide nor repeat an entry`() throws {
        let evolving = try Evolving(model: Self.model(Self.everything))
        let other = try evolving.open(model: Self.model(Self.everything))
        let store = evolving.openings[0]
        for number in 1...400 { try store.save(by: number % 8 == 0 ? "ada" : nil) }
        var selection = HeaderSelection()
        selection.authors = ["ada"]
        var found: [UInt64] = []

        try store.entries(
            selectedBy: selection, from: SequenceNumber(1), through: SequenceNumber(401),
            .newestFirst
        ) { entry in
            try other.save(by: "ada")
            found.append(entry.sequence.rawValue)
            return .proceed
        }

        let expected: [UInt64] = Self.every(8, of: 400).reversed()
        #expect(found == expected)
    }

    // MARK: - Hostile texts

    @Test func `texts that differ only beyond the cut are told apart`() throws {
        let evolving = try Evolving(model: Self.model(Self.everything))
        let store = evolving.store
        let long = String(repeating: "x", count: EntryInfo.valueBytesMaximum - 1)
        let texts = ["1", "2", ""].map { long + $0 } + [String(long.prefix(300))]
        for text in texts { try store.save(by: text, ["request": text]) }

        for (number, text) in texts.enumerated() {
            #expect(try store.lookedUp(.author, [text]) == [UInt64(number + 2)])
            #expect(try store.lookedUp(.info("request"), [text]) == [UInt64(number + 2)])
        }
        try store.expectSound()
    }

    @Test func `zero bytes, beginnings of others and empty texts are told apart`() throws {
        let evolving = try Evolving(model: Self.model(Self.everything))
        let store = evolving.store
        let zeros = String(repeating: "\0", count: EntryInfo.valueBytesMaximum)
        let texts = [
            "", "\0", "\0\0", "a", "a\0", "a\0\u{ff}", "ab", zeros, String(zeros.dropLast()),
        ]
        for text in texts { try store.save(by: text, ["request": text]) }

        for (number, text) in texts.enumerated() {
            #expect(try store.lookedUp(.author, [text]) == [UInt64(number + 2)])
            #expect(try store.lookedUp(.info("request"), [text]) == [UInt64(number + 2)])
        }
        #expect(try store.lookedUp(.info("request"), []) == Self.every(1, of: 9))
        try store.expectSound()
    }

    @Test func `two spellings of one text are the same, as for every filter`() throws {
        let key = "cl\u{e9}"
        let evolving = try Evolving(model: Self.model([.author, .info(key)]))
        let store = evolving.store
        try store.save(by: "Andr\u{e9}", ["cle\u{301}": "\u{212b}"])
        try store.save(by: "Andre\u{301}", [key: "A\u{30a}"])

        #expect(try store.lookedUp(.author, ["Andr\u{e9}"]) == [2, 3])
        #expect(try store.lookedUp(.author, ["Andre\u{301}"]) == [2, 3])
        #expect(try store.lookedUp(.info("cle\u{301}"), ["\u{c5}"]) == [2, 3])
        try store.expectSound()
    }

    @Test func `many keys, of which a few are indexed, stay apart`() throws {
        let evolving = try Evolving(
            model: Self.model([.info("k7"), .info("k70"), .info("k9999")]))
        let store = evolving.store
        let objects = try (0..<157).map { _ in try store.newObject("Thing") }
        for (number, object) in objects.enumerated() {
            let keys = (number * 64..<min(10_000, (number + 1) * 64))
            let info = Dictionary(uniqueKeysWithValues: keys.map { ("k\($0)", "v") })
            try store.commit(
                SaveRequest(
                    header: EntryHeader(info: info),
                    changes: [store.insert(object, ["a": .int(1)])]))
        }

        #expect(try Self.records(store) == 3)
        #expect(try store.lookedUp(.info("k7"), []) == [2])
        #expect(try store.lookedUp(.info("k70"), ["v"]) == [3])
        #expect(try store.lookedUp(.info("k9999"), ["v", "w"]) == [158])
        try store.expectSound()
    }

    @Test func `every key fits, however long key and text are`() {
        // Each of these letters has three bytes in place of one, taken apart.
        let key = String(repeating: "\u{390}", count: EntryInfo.keyBytesMaximum / 2)
        let text = String(repeating: "\u{390}", count: EntryInfo.valueBytesMaximum / 2)
        let attribution = IndexedAttribution.info(key)

        let record = StoreKey.entry(by: attribution, text, SequenceNumber(.max))

        #expect(EntryInfo.objection(to: [key: text]) == nil)
        #expect(record.count <= 511)
        #expect(record.starts(with: StoreKey.entries(by: attribution)))
    }

    @Test func `records of entries stand behind those of everything else`() {
        let record = StoreKey.entry(by: .author, "ada", SequenceNumber(5))

        // The number, the empty key, the author, the entry.
        #expect(record.prefix(4) == [0xc0, 0, 0, 0])
        #expect(record[4..<7] == [5, 0, 0])
        #expect(record[7..<13] == [5, 97, 100, 97, 0, 0])
        #expect(record[13...] == [0, 0, 0, 0, 0, 0, 0, 5])
    }

    // MARK: - Damage

    private func damaged(
        _ edit: @escaping @Sendable (borrowing WriteTransaction, Table, [UInt8]) throws -> Void
    ) throws -> Evolving {
        let evolving = try Evolving(model: Self.model(Self.everything))
        for number in 1...40 { try evolving.store.save(by: number % 20 == 0 ? "ada" : "bob") }
        let table = evolving.store.parts.tables.index
        let key = StoreKey.entry(by: .author, "ada", SequenceNumber(21))
        try evolving.store.writing { transaction in try edit(transaction, table, key) }
        return evolving
    }

    @Test func `verify finds a record that is missing`() throws {
        let evolving = try damaged { transaction, table, key in
            _ = try transaction.delete(table, key.span.bytes)
        }

        let report = try evolving.store.verify()

        #expect(report.findings.map(\.place) == ["index, attribution of entry 21"])
        #expect(report.findings.first?.message.hasSuffix("is missing.") == true)
        try evolving.store.rebuild()
        try evolving.store.expectSound()
    }

    @Test func `verify finds a record of an entry that says something else`() throws {
        let evolving = try damaged { transaction, table, key in
            let other = StoreKey.entry(by: .author, "eve", SequenceNumber(21))
            _ = try transaction.delete(table, key.span.bytes)
            try transaction.put(table, other.span.bytes, [UInt8]().span.bytes, .upsert)
        }
        var selection = HeaderSelection()
        selection.authors = ["eve"]

        // What the index says is not believed.
        #expect(try evolving.store.found(selection) == [])
        let report = try evolving.store.verify()
        let place = "index, attribution of entry 21"
        #expect(report.findings.map(\.place) == [place, place])
    }

    @Test func `where a record cannot be read, the entries are`() throws {
        let evolving = try damaged { transaction, table, key in
            try transaction.put(
                table.unchecked, key.span.bytes, [1, 2, 3, 4].span.bytes, .upsert)
        }
        var selection = HeaderSelection()
        selection.authors = ["ada"]

        #expect(try evolving.store.found(selection) == [21, 41])
        #expect(try !evolving.store.verify().isSound)
    }
}

extension Store {
    /// Saves a new object.
    func save(by author: String?, _ info: [String: String] = [:]) throws {
        let object = try newObject("Thing")
        try commit(
            SaveRequest(
                header: EntryHeader(author: author, info: info),
                changes: [insert(object, ["a": .int(1)])]))
    }

    /// The entries of the whole journal that a selection includes, found as readers find them.
    func found(_ selection: HeaderSelection) throws -> [UInt64] {
        var found: [UInt64] = []
        try entries(
            selectedBy: selection, from: SequenceNumber(1), through: try head(), .oldestFirst
        ) { entry in
            if selection.includes(entry) { found.append(entry.sequence.rawValue) }
            return .proceed
        }
        return found
    }

    /// The entries that the index has, whether it pays to ask it or not.
    func lookedUp(_ attribution: IndexedAttribution, _ texts: Set<String>) throws -> [UInt64] {
        var search = EntrySearch(
            self, attribution, texts, in: SequenceNumber(1)...(try head()), .oldestFirst)
        var found: [UInt64] = []
        while let portion = try search.next() {
            found += portion.entries.map(\.sequence.rawValue)
        }
        #expect(search.rest == nil)
        return found
    }
}
