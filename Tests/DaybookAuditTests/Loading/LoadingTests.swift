import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Exports made into stores again.
@Suite struct LoadingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var path: String { directory.path("new.daybook") }

    private func load(_ lines: [[UInt8]]) throws {
        let loader = try StoreLoader(creating: path)
        do {
            for line in lines { try loader.load(line) }
            try loader.finish()
        } catch {
            try loader.abandon()
            throw error
        }
    }

    private func filesLeft() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    }

    // MARK: - The law

    @Test(arguments: 1...12)
    func `an export loads into the same bytes and tables`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed, entries: 25)

        let lines = try Exporting.lines(of: history.store)
        try load(lines)

        let loaded = try TestStore.open(at: path)
        #expect(try Exporting.lines(of: loaded) == lines, "seed \(seed)")
        #expect(try loaded.headDigest() == history.store.headDigest(), "seed \(seed)")
        let tables = try loaded.projectionDigest().filter { $0.key != "meta" }
        #expect(
            try history.store.projectionDigest().filter { $0.key != "meta" } == tables,
            "seed \(seed)")
    }

    @Test(arguments: 1...12)
    func `values and headers of every kind come back`(seed: UInt64) throws {
        let source = try RandomValues.write(seed: seed, entries: 20)

        let lines = try Exporting.lines(of: source.store)
        try load(lines)

        let loaded = try TestStore.open(at: path)
        #expect(try Exporting.lines(of: loaded) == lines, "seed \(seed)")
        for number in 1...(try source.store.head().rawValue) {
            let before = try source.store.entry(SequenceNumber(number))
            let after = try loaded.entry(SequenceNumber(number))
            #expect(before.header == after.header, "seed \(seed), entry \(number)")
            #expect(before.changes == after.changes, "seed \(seed), entry \(number)")
            #expect(before.digest == after.digest, "seed \(seed), entry \(number)")
        }
    }

    @Test func `the story comes back`() throws {
        let story = try AtlasStory.write()
        let lines = try Exporting.lines(of: story.store)

        try load(lines)

        #expect(try Exporting.lines(of: TestStore.open(at: path)) == lines)
        #expect(try filesLeft().filter { !$0.hasSuffix("-lock") }.count == 1)
    }

    @Test func `a store whose model requires attribution comes back`() throws {
        var model = AtlasStory.model
        model.requires = [.author, .info("request")]
        let source = try TemporaryStore(model)
        let union = try source.store.newObject("Union")
        try source.store.commit(
            SaveRequest(
                header: EntryHeader(author: "Ada", info: ["request": "7"]),
                changes: [source.store.insert(union, ["name": .string("Pair")])]))
        let lines = try Exporting.lines(of: source.store)

        try load(lines)

        let loaded = try TestStore.open(at: path)
        #expect(try Exporting.lines(of: loaded) == lines)
        #expect(throws: StoreError.self) {
            try loaded.commit(SaveRequest(changes: [try loaded.delete(union)]))
        }
    }

    @Test func `a store with an index of entries comes back with the same tables`() throws {
        var model = AtlasStory.model
        model.indexesEntries = [.author, .info("request")]
        let source = try TemporaryStore(model)
        for number in 1...20 {
            let union = try source.store.newObject("Union")
            try source.store.commit(
                SaveRequest(
                    header: EntryHeader(
                        author: number % 2 == 0 ? "Ada" : nil, info: ["request": "\(number)"]),
                    changes: [source.store.insert(union, ["name": .string("Pair \(number)")])]))
        }

        try load(try Exporting.lines(of: source.store))

        let loaded = try TestStore.open(at: path)
        #expect(try loaded.headDigest() == source.store.headDigest())
        #expect(
            try loaded.projectionDigest()["index"] == source.store.projectionDigest()["index"])
        var selection = HeaderSelection()
        selection.info = ["request": ["7"]]
        #expect(
            try loaded.access(to: selection, from: SequenceNumber(1), through: loaded.head())
                == .index(.info("request"), about: 1))
    }

    // MARK: - Bad input

    @Test func `a changed value is a mismatch at its line and leaves nothing`() throws {
        let story = try AtlasStory.write()
        var lines = try Exporting.lines(of: story.store)
        lines[3] = Array(
            String(decoding: lines[3], as: UTF8.self).replacing("Rhône", with: "Rhone").utf8)

        let error = #expect(throws: ExportError.self) { try load(lines) }

        #expect(error?.kind == .mismatch)
        #expect(error?.line == 4)
        #expect(try filesLeft().isEmpty)
    }

    @Test func `a change that does not fit what was before is a mismatch`() throws {
        let story = try AtlasStory.write()
        var lines = try Exporting.lines(of: story.store)
        lines[5] = Array(
            String(decoding: lines[5], as: UTF8.self).replacing("\"Turkey\"", with: "\"Tyrkia\"")
                .utf8)

        let error = #expect(throws: ExportError.self) { try load(lines) }

        #expect(error?.kind == .mismatch)
        #expect(error?.line == 6)
        #expect(try filesLeft().isEmpty)
    }

    @Test(arguments: ["1e999", "-1e999", "1e400"])
    func `B15 a place in an order that no number can hold is refused`(order: String) throws {
        let story = try AtlasStory.write()
        var lines = try Exporting.lines(of: story.store)
        let place = try #require(
            lines.firstIndex { String(decoding: $0, as: UTF8.self).contains("\"order\":1.0") })
        lines[place] = Array(
            String(decoding: lines[place], as: UTF8.self)
                .replacing("\"order\":1.0", with: "\"order\":\(order)").utf8)

        let error = #expect(throws: ExportError.self) { try load(lines) }

        #expect(error?.kind == .malformed)
        #expect(
            error?.description.contains("order: a number that 64 bits can hold was expected")
                == true,
            "\(String(describing: error))")
        #expect(try filesLeft().isEmpty)
    }

    @Test(arguments: [
        (#""undoes":18446744073709551615"#, "undoes"), (#""undoes":[1,9]"#, "undoes"),
        (#""undoes":9"#, "undoes"), (#""base":9"#, "base"),
        (#""base":18446744073709551615"#, "base"),
    ])
    func `B11 an entry that stands on a later one is refused`(
        member: String, name: String
    ) throws {
        let story = try AtlasStory.write()
        var lines = try Exporting.lines(of: story.store)
        lines[1] = Array(
            String(decoding: lines[1], as: UTF8.self)
                .replacing(#""sequence":2,"#, with: #""sequence":2,\#(member),"#).utf8)

        let error = #expect(throws: ExportError.self) { try load(lines) }

        #expect(error?.kind == .malformed)
        #expect(error?.description.hasPrefix("line 2: \(name): ") == true)
    }

    @Test func `a missing line is told by its number`() throws {
        let story = try AtlasStory.write()
        var lines = try Exporting.lines(of: story.store)
        lines.remove(at: 4)

        let error = #expect(throws: ExportError.self) { try load(lines) }

        #expect(
            error?.description
                == "line 5: Entry 5 was expected, not entry 6. An export to load has every entry, "
                + "from the first on.")
        #expect(try filesLeft().isEmpty)
    }

    @Test func `an entry that changes nothing is no entry`() throws {
        let story = try AtlasStory.write()
        var lines = try Exporting.lines(of: story.store)
        let text = String(decoding: lines[3], as: UTF8.self)
        let head = try #require(text.firstRange(of: "[{")?.lowerBound)
        let tail = try #require(text.firstRange(of: "}],")?.upperBound)
        lines[3] = Array((text[..<head] + "[]," + text[tail...]).utf8)

        let error = #expect(throws: ExportError.self) { try load(lines) }

        #expect(error?.kind == .mismatch)
        #expect(error?.message.hasPrefix("Entry 4 changes nothing") == true)
        #expect(try filesLeft().isEmpty)
    }

    @Test func `an export without its beginning is refused`() throws {
        let story = try AtlasStory.write()
        let lines = try Exporting.lines(of: story.store)

        let error = #expect(throws: ExportError.self) { try load(Array(lines.dropFirst())) }

        #expect(error?.kind == .malformed)
        #expect(error?.line == 1)
        #expect(error?.message.contains("begins with entry 1") == true)
        #expect(try filesLeft().isEmpty)
    }

    @Test func `a folder that is not there is told by the name that was given`() throws {
        let path = directory.path("nowhere/new.daybook")

        let error = #expect(throws: StoreError.self) { try StoreLoader(creating: path) }

        #expect(error?.code == .missing)
        #expect(error?.message.contains("'\(path)' cannot be made: there is no folder") == true)
    }

    @Test func `a file that is there stays as it is`() throws {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))

        let error = #expect(throws: StoreError.self) { _ = try StoreLoader(creating: path) }

        #expect(error?.code == .exists)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func `an input without entries makes no store`() throws {
        let error = #expect(throws: ExportError.self) { try load([[], [0x20]]) }

        #expect(error?.line == nil)
        #expect(try filesLeft().isEmpty)
    }

    @Test(
        arguments: [
            ("not json", "line 2: column 1: "),
            (#"{"sequence":2}"#, "line 2: time: is missing; "),
            (
                #"{"sequence":2,"tiem":"2024-01-01T00:00:00Z"}"#,
                "line 2: tiem: is not known here; did you mean 'time'?"
            ),
            (
                #"{"sequence":2,"time":"2024-01-01T00:00:00Z","info":{"request":7}}"#,
                "line 2: info.request: text was expected, not the number 7."
            ),
            (
                #"{"sequence":2,"time":"2024-01-01T00:00:00Z","info":[]}"#,
                "line 2: info: an object was expected"
            ),
            (
                #"{"sequence":2,"time":"2024-01-01T00:00:00Z","info":{}}"#,
                "line 2: info: an entry without information leaves it out."
            ),
            (
                #"{"sequence":2,"time":"2024-01-01T00:00:00Z","info":{"a=b":""}}"#,
                #"line 2: info: information cannot have the key "a=b", because that has '='"#
            ),
            (
                #"{"sequence":2,"time":"2024-01-01T00:00:00Z","info":{"a":"","a":""}}"#,
                "line 2: "
            ),
            (
                #"{"sequence":"2"}"#,
                "line 2: sequence: a whole number from 0 was expected, not the text \"2\"."
            ),
            (
                Self.entry(#"{"op":"insert","object":"Land/1","entity":"Land","new":{}}"#),
                "line 2: changes[0].object: 'Land/1' does not name an object, as 'Country/17' does."
            ),
            (
                Self.entry(
                    #"{"op":"insert","object":"Country/1","entity":"Country","new":{"nam":"x"}}"#),
                "line 2: changes[0].new.nam: 'Country' has no such property; did you mean 'name'?"
            ),
            (
                Self.entry(
                    #"{"op":"insert","object":"Country/1","entity":"Country","new":{"name":1}}"#),
                "line 2: changes[0].new.name: Text was expected, not the number 1."
            ),
            (
                Self.entry(
                    #"{"op":"update","object":"Country/1","entity":"Country","old":{"name":"a"},"#
                        + #""new":{}}"#),
                "line 2: changes[0].new.name: is missing; \"old\" has it."
            ),
            (
                Self.entry(
                    #"{"op":"insert","object":"Country/1","entity":"Union","new":{}}"#),
                "line 2: changes[0].entity: 'Union' is not the entity of 'Country/1'"
            ),
        ] as [(String, String)])
    func `a bad line says what is wrong`(line: String, expectation: String) throws {
        let story = try AtlasStory.write()
        let first = try Exporting.lines(of: story.store)[0]

        let error = #expect(throws: ExportError.self) { try load([first, Array(line.utf8)]) }

        #expect(error?.kind == .malformed)
        let description = error?.description ?? ""
        #expect(description.hasPrefix(expectation), "\(description)")
        #expect(try filesLeft().isEmpty)
    }

    private static func entry(_ change: String) -> String {
        let digest = String(repeating: "0", count: 64)
        return #"{"sequence":2,"time":"2024-01-01T00:00:00Z","changes":["# + change
            + #"],"digest":"\#(digest)"}"#
    }
}
