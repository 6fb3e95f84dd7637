import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSearch
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// What a text index finds, now, then and ever.
@Suite struct SearchIndexTests {
    private static func model(title: Bool = true) -> ManagedObjectModel {
        ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                attributes: [
                    AttributeDescription(name: "body", type: .string),
                    AttributeDescription(name: "secret", type: .string, isConfidential: true),
                    AttributeDescription(name: "number", type: .int64),
                ]
                    + (title
                        ? [AttributeDescription(name: "title", type: .string)] : [])),
            EntityDescription(name: "Letter", superentityName: "Note"),
        ])
    }

    private let temporary: TemporaryStore
    private var store: Store { temporary.store }

    init() throws {
        temporary = try TemporaryStore(Self.model())
    }

    private func index() throws -> TextIndexFile {
        try TextIndexFile(of: store, at: temporary.path + "-text")
    }

    private func add(_ body: String, to entity: String = "Note") throws -> ObjectID {
        let object = try store.newObject(entity)
        try store.commit(
            SaveRequest(changes: [store.insert(object, ["body": .string(body)])]))
        return object
    }

    private func set(_ object: ObjectID, from old: String?, to new: String?) throws {
        let value = { (text: String?) in text.map { Value.string($0) } ?? .null }
        try store.commit(
            SaveRequest(changes: [
                store.update(object, "body", from: value(old), to: value(new))
            ]))
    }

    private func found(
        _ text: String, _ scope: SearchScope = SearchScope(), in index: TextIndexFile
    ) throws -> [String] {
        try index.search(text, in: scope).map(\.text).sorted()
    }

    @Test func `words, phrases and beginnings are found without regard to case and accents`()
        throws
    {
        let texts = [
            "The red herring", "A herring, red", "Reddish herrings", "Blue Fish",
            "Crème brûlée", "Straße", "", "x",
        ]
        for text in texts { _ = try add(text) }
        let index = try index()

        #expect(try found("red herring", in: index) == ["A herring, red", "The red herring"])
        #expect(try found("\"red herring\"", in: index) == ["The red herring"])
        #expect(
            try found("red* herring*", in: index)
                == ["A herring, red", "Reddish herrings", "The red herring"])
        #expect(
            try found("blue OR brulee", in: index) == ["Blue Fish", "Crème brûlée"])
        #expect(try found("herring -the", in: index) == ["A herring, red"])
        #expect(try found("CREME", in: index) == ["Crème brûlée"])
        #expect(try found("herr", in: index) == [])
    }

    @Test func `the better match comes first, and a page continues the one before`() throws {
        for number in 0..<20 { _ = try add("herring " + String(repeating: "x ", count: number)) }
        let index = try index()

        let all = try index.search("herring", in: SearchScope())
        #expect(all.count == 20)
        #expect(all.map(\.text.count) == all.map(\.text.count).sorted())
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.rank >= $1.rank })
        let second = try index.search("herring", in: SearchScope(limit: 5, offset: 5))
        #expect(second.map(\.object) == all[5..<10].map(\.object))
        #expect(try index.search("herring", in: SearchScope(limit: 0)).isEmpty)
    }

    @Test func `a value is found from the entry that set it until the one that ended it`() throws {
        let object = try add("Swaziland")  // entry 2
        try set(object, from: "Swaziland", to: "Eswatini")  // entry 3
        try set(object, from: "Eswatini", to: nil)  // entry 4
        let index = try index()

        #expect(try found("swaziland", in: index) == [])
        #expect(try found("swaziland", SearchScope(at: .ever), in: index) == ["Swaziland"])
        let match = try #require(
            try index.search("swaziland", in: SearchScope(at: .ever)).first)
        #expect(match.object == object)
        #expect(match.since == SequenceNumber(2) && match.until == SequenceNumber(3))
        for (moment, texts) in [
            (1, []), (2, ["Swaziland"]), (3, ["Eswatini"]), (4, []),
        ] as [(UInt64, [String])] {
            #expect(
                try found(
                    "swaziland OR eswatini", SearchScope(at: .sequence(SequenceNumber(moment))),
                    in: index) == texts)
        }
        try store.commit(store.undoRequest(of: SequenceNumber(4)))
        #expect(try found("eswatini", in: index) == ["Eswatini"])
        let delete = try #require(try store.read { try $0.row(object) })
        try store.commit(
            SaveRequest(changes: [
                Change(object: object, kind: .delete(values: delete.values, members: []))
            ]))
        #expect(try found("eswatini", in: index) == [])
        #expect(
            try found("eswatini", SearchScope(at: .ever), in: index) == ["Eswatini", "Eswatini"])
    }

    @Test func `a search can be limited to an entity and an attribute`() throws {
        let note = try add("herring")
        let letter = try add("herring", to: "Letter")
        try store.commit(
            SaveRequest(changes: [
                store.update(letter, "title", from: .null, to: .string("herring")),
                store.update(note, "secret", from: .null, to: .string("hidden herring")),
            ]))
        let index = try index()
        func places(_ scope: SearchScope) throws -> Set<String> {
            Set(
                try index.search("herring", in: scope).map {
                    "\(store.schema.name(of: $0.object)).\($0.property.name)"
                })
        }

        #expect(
            try places(SearchScope()) == ["Note/1.body", "Letter/2.body", "Letter/2.title"])
        #expect(
            try places(SearchScope(entityName: "Letter")) == ["Letter/2.body", "Letter/2.title"])
        #expect(
            try places(SearchScope(entityName: "Note", propertyName: "title")) == ["Letter/2.title"]
        )
        for scope in [
            SearchScope(entityName: "Lettre"),
            SearchScope(entityName: "Note", propertyName: "tite"),
            SearchScope(entityName: "Note", propertyName: "secret"),
            SearchScope(entityName: "Note", propertyName: "number"),
            SearchScope(propertyName: "title"), SearchScope(at: .sequence(SequenceNumber(99))),
        ] {
            let error = #expect(throws: SearchError.self) {
                try index.search("herring", in: scope)
            }
            #expect(error?.code == .scope)
        }
    }

    @Test func `two indexes of one file follow the same journal`() throws {
        _ = try add("first herring")
        let (left, right) = (try index(), try index())
        #expect(try found("herring", in: left) == ["first herring"])
        _ = try add("second herring")
        #expect(try found("herring", in: right) == ["first herring", "second herring"])
        _ = try add("third herring")
        #expect(try found("herring", in: left).count == 3)
        #expect(try found("herring", SearchScope(at: .ever), in: right).count == 3)
    }

    /// Runs a statement on the file of the index, as a program that is not this one, and returns what it prints.
    private func run(_ statement: String) throws -> String {
        let run = try ChildProcess.run(
            #require(BuiltTool.system("python3")),
            [
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    + "print(c.execute(sys.argv[2]).fetchall()); c.commit()",
                temporary.path + "-text", statement,
            ])
        #expect(run.ending == .exited(0))
        return run.lines.joined()
    }

    @Test func `an index is not made anew because others save while it is searched`() async throws {
        _ = try add("first herring")
        let index = try index()
        _ = try index.bringUpToDate()
        // It would be gone.
        _ = try run(
            "INSERT INTO held (id, entity, object, property, since) VALUES (9000000, 0, 0, 0, 1)")
        let store = store

        _ = try await onThreads(2) { place in
            for number in 0..<1_500 {
                guard place == 0 else {
                    _ = try index.bringUpToDate()
                    continue
                }
                let object = try store.newObject("Note")
                try store.commit(
                    SaveRequest(changes: [
                        store.insert(object, ["body": .string("herring \(number)")])
                    ]))
            }
        }

        #expect(try found("herring", SearchScope(limit: 9_999), in: index).count == 1_501)
        #expect(try run("SELECT id FROM held WHERE id = 9000000").contains("9000000"))
    }

    @Test func `an index of another store, or of what has been replaced, is made anew`() throws {
        _ = try add("herring")
        let copy = temporary.folder.appending(path: "copy.daybook").path
        try FileManager.default.copyItem(atPath: temporary.path, toPath: copy)
        _ = try add("blue herring")
        #expect(try found("herring", in: index()).count == 2)

        // The copy goes on in its own way.
        let other = try Store.open(at: copy, options: .counting())
        let object = try other.newObject("Note")
        try other.commit(
            SaveRequest(changes: [other.insert(object, ["body": .string("red herring")])]))
        let moved = try TextIndexFile(of: other, at: temporary.path + "-text")
        #expect(
            try moved.search("herring", in: SearchScope()).map(\.text).sorted()
                == ["herring", "red herring"])
        try other.close()
        #expect(try found("herring", in: index()) == ["blue herring", "herring"])
    }

    @Test func `a file of something else is refused and left as it is`() throws {
        let path = temporary.folder.appending(path: "other").path
        let tables = temporary.folder.appending(path: "tables").path
        let made = try ChildProcess.run(
            #require(BuiltTool.system("python3")),
            [
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                    + "c.execute('create table t (x)'); c.commit()", tables,
            ])
        #expect(made.ending == .exited(0))
        for bytes in [
            Data("not a database at all".utf8) + Data(repeating: 7, count: 4_000),
            try Data(contentsOf: URL(filePath: tables)),
        ] {
            try bytes.write(to: URL(filePath: path))
            let error = #expect(throws: SearchError.self) {
                try TextIndexFile(of: store, at: path)
            }
            #expect(error?.code == .file)
            #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        }
        let folder = #expect(throws: SearchError.self) {
            try TextIndexFile(of: store, at: temporary.folder.appending(path: "none/index").path)
        }
        #expect(folder?.code == .file)
    }

    @Test func `an index whose file was removed or exchanged while it is open is made anew`() throws
    {
        _ = try add("red herring")
        let (left, right) = (try index(), try index())
        #expect(try found("herring", in: left).count == 1)
        try FileManager.default.removeItem(atPath: temporary.path + "-text")
        #expect(try found("herring", in: right).count == 1)
        _ = try add("blue herring")
        #expect(try found("herring", in: left).count == 2)
        #expect(try found("herring", in: right).count == 2)
    }

    @Test func `a file that may only be read serves while nothing is new`() throws {
        _ = try add("herring")
        #expect(try found("herring", in: index()).count == 1)
        let file = temporary.path + "-text"
        let before = try Data(contentsOf: URL(filePath: file))
        #expect(try found("herring", in: index()).count == 1)
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }

    // MARK: - Models

    private static func kind(isConfidential: Bool = false) -> AttributeDescription {
        AttributeDescription(
            name: "kind", type: .string, isOptional: false, isConfidential: isConfidential,
            defaultValue: .string("smoked thing"))
    }

    private func reopened(_ model: ManagedObjectModel) throws -> (Store, TextIndexFile) {
        let store = try Store.open(at: temporary.path, model: model, options: .counting())
        return (store, try TextIndexFile(of: store, at: temporary.path + "-text"))
    }

    @Test func `what a new attribute is by default can be found, and what is removed cannot`()
        throws
    {
        let object = try add("herring")
        #expect(try found("herring", in: index()) == ["herring"])
        var wider = Self.model()
        wider.entities[0].attributes.append(Self.kind())
        let (new, index) = try reopened(wider)

        let match = try #require(try index.search("smoked", in: SearchScope()).first)
        #expect(match.object == object && match.property.name == "kind")
        #expect(try index.search("herring", in: SearchScope()).count == 1)
        try new.close()

        var narrower = wider
        narrower.entities[0].attributes.removeAll { $0.name == "kind" }
        let (last, after) = try reopened(narrower)
        #expect(try after.search("smoked", in: SearchScope(at: .ever)).isEmpty)
        #expect(try after.search("herring", in: SearchScope()).count == 1)
        try last.close()
    }

    @Test func `a program of an earlier model leaves no hole for one of the newer`() throws {
        _ = try add("herring")
        var wider = Self.model()
        wider.entities[0].attributes.append(Self.kind())
        let (new, _) = try reopened(wider)
        // The program of the earlier model is the first to take the new one in.
        #expect(try found("herring", in: index()) == ["herring"])

        let index = try TextIndexFile(of: new, at: temporary.path + "-text")
        #expect(try index.search("smoked", in: SearchScope()).count == 1)
        #expect(try found("herring", in: self.index()) == ["herring"])
        #expect(try index.search("smoked", in: SearchScope()).count == 1)
        try new.close()
    }

    @Test func `what becomes confidential is in the file no more`() throws {
        var wider = Self.model()
        wider.entities[0].attributes.append(Self.kind())
        let (first, before) = try reopened(wider)
        _ = try add("herring")
        #expect(try before.search("smoked", in: SearchScope()).count == 1)
        try first.close()

        wider.entities[0].attributes.removeAll { $0.name == "kind" }
        wider.entities[0].attributes.append(Self.kind(isConfidential: true))
        let (second, after) = try reopened(wider)
        #expect(try after.search("herring", in: SearchScope(at: .ever)).count == 1)
        #expect(try after.search("smoked", in: SearchScope(at: .ever)).isEmpty)
        let bytes = try Data(contentsOf: URL(filePath: temporary.path + "-text"))
        #expect(bytes.range(of: Data("herring".utf8)) != nil)
        #expect(bytes.range(of: Data("smoked".utf8)) == nil)
        try second.close()
    }

    @Test(arguments: [81, 82, 83] as [UInt64])
    func `in a random history it finds what a look at every value finds`(seed: UInt64) throws {
        let words = ["red", "blue", "herring", "fish", "Ärger", "arger", "x1"]
        var random = SeededGenerator(seed: seed)
        var states: [[ObjectID: String]] = [[:]]
        var ever: [(ObjectID, String)] = []
        func text() -> String {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(words) }
                .joined(separator: random.chance(2) ? " " : ", ")
        }
        var index = try index()
        for step in 0..<60 {
            var state = states.last ?? [:]
            let object = state.keys.sorted().randomElement(using: &random)
            if let object, let old = state[object], random.chance(2) {
                let new = text()
                guard new != old else { continue }
                try set(object, from: old, to: new)
                state[object] = new
                ever.append((object, new))
            } else {
                let new = text()
                let object = try add(new)
                state[object] = new
                ever.append((object, new))
            }
            states.append(state)
            if random.chance(9) { index = try self.index() }
            guard random.chance(4) || step == 59 else { continue }

            let word = random.pick(words).lowercased()
            let plain = word.folding(options: .diacriticInsensitive, locale: nil)
            func has(_ text: String) -> Bool {
                text.lowercased().folding(options: .diacriticInsensitive, locale: nil)
                    .split { !$0.isLetter && !$0.isNumber }.contains { $0 == plain }
            }
            let now = try index.search(word, in: SearchScope(limit: 10_000)).map(\.object).sorted()
            #expect(
                now == state.filter { has($0.value) }.keys.sorted(), "seed \(seed), step \(step)")
            let past = Int.random(in: 0..<states.count, using: &random)
            // The first entry is the model's.
            let moment = SequenceNumber(UInt64(past + 1))
            let then = try index.search(word, in: SearchScope(at: .sequence(moment), limit: 10_000))
            #expect(
                then.map(\.object).sorted()
                    == states[past].filter { has($0.value) }.keys.sorted(),
                "seed \(seed), step \(step), entry \(moment)")
            let all = try index.search(word, in: SearchScope(at: .ever, limit: 10_000))
            #expect(all.count == ever.count { has($0.1) }, "seed \(seed), step \(step)")
        }
    }

    @Test(arguments: [91, 92] as [UInt64])
    func `no text to look for breaks the expression`(seed: UInt64) throws {
        _ = try add("red herring")
        let index = try index()
        var random = SeededGenerator(seed: seed)
        let parts = [
            "red", "\"", "'", "*", "-", "OR", "AND", "NOT", "NEAR", "(", ")", ":", "^", "{", "}",
            "\u{0}", " ", "\t", "é", "\u{301}", "東", "😀", "words", ";", "--", "\\", "+", ",",
        ]
        var answered = 0

        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 1...8, using: &random)).map { _ in random.pick(parts) }
                .joined()
            do {
                _ = try index.search(text, in: SearchScope())
                answered += 1
            } catch let error as SearchError {
                #expect(error.code == .text, "seed \(seed): \(text.debugDescription): \(error)")
            }
        }

        #expect(answered > 200)
    }
}
