import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// One store, opened with a model and then with another: what becomes of its rows.
struct MigrationTests {
    // MARK: - Rows of an older layout

    @Test func `an update of an old row leaves the blame of what it does not touch`() throws {
        let evolving = try Evolving(
            entity(
                "A", [attribute("x"), attribute("y")], to: [relationship("all", "A", many: true)]))
        let a = try evolving.store.add("A", ["x": .string("x"), "y": .string("y")])
        try evolving.store.set(a, "y", .string("Y"))
        let new = try evolving.open(
            entity(
                "A", [attribute("n", .int64, default: .int(7)), attribute("x"), attribute("y")],
                to: [relationship("all", "A", many: true), relationship("more", "A", many: true)]))
        let migration = SequenceNumber(4)
        try #require(try new.head() == migration)
        let before = try #require(try new.blame(of: a))

        try new.set(a, "x", .string("X"))

        let after = try #require(try new.blame(of: a))
        for blame in [before, after] {
            var entries = Dictionary(
                uniqueKeysWithValues: blame.map { ($0.property.name, $0.sequence.rawValue) })
            entries["x"] = nil
            #expect(entries == ["all": 2, "y": 3, "n": 4, "more": 4])
        }
        #expect(before.first { $0.property.name == "x" }?.sequence == SequenceNumber(2))
        #expect(after.first { $0.property.name == "x" }?.sequence == SequenceNumber(5))
        #expect(after.first { $0.property.name == "n" }?.value == .int(7))
        try new.expectSound()
    }

    @Test func `an old row is deleted and comes back with what was filled in`() throws {
        let evolving = try Evolving(entity("A", [attribute("x", indexed: true)]))
        let a = try evolving.store.add("A", ["x": .string("x")])
        let new = try evolving.open(
            entity(
                "A",
                [
                    attribute("n", .int64, indexed: true, default: .int(7)),
                    attribute("x", indexed: true),
                ]))

        try new.remove(a)

        #expect(try new.found("A", "n == 7") == [])
        #expect(try new.found("A", "x == 'x'") == [])
        try new.expectSound()
        try new.commit(try new.restorePlan(of: a).permitted())
        #expect(try new.found("A", "n == 7") == [a])
        #expect(try new.value("x", of: a) == .string("x"))
        try new.expectSound()
    }

    @Test func `an object with values in removed properties is updated and deleted`() throws {
        let evolving = try Evolving(
            entity(
                "A", [attribute("x", indexed: true), attribute("y", .int64)],
                to: [relationship("o", "A"), relationship("all", "A", many: true)]))
        let first = try evolving.store.add("A", ["x": .string("1")])
        let second = try evolving.store.add(
            "A", ["x": .string("1"), "y": .int(1), "o": .object(first)], members: ["all": [first]])
        let third = try evolving.store.add("A", ["o": .object(first)], members: ["all": [first]])
        let new = try evolving.open(entity("A", [attribute("y", .int64)]))

        try new.set(second, "y", .int(2))
        try new.expectSound()
        try new.remove(second)
        // Nothing refers to it any more, as far as the model goes.
        try new.remove(first)
        try new.expectSound()

        let state = try new.read { try $0.state(of: third) }
        #expect(state == ObjectState(values: [.null, .null, .null]))
        let past = try new.read(at: SequenceNumber(3)) { try $0.state(of: second) }
        #expect(past?.members.isEmpty == true)
        let added = try new.add("A", ["y": .int(3)])
        #expect(try new.value("y", of: added) == .int(3))
        try new.expectSound()
    }

    @Test func `each default is the one that there was when the attribute came`() throws {
        let evolving = try Evolving(entity("A"))
        let a = try evolving.store.add("A")
        try evolving.open(entity("A", [attribute("n", .int64, default: .int(1))]))
        let b = try evolving.store.add("A")
        try evolving.open(entity("A", [attribute("n", .int64, default: .int(2))]))
        let c = try evolving.store.add("A")

        let newest = try evolving.store.read { snapshot in
            try [a, b, c].map { try snapshot.state(of: $0)?.values }
        }

        let expected: [[Value]?] = [[.int(1)], [.int(1)], [.int(2)]]
        #expect(newest == expected)
        try evolving.store.expectSound()
    }

    // MARK: - Checks

    @Test func `a unique index is refused with the first ten duplicates and their count`() throws {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        for _ in 0..<14 { try evolving.store.add("A", ["x": .string("same")]) }
        try evolving.store.add("A")
        try evolving.store.add("A")
        let before = try evolving.store.headDigest()
        let tables = try evolving.store.projectionDigest()

        let error = #expect(throws: StoreError.self) {
            try evolving.open(entity("A", [attribute("x", unique: true)]))
        }

        #expect(error?.code == .validation)
        #expect(error?.failures.count == 10)
        #expect(error?.details.first == "To make 'A.x' unique: 13 objects do not fit.")
        #expect(error?.details.count == 11)
        #expect(error?.failures.first?.message.contains("has the same 'x' as") == true)
        #expect(try evolving.store.headDigest() == before)
        #expect(try evolving.store.projectionDigest() == tables)
    }

    @Test func `a compound constraint is refused with duplicates and kept without`() throws {
        let evolving = try Evolving(entity("A", [attribute("x"), attribute("y")]))
        let constrained = entity("A", [attribute("x"), attribute("y")], unique: [["x", "y"]])
        try evolving.store.add("A", ["x": .string("1"), "y": .string("1")])
        let second = try evolving.store.add("A", ["x": .string("1"), "y": .string("1")])

        let refusal = #expect(throws: StoreError.self) { try evolving.open(constrained) }
        try evolving.store.set(second, "y", .string("2"))
        let new = try evolving.open(constrained)

        #expect(refusal?.code == .validation)
        #expect(refusal?.failures.count == 1)
        let duplicate = #expect(throws: StoreError.self) {
            try new.add("A", ["x": .string("1"), "y": .string("2")])
        }
        #expect(duplicate?.code == .duplicate)
        try new.expectSound()
    }

    @Test func `a required attribute without default is added while there are no objects`() throws {
        let evolving = try Evolving(entity("A"), entity("B"))
        try evolving.store.add("B")
        let b = [entity("B")]

        try evolving.open([entity("A", [attribute("x", required: true)])] + b)
        try evolving.store.add("A", ["x": .string("x")])
        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(
                [entity("A", [attribute("x", required: true), attribute("y", required: true)])] + b)
        }

        #expect(refusal?.code == .validation)
        #expect(refusal?.failures.count == 1)
        #expect(refusal?.details.first?.contains("1 object does not fit") == true)
    }

    @Test func `a default fills what is missing in the same entry`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("n", .int64, indexed: true)]), entity("B", under: "A"))
        let a = try evolving.store.add("A")
        let b = try evolving.store.add("B")
        let c = try evolving.store.add("B", ["n": .int(3)])
        let head = try evolving.store.head()

        let new = try evolving.open(
            entity("A", [attribute("n", .int64, required: true, indexed: true, default: .int(9))]),
            entity("B", under: "A"))

        #expect(try new.head() == head.next)
        let entry = try new.entry(head.next)
        #expect(entry.header.kind == .model)
        #expect(entry.changes.map(\.object) == [a, b])
        #expect(try new.found("A", "n == 9") == [a, b])
        #expect(try new.found("A", "n == nil") == [])
        #expect(try new.value("n", of: c) == .int(3))
        #expect(try new.blame(of: a)?.first?.sequence == head.next)
        let past = try new.read(at: head) { try $0.state(of: a) }
        #expect(past == ObjectState(values: [.null]))
        try new.expectSound()
    }

    @Test func `a number that does not fit the narrower type is named`() throws {
        let evolving = try Evolving(entity("A", [attribute("n", .int64)]))
        let a = try evolving.store.add("A", ["n": .int(40_000)])
        let narrow = entity("A", [attribute("n", .int16)])

        let refusal = #expect(throws: StoreError.self) { try evolving.open(narrow) }
        try evolving.store.set(a, "n", .int(4))
        let new = try evolving.open(narrow)

        #expect(refusal?.code == .validation)
        #expect(refusal?.failures.map(\.object) == [a])
        #expect(try new.value("n", of: a) == .int(4))
        try new.expectSound()
    }

    @Test func `text that is no number is named, and each number is converted`() throws {
        let evolving = try Evolving(entity("A", [attribute("n", indexed: true)]))
        let a = try evolving.store.add("A", ["n": .string("12")])
        let b = try evolving.store.add("A", ["n": .string("twelve")])
        let number = entity("A", [attribute("n", .int64, indexed: true)])

        let refusal = #expect(throws: StoreError.self) { try evolving.open(number) }
        try evolving.store.set(b, "n", .null)
        let new = try evolving.open(number)

        #expect(refusal?.code == .validation)
        #expect(refusal?.failures.map(\.object) == [b])
        #expect(try new.found("A", "n == 12") == [a])
        #expect(try new.found("A", "n == nil") == [b])
        // As of before, too: what was no number then is nothing.
        let past = try new.read(at: SequenceNumber(3)) { snapshot in
            try [a, b].map { try snapshot.value(of: new.property("n", of: $0), in: $0) }
        }
        #expect(past == [.int(12), .null])
        try new.set(a, "n", .int(13))
        #expect(try new.found("A", "n == 13") == [a])
        try new.expectSound()
    }

    @Test func `an entity becomes abstract only without objects of its own`() throws {
        let evolving = try Evolving(entity("A"), entity("B", under: "A"))
        let a = try evolving.store.add("A")
        try evolving.store.add("B")
        var abstract = entity("A")
        abstract.isAbstract = true

        let refusal = #expect(throws: StoreError.self) {
            try evolving.open([abstract, entity("B", under: "A")])
        }
        try evolving.store.remove(a)
        try evolving.open([abstract, entity("B", under: "A")])

        #expect(refusal?.failures.map(\.object) == [a])
    }

    @Test func `a relationship that becomes required is refused where it is empty`() throws {
        let evolving = try Evolving(entity("A", to: [relationship("o", "B")]), entity("B"))
        let b = try evolving.store.add("B")
        let a = try evolving.store.add("A")
        try evolving.store.add("A", ["o": .object(b)])

        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(
                entity("A", to: [relationship("o", "B", required: true)]), entity("B"))
        }

        #expect(refusal?.failures.map(\.object) == [a])
    }

    @Test func `every reason is told at once`() throws {
        let evolving = try Evolving(entity("A", [attribute("n", .int64), attribute("s")]))
        try evolving.store.add("A", ["n": .int(40_000), "s": .string("x")])

        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(
                entity(
                    "A",
                    [
                        attribute("n", .int16), attribute("s", .int64),
                        attribute("r", required: true),
                    ]))
        }

        #expect(refusal?.details.filter { $0.hasPrefix("To ") }.count == 3)
        #expect(refusal?.failures.count == 3)
    }

    // MARK: - Policies

    @Test func `never and read-only refuse, compatible refuses what is not`() throws {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        let wider = [entity("A", [attribute("x"), attribute("y")])]
        let other = [entity("A", [attribute("y")])]
        func refusal(_ entities: [EntityDescription], _ policy: MigrationPolicy) -> StoreError? {
            #expect(throws: StoreError.self) { try evolving.open(entities, policy) }
        }

        let never = refusal(wider, .never)
        let compatible = refusal(other, .compatible)
        func read() throws -> Store {
            var options = StoreOptions.counting()
            options.isReadOnly = true
            options.migration = .automatic
            let model = ManagedObjectModel(entities: wider)
            return try TestStore.open(at: evolving.temporary.path, model: model, options: options)
        }
        let reading = #expect(throws: StoreError.self) { try read() }

        #expect(never?.code == .modelMismatch)
        #expect(compatible?.code == .modelMismatch)
        #expect(reading?.code == .modelMismatch)
        #expect(never?.details == ["add optional attribute 'A.y' of type string"])
        #expect(compatible?.details == ["remove attribute 'A.x'"])
        #expect(try evolving.store.head() == SequenceNumber(1))
        try evolving.open(wider, .compatible)
        #expect(try evolving.store.head() == SequenceNumber(2))
        // It has been done.
        try evolving.open(wider, .never)
        #expect(try evolving.store.head() == SequenceNumber(2))
    }

    @Test func `a store keeps its model when nothing differs but the order`() throws {
        let evolving = try Evolving(entity("A", [attribute("x"), attribute("y")]), entity("B"))

        try evolving.open([entity("B"), entity("A", [attribute("y"), attribute("x")])], .never)

        #expect(try evolving.store.head() == SequenceNumber(1))
        #expect(evolving.store.schema.version == evolving.openings[0].schema.version)
    }

    @Test func `what the program says goes before what the model says`() throws {
        let evolving = try Evolving(entity("A", [attribute("x"), attribute("y")]))
        let a = try evolving.store.add("A", ["x": .string("x"), "y": .string("y")])
        var matching = ModelMatching()
        matching.entities["B"] = "A"
        matching.properties["B"] = ["z": "y"]

        let new = try evolving.open(
            [entity("B", [attribute("x"), attribute("z", was: "q")])], .compatible,
            matching: matching)

        #expect(try new.value("z", of: a) == .string("y"))
        #expect(new.schema.name(of: a) == "B/\(a.number)")
    }

    @Test func `a constraint of several attributes finds its values after one has another name`()
        throws
    {
        func model(_ first: AttributeDescription) -> EntityDescription {
            entity("A", [first, attribute("m")], unique: [[first.name, "m"]])
        }
        let evolving = try Evolving(model(attribute("a")))
        let object = try evolving.store.add("A", ["a": .string("1"), "m": .string("2")])

        // By name it comes behind the other now.
        let new = try evolving.open(model(attribute("z", was: "a")))

        let error = #expect(throws: StoreError.self) {
            try new.add("A", ["z": .string("1"), "m": .string("2")])
        }
        #expect(error?.code == .duplicate)
        try new.add("A", ["z": .string("2"), "m": .string("1")])
        try new.remove(object)
        try new.add("A", ["z": .string("1"), "m": .string("2")])
        try new.expectSound()
    }

    @Test func `a constraint outlives a new name of an attribute that its entity inherits`()
        throws
    {
        let sub = entity("B", under: "A", [attribute("m")], unique: [["a", "m"]])
        let evolving = try Evolving(entity("A", [attribute("a")]), sub)
        let old = evolving.store
        try old.add("B", ["a": .string("1"), "m": .string("2")])

        let new = try evolving.open(
            entity("A", [attribute("z", was: "a")]),
            entity("B", under: "A", [attribute("m")], unique: [["m", "z"]]))

        #expect(new.schema.steps(from: old.schema).map(\.kind) == [.renameProperty])
        let error = #expect(throws: StoreError.self) {
            try old.add("B", ["a": .string("1"), "m": .string("2")])
        }
        #expect(error?.code == .duplicate)
        try old.add("B", ["a": .string("2"), "m": .string("1")])
        try new.expectSound()
    }
}
