import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct EvolutionTrapTests {
    @Test func `a required attribute that moves up is checked on all that get it`() throws {
        let evolving = try Evolving(
            entity("A"), entity("B", under: "A", [attribute("x", required: true)]),
            entity("C", under: "A"))
        let b = try evolving.store.add("B", ["x": .string("b")])
        let c = try evolving.store.add("C")
        #expect(throws: StoreError.self) {
            let new = try evolving.open(
                entity("A", [attribute("x", required: true)]), entity("B", under: "A"),
                entity("C", under: "A"))
            #expect(new.schema.entity(c.entity)?.property(named: "x") != nil)
            _ = b
        }
    }

    @Test func `an attribute that moves up is there for all`() throws {
        let evolving = try Evolving(
            entity("A"), entity("B", under: "A", [attribute("x")]),
            entity("C", under: "A"))
        let b = try evolving.store.add("B", ["x": .string("b")])
        let c = try evolving.store.add("C")
        let new = try evolving.open(
            entity("A", [attribute("x")]), entity("B", under: "A"),
            entity("C", under: "A"))
        try #require(new.schema.entity(c.entity)?.property(named: "x") != nil)
        #expect(try new.value("x", of: b) == .string("b"))
    }

    @Test func `an attribute that moves down leaves the others`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x")]), entity("B", under: "A"),
            entity("C", under: "A"))
        let b = try evolving.store.add("B", ["x": .string("b")])
        let c = try evolving.store.add("C", ["x": .string("c")])
        let new = try evolving.open(
            entity("A"), entity("B", under: "A", [attribute("x")]),
            entity("C", under: "A"))
        #expect(new.schema.entity(c.entity)?.property(named: "x") == nil)
        #expect(try new.value("x", of: b) == .string("b"))
    }

    @Test func `a sub-entity to whose objects others lead is not removed`() throws {
        let evolving = try Evolving(
            entity("A"), entity("B", under: "A"),
            entity("Z", to: [relationship("a", "A"), relationship("as", "A", many: true)]))
        let b = try evolving.store.add("B")
        let z = try evolving.store.add("Z", ["a": .object(b)], members: ["as": [b]])
        do {
            let new = try evolving.open(
                entity("A"),
                entity("Z", to: [relationship("a", "A"), relationship("as", "A", many: true)]))
            #expect(try new.value("a", of: z) == .null)
            #expect(try new.others("as", of: z) == [])
            try new.expectSound()
        } catch let error as StoreError { #expect(error.code == .validation) }
    }

    @Test(arguments: [false, true]) func `an inverse does not take members to another end`(
        ordered: Bool
    ) throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("bs", "B", many: true)]), entity("B"))
        let b = try evolving.store.add("B")
        let a = try evolving.store.add("A", members: ["bs": [b]])
        do {
            let new = try evolving.open(
                entity("A", to: [relationship("bs", "B", inverse: "a", many: true)]),
                entity(
                    "B",
                    to: [
                        ordered
                            ? relationship("a", "A", inverse: "bs", ordered: true)
                            : relationship("a", "A", inverse: "bs")
                    ]))
            #expect(try new.others("bs", of: a) == [b])
            try new.expectSound()
        } catch let error as StoreError {
            #expect(error.code == .validation || error.code == .model)
        }
    }

    @Test func `an ordered inverse does not take a reference to another end`() throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("b", "B")]), entity("B"))
        let b = try evolving.store.add("B")
        let a = try evolving.store.add("A", ["b": .object(b)])
        do {
            let new = try evolving.open(
                entity("A", to: [relationship("b", "B", inverse: "as")]),
                entity("B", to: [relationship("as", "A", inverse: "b", ordered: true)]))
            #expect(try new.others("b", of: a) == [b])
            try new.expectSound()
        } catch let error as StoreError {
            #expect(error.code == .validation || error.code == .model, "\(error)")
        }
        let again = try TestStore.open(at: evolving.temporary.path)
        try again.close()
    }

    @Test func `a constraint over an inherited attribute is checked after its conversion`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x", .int64)]),
            entity("B", under: "A", [attribute("y", .int64)], unique: [["x", "y"]]))
        try evolving.store.add("B", ["x": .int(1), "y": .int(2)])
        let new = try evolving.open(
            entity("A", [attribute("x", .string)]),
            entity("B", under: "A", [attribute("y", .int64)], unique: [["x", "y"]]))
        try new.expectSound()
        let refusal = #expect(throws: StoreError.self) {
            try new.add("B", ["x": .string("1"), "y": .int(2)])
        }
        #expect(refusal?.code == .duplicate)
    }

    @Test func `an inverse that allows one owner is refused where there are two`() throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("b", "B")]), entity("B"))
        let b = try evolving.store.add("B")
        try evolving.store.add("A", ["b": .object(b)])
        try evolving.store.add("A", ["b": .object(b)])
        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(
                entity("A", to: [relationship("b", "B", inverse: "z")]),
                entity("B", to: [relationship("z", "A", inverse: "b")]))
        }
        #expect(refusal?.code == .validation)
    }

    @Test func `a value that two steps ask for is given once`() throws {
        let evolving = try Evolving(entity("A", [attribute("x", .int64)]))
        let a = try evolving.store.add("A")

        let new = try evolving.open(
            entity("A", [attribute("x", .int16, required: true, default: .int(3))]))

        #expect(try new.value("x", of: a) == .int(3))
        try new.expectSound()
    }

    @Test func `a value that is lost by the second of two conversions is refused`() throws {
        let evolving = try Evolving(entity("A", [attribute("x", .int64)]))
        let a = try evolving.store.add("A", ["x": .int(36)])
        let text = try evolving.open(entity("A", [attribute("x", .string)]))
        #expect(try text.value("x", of: a) == .string("36"))

        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(entity("A", [attribute("x", .uuid)]))
        }

        #expect(refusal?.code == .validation)
        #expect(try text.value("x", of: a) == .string("36"))
    }

    @Test func `a superentity with a unique attribute is checked`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x", unique: true)]), entity("B", [attribute("x")]))
        try evolving.store.add("A", ["x": .string("1")])
        try evolving.store.add("B", ["x": .string("1")])
        let refusal = #expect(throws: StoreError.self) {
            let new = try evolving.open(
                entity("A", [attribute("x", unique: true)]), entity("B", under: "A"))
            try new.expectSound()
            _ = try new.found("A", "x == '1'")
        }
        #expect(refusal?.code == .validation)
    }

    @Test func `a superentity with a required attribute is checked`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x", required: true)]), entity("B"))
        try evolving.store.add("B")
        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(
                entity("A", [attribute("x", required: true)]), entity("B", under: "A"))
        }
        #expect(refusal?.code == .validation)
    }

    @Test func `steps that are too much only together name the last entry`() throws {
        let evolving = try Evolving(entity("A"))
        try evolving.open(entity("A", [attribute("x", required: true, default: .string("d"))]))
        try evolving.open(entity("A", [attribute("x", required: true)]))
        let refusal = #expect(throws: StoreError.self) { try evolving.openings[0].add("A") }
        #expect(refusal?.code == .modelSuperseded)
        #expect(refusal?.message.contains("entry 3") == true, "\(refusal?.message ?? "")")
    }

    @Test func `removing an inverse keeps members or is refused`() throws {
        let evolving = try Evolving(
            entity("A", to: [relationship("bs", "B", inverse: "a", many: true)]),
            entity("B", to: [relationship("a", "A", inverse: "bs")]))
        let a = try evolving.store.add("A")
        let b = try evolving.store.add("B", ["a": .object(a)])
        do {
            let new = try evolving.open(
                entity("A", to: [relationship("bs", "B", many: true)]), entity("B"))
            #expect(try new.others("bs", of: a) == [b])
            try new.expectSound()
        } catch let error as StoreError {
            #expect(error.code == .validation || error.code == .model, "\(error)")
        }
    }

    @Test func `an entity to whose objects others lead does not leave its superentity`() throws {
        let evolving = try Evolving(
            entity("A"), entity("B", under: "A"), entity("Z", to: [relationship("a", "A")]))
        let b = try evolving.store.add("B")
        try evolving.store.add("Z", ["a": .object(b)])
        let refusal = #expect(throws: StoreError.self) {
            try evolving.open(
                entity("A"), entity("B"), entity("Z", to: [relationship("a", "A")]))
        }
        #expect(refusal?.code == .validation)
    }

    @Test
    func `an indexed attribute and a reference that were removed go along with their objects`()
        throws
    {
        let evolving = try Evolving(
            entity(
                "A", [attribute("x", indexed: true), attribute("y", .int64)],
                to: [relationship("o", "A")]))
        let first = try evolving.store.add("A", ["x": .string("1")])
        let a = try evolving.store.add("A", ["x": .string("1"), "y": .int(1), "o": .object(first)])
        let c = try evolving.store.add("A", ["x": .string("2"), "y": .int(1), "o": .object(first)])
        let new = try evolving.open(entity("A", [attribute("y", .int64)]))
        try new.set(a, "y", .int(2))
        try new.expectSound()
        try new.remove(a)
        try new.remove(first)
        try new.expectSound()
        let n = try new.add("A")
        try new.expectSound()
        #expect(try new.read { try $0.state(of: c) }?.values.filter { !$0.isNull } == [.int(1)])
        _ = n
    }

    @Test func `an object that comes back has a default where it must have a value by now`() throws
    {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        let (first, second) = (try evolving.store.add("A"), try evolving.store.add("A"))
        try evolving.store.remove(first)
        let deletion = try evolving.store.head()
        try evolving.store.remove(second)
        let new = try evolving.open(
            entity("A", [attribute("x", required: true, default: .string("none"))]))

        try new.commit(try new.undoRequest(of: deletion))
        try new.commit(try new.restorePlan(of: second).permitted())

        #expect(try new.value("x", of: first) == .string("none"))
        #expect(try new.value("x", of: second) == .string("none"))
        try new.expectSound()
    }

    @Test func `the past is read in the model of its day, or in today's`() throws {
        let evolving = try Evolving(
            entity("A", [attribute("x", indexed: true), attribute("y")]), entity("B"))
        let a = try evolving.store.add(
            "A", ["x": .string("1"), "y": .string("2")])
        let b = try evolving.store.add("B")
        let before = try evolving.store.head()
        let between = try evolving.open(entity("C", was: "A", [attribute("x", indexed: true)]))
        let after = try between.head()
        try between.set(a, "x", .string("3"))
        try between.commit(try between.undoRequest(of: after))

        let then = try between.withModel(at: before)
        let there = try between.withModel(at: after)

        #expect(then.schema.name(of: a) == "A/\(a.number)")
        #expect(try then.read(at: before) { try $0.state(of: a) }?.values.count == 2)
        #expect(try then.read(at: before) { try $0.exists(b) })
        #expect(there.schema.name(of: a) == "C/\(a.number)")
        #expect(there.schema.entity(a.entity)?.property(named: "y") == nil)
        #expect(there.schema.entity(named: "B") == nil)
        #expect(try then.found("A", "x == '3'") == [a])
        #expect(throws: StoreError.self) { try then.set(a, "y", .string("4")) }
        // In today's model what was hidden for a time reads as it was all the while.
        let today = try between.withModel(at: between.head())
        let property = try #require(today.schema.entity(named: "A")?.property(named: "y"))
        #expect(
            try today.read(at: after) { try $0.value(of: property, in: a) } == .string("2"))
    }

    @Test func `an object is found by each name that its entity has had`() throws {
        let evolving = try Evolving(entity("A"))
        let a = try evolving.store.add("A")
        try evolving.open(entity("B", was: "A"))
        let new = try evolving.open(entity("B"), entity("A"))
        let other = try new.add("A")

        #expect(try new.object(ofEntityNamed: "A", number: a.number) == a)
        #expect(try new.object(ofEntityNamed: "B", number: a.number) == a)
        #expect(try new.object(ofEntityNamed: "A", number: other.number) == other)
        #expect(try new.object(ofEntityNamed: "A", number: 9_999)?.entity == other.entity)
        #expect(try new.object(ofEntityNamed: "C", number: a.number) == nil)
    }

    @Test func `a custom stage gives on a unique value of an object whose entity it removes`()
        throws
    {
        let entities = [entity("A", [attribute("x", unique: true)]), entity("C", under: "A")]
        let evolving = try Evolving(entities[0], entity("B", under: "A"), entities[1])
        let old = evolving.store
        let b = try old.add("B", ["x": .string("1")])
        let c = try old.add("C", ["x": .string("2")])
        let (staged, _) = try old.staged(to: ManagedObjectModel(entities: entities), as: "Merge")

        let change = staged.update(c, "x", from: .string("2"), to: .string("1"))
        try staged.commit(SaveRequest(changes: [change]))

        try staged.close()
        let new = try evolving.open(entities)
        #expect(try new.found("A", "x == '1'") == [c])
        try new.expectSound()
        try new.commit(try new.undoRequest(of: try new.head()))
        #expect(try old.found("A", "x == '1'") == [b])
        #expect(try old.found("A", "x == '2'") == [c])
        try old.expectSound()
    }

    @Test(arguments: [false, true])
    func `a constraint that comes back knows the objects of a subentity that comes back`(
        byUndo isUndone: Bool
    ) throws {
        let attributes = [attribute("a", .int64), attribute("b", .int64)]
        let whole = [
            entity("Person", attributes, unique: [["a", "b"]]), entity("Special", under: "Person"),
        ]
        let evolving = try Evolving(whole[0], whole[1])
        let values: [String: Value] = ["a": .int(1), "b": .int(2)]
        try evolving.store.add("Special", values)
        try evolving.open(whole[0])
        let first = try evolving.store.head()
        try evolving.open(entity("Person", attributes))
        if isUndone {
            for entry in [try evolving.store.head(), first] {
                try evolving.store.commit(
                    evolving.store.undoRequest(of: entry))
            }
        }
        let store = try evolving.open(whole)

        try store.expectSound()
        for name in ["Person", "Special"] {
            #expect(throws: StoreError.self) { try store.add(name, values) }
        }
    }
}
