import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// People whose names have a text index, and the same names without one.
@Suite struct TextIndexTests {
    private static let seeds: [UInt64] = [5, 55, 555]
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Person",
            attributes: [
                AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "twin", type: .string),
                AttributeDescription(
                    name: "sortName", type: .string, isIndexed: true,
                    derivation: .text(.canonical, attribute: "name")),
            ]), EntityDescription(name: "Child", superentityName: "Person"),
    ])

    /// A store with a person for each text, and one without a name.
    private func store(_ texts: [String]) throws -> TemporaryStore {
        let temporary = try TemporaryStore(Self.model)
        let store = temporary.store
        var changes = [store.insert(try store.newObject("Person"))]
        for (number, text) in texts.enumerated() {
            let object = try store.newObject(number % 3 == 0 ? "Child" : "Person")
            changes.append(store.insert(object, ["name": .string(text), "twin": .string(text)]))
        }
        try store.commit(SaveRequest(changes: changes))
        return temporary
    }

    private func plan(_ text: String, _ store: Store) throws -> String {
        let person = try #require(store.schema.entity(named: "Person"))
        let filter = try Filter(parsing: text, for: person, in: store.schema)
        return try store.read { try $0.explanation(of: Query(person, filter: filter)) }
    }

    @Test(arguments: [
        ("name ==[cd] 'Éa'", "index of 'sortName', 1 range for name ==[cd] \"Éa\""),
        ("name BEGINSWITH[cd] 'É'", "index of 'sortName', 1 range for name BEGINSWITH[cd] \"É\""),
        ("name IN[cd] {'É', 'e', 'b'}", "index of 'sortName', 2 ranges"),
    ])
    func `a comparison without case and diacritics is served by the index of canonical texts`(
        text: String, explanation: String
    ) throws {
        let temporary = try store([])
        #expect(try plan(text, temporary.store).hasPrefix(explanation))
    }

    @Test(arguments: [
        "name == 'a'", "name ==[c] 'a'", "name BEGINSWITH[d] 'a'", "name BEGINSWITH[cd] ''",
        "name CONTAINS[cd] 'a'", "name !=[cd] 'a'", "twin ==[cd] 'a'", "name IN[cd] {'a', nil}",
    ])
    func `any other comparison is not`(text: String) throws {
        let temporary = try store([])
        #expect(try plan(text, temporary.store).hasPrefix("all objects are read"))
    }

    /// Texts of letters that differ by case, accent, ligature and language.
    private func texts(_ count: Int, _ random: inout SeededGenerator) -> [String] {
        (0..<count).map { _ in text(0...4, &random) }
    }

    private func text(_ length: ClosedRange<Int>, _ random: inout SeededGenerator) -> String {
        let letters = [
            "a", "A", "á", "A\u{301}", "ß", "ss", "Σ", "ς", "σ", "ı", "İ", "i", "é", " ", "ﬁ", "f",
            "\u{327}", "\u{10D50}", "\u{10D70}", "\u{10D69}", "\u{264}", "ǅ", "한",
        ]
        return (0..<Int.random(in: length, using: &random)).map { _ in
            letters.randomElement(using: &random) ?? ""
        }.joined()
    }

    @Test(arguments: seeds)
    func `what the index finds is what is found without an index`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let temporary = try store(texts(150, &random))
        let store = temporary.store
        let schema = store.schema
        var found = 0

        for _ in 0..<60 {
            let one = Value.string(text(0...3, &random))
            let other = Value.string(text(1...2, &random))
            for (condition, values) in [
                ("==[cd] %@", [one]), ("BEGINSWITH[cd] %@", [one]),
                ("IN[cd] {%@, %@}", [one, other]),
            ] {
                for name in ["Person", "Child"] {
                    let entity = try #require(schema.entity(named: name))
                    let filter = try Filter(
                        parsing: "name \(condition)", for: entity, in: schema, arguments: values)
                    let twin = try Filter(
                        parsing: "twin \(condition)", for: entity, in: schema, arguments: values)
                    let (indexed, scanned, evaluated) = try store.read { snapshot in
                        (
                            try snapshot.fetch(Query(entity, filter: filter)),
                            try snapshot.fetch(Query(entity, filter: twin)),
                            try snapshot.fetch(Query(entity)).filter {
                                try filter.matches($0, in: snapshot)
                            }
                        )
                    }
                    let message = "seed \(seed): \(condition) \(values)"
                    #expect(indexed == scanned, "\(message)")
                    #expect(indexed == evaluated, "\(message)")
                    found += indexed.count
                }
            }
        }
        #expect(found > 500)
    }

    @Test func `texts longer than a key are told apart by the comparison`() throws {
        let long = String(repeating: "É", count: 400)
        let temporary = try store([long + "a", long + "á", long + "b", "E"])
        let store = temporary.store

        #expect(try store.found("Person", "name ==[cd] '\(long)A'").count == 2)
        #expect(try store.found("Person", "name BEGINSWITH[cd] '\(long)'").count == 3)
        #expect(try store.found("Person", "name BEGINSWITH[cd] '\(long)B'").count == 1)
    }

    @Test func `an index that is put off is not asked until it is complete`() throws {
        let plain = ManagedObjectModel(entities: [
            entity("A", [attribute("name")])
        ])
        let indexed = ManagedObjectModel(entities: [
            entity("A", [attribute("name"), Self.canonical("sortName", of: "name")])
        ])
        let temporary = try TemporaryStore(plain)
        for name in ["é", "E", "b"] { try temporary.store.add("A", ["name": .string(name)]) }
        var options = StoreOptions.counting()
        options.migration = .automatic
        options.indexes = .deferred

        let store = try TestStore.open(at: temporary.path, model: indexed, options: options)

        #expect(try store.pendingIndexes() == ["sortName"])
        #expect(try store.found("A", "name ==[cd] 'É'").count == 2)
        try store.add("A", ["name": .string("É")])
        #expect(try store.found("A", "name ==[cd] 'É'").count == 3)
        try store.buildIndexes()
        #expect(try store.found("A", "name ==[cd] 'É'").count == 3)
        try store.expectSound()
        try store.close()
    }

    private static func canonical(_ name: String, of source: String) -> AttributeDescription {
        AttributeDescription(
            name: name, type: .string, isIndexed: true,
            derivation: .text(.canonical, attribute: source))
    }

    /// The step is compatible, so a program of the model before goes on.
    @Test func `an older program does not ask an index that has come to hold other texts`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("name"), attribute("nick"), Self.canonical("key", of: "name")]))
        let older = evolving.store
        let object = try older.add("A", ["name": .string("É"), "nick": .string("x")])
        #expect(try older.found("A", "name ==[cd] 'e'") == [object])

        let newer = try evolving.open(
            entity("A", [attribute("name"), attribute("nick"), Self.canonical("key", of: "nick")]))

        #expect(try older.found("A", "name ==[cd] 'e'") == [object])
        #expect(try newer.found("A", "name ==[cd] 'e'") == [object])
        #expect(try newer.found("A", "nick ==[cd] 'X'") == [object])
    }

    @Test func `the past is not asked by the index of now`() throws {
        let temporary = try store(["É"])
        let store = temporary.store
        let then = try store.head()
        let object = try #require(try store.found("Person", "name ==[cd] 'e'").first)
        try store.set(object, "name", .string("b"))

        let person = try #require(store.schema.entity(named: "Person"))
        let filter = try Filter(parsing: "name ==[cd] 'e'", for: person, in: store.schema)
        let found = try store.read(at: then) { try $0.fetch(Query(person, filter: filter)) }

        #expect(found == [object])
        #expect(try store.found("Person", "name ==[cd] 'e'").isEmpty)
        #expect(try store.found("Person", "name BEGINSWITH[cd] 'B'") == [object])
    }

    @Test
    func `a text is found by the beginning that an index key has room for, and by longer ones`()
        throws
    {
        let model = ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                attributes: [AttributeDescription(name: "text", type: .string, isIndexed: true)])
        ])
        let temporary = try TemporaryStore(model)
        let store = temporary.store
        let entity = try #require(store.schema.entity(named: "Note"))
        for length in 392...402 {
            let beginning = String(repeating: "a", count: length - 1) + "b"
            let long = try store.add("Note", ["text": .string(beginning + "x")])
            let short = try store.add("Note", ["text": .string(beginning)])
            let filter = try Filter(
                parsing: "text BEGINSWITH '\(beginning)'", for: entity, in: store.schema)
            try store.read { snapshot throws in
                #expect(
                    try snapshot.fetch(Query(entity, filter: filter)) == [long, short],
                    "\(length) bytes")
            }
        }
    }
}
