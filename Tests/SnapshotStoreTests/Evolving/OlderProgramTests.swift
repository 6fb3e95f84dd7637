import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Programs with an older model beside one with a newer.
struct OlderProgramTests {
    private func rolling() throws -> (Evolving, old: Store, new: Store) {
        let evolving = try Evolving(
            entity(
                "Person", [attribute("name", indexed: true)], to: [relationship("boss", "Person")]))
        let old = evolving.store
        let new = try evolving.open(
            [
                entity(
                    "Human", was: "Person",
                    [
                        attribute("title", was: "name"),
                        attribute("rank", .int64, required: true, indexed: true, default: .int(5)),
                    ],
                    to: [relationship("boss", "Human"), relationship("seen", "Human", many: true)])
            ], .compatible)
        return (evolving, old, new)
    }

    @Test func `an older program inserts, and the newer one sees its defaults`() throws {
        let (evolving, old, new) = try rolling()

        let ada = try old.add("Person", ["name": .string("Ada")])

        #expect(try new.value("title", of: ada) == .string("Ada"))
        #expect(try new.value("rank", of: ada) == .int(5))
        #expect(try new.found("Human", "rank == 5") == [ada])
        #expect(try old.found("Person", "name == 'Ada'") == [ada])
        let seen = try old.read { try $0.state(of: ada) }
        #expect(seen?.values.count == 2)
        try new.expectSound()
        _ = evolving
    }

    @Test func `an older program finds the objects of a subentity that was removed since`() throws {
        let parent = entity("Person", [attribute("name", indexed: true)])
        let evolving = try Evolving(
            parent, entity("Guest", under: "Person", [attribute("seat", .int64)]))
        let old = evolving.store
        let ada = try old.add("Guest", ["name": .string("Ada")])
        let moment = try old.head()
        let eve = try old.add("Person", ["name": .string("Ada")])

        try evolving.open(parent)

        for name in ["Person", "Guest"] {
            let expected = name == "Guest" ? [ada] : [ada, eve]
            #expect(try old.found(name, "name == 'Ada'") == expected)
            let entity = try #require(old.schema.entity(named: name))
            let property = try #require(entity.property(named: "name"))
            let first = Query(entity, sortings: [Sorting(FilterPath([property]))], limit: 1)
            #expect(try old.read { try $0.fetch(first) } == [ada])
            #expect(try old.read(at: moment) { try $0.fetch(first) } == [ada])
            #expect(try old.read { try $0.indexUse(of: property) } == IndexUse.none)
        }
        #expect(try evolving.store.found("Person", "name == 'Ada'") == [eve])
    }

    @Test func `an older program updates and deletes what has more than it knows`() throws {
        let (evolving, old, new) = try rolling()
        let ada = try new.add("Human", ["title": .string("Ada"), "rank": .int(1)])
        let bob = try new.add(
            "Human", ["title": .string("Bob"), "boss": .object(ada)], members: ["seen": [ada]])

        try old.set(bob, "name", .string("Rob"))
        #expect(try new.value("title", of: bob) == .string("Rob"))
        #expect(try new.others("seen", of: bob) == [ada])
        try old.remove(bob)

        let isThere = try new.read { try $0.exists(bob) }
        #expect(!isThere)
        try new.expectSound()
        try new.commit(try new.restorePlan(of: bob).permitted())
        #expect(try new.others("seen", of: bob) == [ada])
        #expect(try new.value("rank", of: bob) == .int(5))
        try new.expectSound()
        _ = evolving
    }

    @Test func `two programs change one object and collide by its numbers`() throws {
        let (evolving, old, new) = try rolling()
        let ada = try new.add("Human", ["title": .string("Ada")])
        let base = try old.head()
        try new.set(ada, "title", .string("Lady Ada"))
        try new.set(ada, "rank", .int(2))

        let change = old.update(ada, "name", from: .string("Ada"), to: .string("Countess"))
        let conflict = #expect(throws: StoreError.self) {
            try old.commit(
                SaveRequest(header: EntryHeader(base: base), changes: [change]))
        }
        var request = SaveRequest(header: EntryHeader(base: base), changes: [change])
        request.policy = .overwrite
        request.seen = [ada: [.null, .string("Ada")]]
        let result = try old.commit(request)

        #expect(conflict?.code == .conflict)
        #expect(result.changes.map(\.object) == [ada])
        #expect(try new.value("title", of: ada) == .string("Countess"))
        try new.expectSound()
        _ = evolving
    }

    @Test func `an index that a newer program dropped is not missed by an older one`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x", indexed: true), attribute("u", unique: true)]))
        let old = evolving.store
        let first = try old.add("A", ["x": .string("1"), "u": .string("1")])
        let new = try evolving.open([entity("A", [attribute("x"), attribute("u")])], .compatible)

        let second = try new.add("A", ["x": .string("1"), "u": .string("1")])

        #expect(try old.found("A", "x == '1'") == [first, second])
        #expect(try old.found("A", "u == '1'") == [first, second])
        let entity = try #require(old.schema.entity(named: "A"))
        let property = try #require(entity.property(named: "x"))
        let sorted = try old.read {
            try $0.fetch(Query(entity, sortings: [Sorting(FilterPath([property]))], limit: 2))
        }
        #expect(sorted == [first, second])
        try new.expectSound()
    }

    @Test func `an index that a newer program built serves it and not the older one`() throws {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        let old = evolving.store
        let first = try old.add("A", ["x": .string("1")])
        let new = try evolving.open([entity("A", [attribute("x", indexed: true)])], .compatible)

        let second = try old.add("A", ["x": .string("1")])
        try old.set(first, "x", .string("2"))

        #expect(try new.found("A", "x == '1'") == [second])
        #expect(try new.found("A", "x == '2'") == [first])
        try new.expectSound()
    }

    @Test func `what an older program would break is refused, with the step, entry and author`()
        throws
    {
        let evolving = try Evolving(entity("A", [attribute("x"), attribute("y")]))
        let old = evolving.store
        let a = try old.add("A", ["x": .string("1"), "y": .string("2")])
        try evolving.open([entity("A", [attribute("x"), attribute("y"), attribute("z")])])
        try evolving.open([entity("A", [attribute("x"), attribute("z")])])
        let head = try old.head()

        let error = #expect(throws: StoreError.self) { try old.set(a, "x", .string("3")) }
        let preview = #expect(throws: StoreError.self) {
            let change = old.update(a, "x", from: .string("1"), to: .string("3"))
            _ = try old.preview(SaveRequest(changes: [change]))
        }

        #expect(error?.code == .modelSuperseded)
        #expect(preview?.code == .modelSuperseded)
        #expect(error?.message.contains("superseded in entry 4") == true)
        #expect(error?.message.contains("'remove attribute 'A.y''") == true)
        #expect(try old.head() == head)
        #expect(try old.value("x", of: a) == .string("1"))
        // Reading goes on, and newer programs are not held up.
        try evolving.openings[1].close()
        try evolving.store.set(a, "x", .string("4"))
        #expect(try old.value("x", of: a) == .string("4"))
    }

    @Test func `a program of a model in between goes on, too`() throws {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        try evolving.open([entity("A", [attribute("x"), attribute("y", .int64, default: .int(1))])])
        try evolving.open([
            entity(
                "A",
                [
                    attribute("x"), attribute("y", .int64, default: .int(2)),
                    attribute("z", .int64, default: .int(3)),
                ])
        ])

        let made = try evolving.openings.map { try $0.add("A") }

        let values = try evolving.store.read { snapshot in
            try made.map { try snapshot.state(of: $0)?.values }
        }
        // What a program knows it sets by itself.
        let expected: [[Value]?] = [
            [.null, .int(2), .int(3)], [.null, .int(1), .int(3)], [.null, .int(2), .int(3)],
        ]
        #expect(values == expected)
        // An opening with an earlier model is no migration.
        let again = try evolving.open([entity("A", [attribute("x")])], .never)
        #expect(again.schema.version == evolving.openings[0].schema.version)
        try again.expectSound()
    }

    @Test func `an opening that rebuilds by an older model leaves the newer tables`() throws {
        let (evolving, old, new) = try rolling()
        try old.add("Person", ["name": .string("Ada")])
        let tables = try new.projectionDigest()

        try old.rebuild()

        #expect(try new.projectionDigest() == tables)
        #expect(try old.verify().isSound)
        _ = evolving
    }

    private func referring(
        required: Bool = false, _ rule: DeleteRule
    ) throws -> (evolving: Evolving, old: Store, new: Store, ada: ObjectID, book: ObjectID) {
        let evolving = try Evolving(entity("Person", [attribute("name")]))
        let old = evolving.store
        let ada = try old.add("Person", ["name": .string("Ada")])
        let new = try evolving.open(
            [
                entity(
                    "Person", [attribute("name")],
                    to: [relationship("books", "Book", inverse: "owner", many: true, rule: rule)]),
                entity(
                    "Book", [attribute("title")],
                    to: [relationship("owner", "Person", inverse: "books", required: required)]),
            ], .compatible)
        let book = try new.add("Book", ["title": .string("Emma"), "owner": .object(ada)])
        return (evolving, old, new, ada, book)
    }

    @Test func `what an older program deletes leaves references empty that it does not know`()
        throws
    {
        let (evolving, old, new, ada, book) = try referring(.nullify)

        try old.remove(ada)

        #expect(try new.value("owner", of: book) == .null)
        let change = try new.entry(try new.head()).changes.first { $0.object == book }
        #expect(change?.cause == ada)
        try new.expectSound()
        try new.commit(try new.restorePlan(of: ada).permitted())
        #expect(try new.value("owner", of: book) == .object(ada))
        try new.expectSound()
        _ = evolving
    }

    @Test(arguments: [
        (false, DeleteRule.cascade, "would have to be deleted"), (false, .deny, "forbids"),
        (true, .nullify, "cannot be without it"),
    ])
    func `an older program deletes nothing whose delete asks for more than it knows`(
        required: Bool, rule: DeleteRule, reason: String
    ) throws {
        let (evolving, old, new, ada, book) = try referring(required: required, rule)
        let head = try new.head()

        let refusal = #expect(throws: StoreError.self) { try old.remove(ada) }

        #expect(refusal?.code == .modelSuperseded)
        #expect(refusal?.message.contains(reason) == true, "\(refusal?.message ?? "")")
        #expect(try new.head() == head)
        #expect(try new.value("owner", of: book) == .object(ada))
        _ = evolving
    }
}
