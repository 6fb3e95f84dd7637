import Testing

@testable import DaybookObjectModel

/// The numbers of entities and properties from one version of a model to the next.
@Suite struct ModelVersionTests {
    private static let first = model(
        entity("Author", [attribute("name"), attribute("born", .date)]),
        entity(
            "Book", [attribute("isbn"), attribute("title")],
            to: [relationship("author", "Author")], unique: [["isbn", "title"]]))

    private func first() throws -> ModelVersion { try ModelVersion(first: Self.first) }

    // MARK: - Names

    @Test func `a renamed entity and a renamed property keep their numbers`() throws {
        let before = try first()

        let after = try before.evolved(
            to: model(
                entity("Author", [attribute("fullName", was: "name"), attribute("born", .date)]),
                entity(
                    "Work", was: "Book", [attribute("isbn"), attribute("heading", was: "title")],
                    to: [relationship("writer", "Author", was: "author")],
                    unique: [["isbn", "heading"]])), in: 2)

        #expect(after.numbers("Author") == ["born": 1, "fullName": 2])
        #expect(after.entity(named: "Work")?.number == before.entity(named: "Book")?.number)
        #expect(after.numbers("Work") == ["writer": 3, "isbn": 4, "heading": 5])
        #expect(before.numbers("Book") == ["author": 3, "isbn": 4, "title": 5])
        #expect(after.entities.map(\.slots) == before.entities.map(\.slots))
        #expect(
            after.entity(named: "Work")?.constraints.values.sorted()
                == before.entity(named: "Book")?.constraints.values.sorted())
        #expect(after.next == before.next)
    }

    @Test func `explicit names go before those of the model`() throws {
        let before = try first()
        var matching = ModelMatching()
        matching.entities["Person"] = "Author"
        matching.properties["Person"] = ["label": "name"]

        let after = try before.evolved(
            to: model(
                entity(
                    "Person", was: "Nobody",
                    [attribute("label", was: "born"), attribute("born", .date)]),
                entity(
                    "Book", [attribute("isbn"), attribute("title")],
                    to: [relationship("author", "Person")], unique: [["isbn", "title"]])),
            in: 2, matching: matching)

        #expect(after.entity(named: "Person")?.number == before.entity(named: "Author")?.number)
        #expect(after.numbers("Person") == ["born": 1, "label": 2])
    }

    @Test func `a name that is still there means what it meant, whatever else is said`() throws {
        let before = try first()

        let after = try before.evolved(
            to: model(
                entity(
                    "Author",
                    [attribute("name", was: "born"), attribute("born", .date, was: "name")]),
                entity(
                    "Book", was: "Author", [attribute("isbn"), attribute("title")],
                    to: [relationship("author", "Author")], unique: [["isbn", "title"]])), in: 2)

        #expect(after == before)
    }

    @Test func `what is removed takes its number along, and its name gets a new one`() throws {
        let before = try first()
        let without = try before.evolved(
            to: model(entity("Author", [attribute("name")])), in: 2)

        let again = try without.evolved(to: Self.first, in: 3)

        #expect(without.entity(EntityNumber(rawValue: 2))?.isRemoved == true)
        #expect(without.entity(named: "Book") == nil)
        #expect(again.entity(named: "Book")?.number == EntityNumber(rawValue: 3))
        #expect(again.numbers("Author") == ["name": 2, "born": 6])
        #expect(again.numbers("Book") == ["author": 7, "isbn": 8, "title": 9])
        #expect(again.entity(EntityNumber(rawValue: 2))?.isRemoved == true)
        let constraints = [before, again].map { $0.entity(named: "Book")?.constraints.first?.value }
        #expect(constraints[0] != nil && constraints[1] != nil && constraints[0] != constraints[1])
        #expect(again.next.property == 10)
        #expect(again.next.entity == 4)
    }

    @Test func `a dropped constraint that comes back has a new number`() throws {
        let plain = entity("A", [attribute("x"), attribute("y")])
        let constrained = entity("A", [attribute("x"), attribute("y")], unique: [["x", "y"]])
        let before = try ModelVersion(first: model(constrained))

        let without = try before.evolved(to: model(plain), in: 2)
        let again = try without.evolved(to: model(constrained), in: 3)

        let numbers = [before, without, again].map {
            $0.entity(named: "A")?.constraints[["x", "y"]]
        }
        #expect(numbers[0] != nil)
        #expect(numbers[1] == nil)
        #expect(numbers[2] != nil && numbers[2] != numbers[0])
    }

    @Test func `an attribute with values of another kind gets another number`() throws {
        let before = try ModelVersion(first: model(entity("A", [attribute("x", .int16)])))

        let wider = try before.evolved(to: model(entity("A", [attribute("x", .int64)])), in: 2)
        let text = try wider.evolved(to: model(entity("A", [attribute("x", .string)])), in: 3)

        #expect(wider.numbers("A") == ["x": 1])
        #expect(text.numbers("A") == ["x": 2])
        let slots = text.entity(named: "A")?.slots ?? []
        #expect(slots.map(\.property.rawValue) == [1, 2])
        #expect(slots.map(\.since) == [1, 3])
        #expect(slots.map { $0.removed != nil } == [true, false])
        #expect(slots.last?.fill == .converted(from: PropertyNumber(rawValue: 1), to: .string))
    }

    // MARK: - Layouts

    @Test func `layouts only grow, in every entity that inherits`() throws {
        let before = try ModelVersion(
            first: model(
                entity("A", [attribute("z")]), entity("B", under: "A", [attribute("y")])))

        let after = try before.evolved(
            to: model(
                entity("A", [attribute("a", .int64, default: .int(7)), attribute("z")]),
                entity(
                    "B", under: "A", [attribute("b")], to: [relationship("all", "A", many: true)])),
            in: 9)

        #expect(after.entity(named: "A")?.slots.map(\.property.rawValue) == [1, 3])
        #expect(after.entity(named: "B")?.slots.map(\.property.rawValue) == [1, 2, 3, 5])
        #expect(after.entity(named: "B")?.slots.map(\.since) == [1, 1, 9, 9])
        #expect(
            after.entity(named: "B")?.slots[1].removed
                == RemovedSlot(
                    isIndexed: false, indexHoldsNulls: false, isReference: false))
        #expect(after.entity(named: "A")?.slots[1].fill == .value(.int(7)))
        #expect(after.entity(named: "B")?.slots[2].fill == .value(.int(7)))
        #expect(after.entity(named: "B")?.members.map(\.since) == [9])
        let schema = Schema(after)
        #expect(schema.entity(named: "B")?.storedSlotCount == 4)
        #expect(schema.entity(named: "B")?.removedSlots == [1])
        #expect(schema.entity(named: "B")?.property(named: "y") == nil)
    }

    @Test func `a removed field remembers what the index and the references have`() throws {
        let before = try ModelVersion(
            first: model(
                entity(
                    "A", [attribute("i", indexed: true), attribute("u", unique: true)],
                    to: [relationship("r", "A")])))

        let after = try before.evolved(to: model(entity("A")), in: 2)

        let removed = after.entity(named: "A")?.slots.map(\.removed)
        #expect(
            removed == [
                RemovedSlot(isIndexed: true, indexHoldsNulls: true, isReference: false),
                RemovedSlot(isIndexed: false, indexHoldsNulls: false, isReference: true),
                RemovedSlot(isIndexed: true, indexHoldsNulls: false, isReference: false),
            ])
    }

    @Test func `going back brings every number back, and takes away what was new`() throws {
        let before = try first()
        let after = try before.evolved(
            to: model(entity("Author", [attribute("name"), attribute("mail")])), in: 2)

        let back = after.reverted(to: before)

        #expect(back.model == before.model)
        #expect(back.next == after.next)
        for name in ["Author", "Book"] {
            #expect(back.numbers(name) == before.numbers(name))
            #expect(back.entity(named: name)?.number == before.entity(named: name)?.number)
        }
        #expect(back.entity(named: "Author")?.slots.map(\.property.rawValue) == [1, 2, 6])
        #expect(
            back.entity(named: "Author")?.slots.map { $0.removed == nil } == [true, true, false])
        #expect(Schema(back).steps(from: Schema(before)).isEmpty)
        #expect(try ModelVersion(canonicalBytes: back.canonicalBytes) == back)
    }

    @Test func `the same model is the same version`() throws {
        let before = try first()
        var shuffled = Self.first
        shuffled.entities.reverse()
        shuffled.entities[0].attributes.reverse()

        #expect(try before.evolved(to: shuffled, in: 2) == before)
        #expect(before.isFirst)
    }

    // MARK: - Refusals

    @Test func `two entities that claim one old name are refused`() throws {
        let before = try first()

        let error = #expect(throws: ModelError.self) {
            try before.evolved(
                to: model(
                    entity("Author", [attribute("name"), attribute("born", .date)]),
                    entity("Novel", was: "Book"), entity("Poem", was: "Book")), in: 2)
        }

        #expect(
            error?.problems == [
                "'Novel' and 'Poem' both say that they were called 'Book': only one of them can have its "
                    + "objects."
            ])
    }

    @Test func `two properties that claim one old name are refused`() throws {
        let before = try ModelVersion(first: model(entity("A", [attribute("x")])))

        let error = #expect(throws: ModelError.self) {
            try before.evolved(
                to: model(entity("A", [attribute("y", was: "x"), attribute("z", was: "x")])), in: 2)
        }

        #expect(
            error?.problems == [
                "'A.z' and another property both say that they were called 'x'."
            ])
    }

    @Test(arguments: [(false, true), (true, false)])
    func `a relationship that becomes to-one or to-many gets a number, and tells whence it comes`(
        isMany: Bool, becomes: Bool
    ) throws {
        let before = try ModelVersion(
            first: model(entity("A", to: [relationship("r", "A", many: isMany)])))

        let after = try before.evolved(
            to: model(entity("A", to: [relationship("r", "A", many: becomes)])), in: 2)

        #expect(after.numbers("A") == ["r": 2])
        #expect(after.origins == [PropertyNumber(rawValue: 2): PropertyNumber(rawValue: 1)])
        #expect(after.reverted(to: before).numbers("A") == ["r": 1])
        #expect(after.reverted(to: before).origins.isEmpty)
    }

    @Test func `both ends of a relationship get numbers when one of them becomes to-many`() throws {
        let before = try ModelVersion(
            first: model(
                entity("A", to: [relationship("b", "B", inverse: "as")]),
                entity("B", to: [relationship("as", "A", inverse: "b", many: true)])))

        let after = try before.evolved(
            to: model(
                entity("A", to: [relationship("b", "B", inverse: "as", many: true)]),
                entity("B", to: [relationship("as", "A", inverse: "b", many: true)])), in: 2)

        #expect(after.numbers("A") == ["b": 3])
        #expect(after.numbers("B") == ["as": 4])
        let steps = Schema(after).steps(from: Schema(before)).map(\.description)
        #expect(steps == ["make 'A.b' to-many"])
    }

    @Test func `a model that does not hold together is refused`() throws {
        let before = try first()

        #expect(throws: ModelError.self) {
            try before.evolved(to: model(entity("A", under: "Nothing")), in: 2)
        }
    }

    // MARK: - Moves

    @Test func `an attribute that moves up from one entity keeps its number`() throws {
        let before = try ModelVersion(
            first: model(
                entity("A"), entity("B", under: "A", [attribute("x")]), entity("C", under: "A")))

        let after = try before.evolved(
            to: model(
                entity("A", [attribute("x")]), entity("B", under: "A"), entity("C", under: "A")),
            in: 2)

        #expect(after.numbers("A") == ["x": 1])
        #expect(after.entity(named: "B")?.slots == before.entity(named: "B")?.slots)
        #expect(after.entity(named: "C")?.slots.map(\.since) == [2])
    }

    @Test func `an attribute that moves up from two entities takes the values of both`() throws {
        let before = try ModelVersion(
            first: model(
                entity("A"), entity("B", under: "A", [attribute("x")]),
                entity("C", under: "A", [attribute("x")]), entity("D", under: "A")))

        let after = try before.evolved(
            to: model(
                entity("A", [attribute("x")]), entity("B", under: "A"), entity("C", under: "A"),
                entity("D", under: "A")), in: 2)

        #expect(after.numbers("A") == ["x": 3])
        let fills = ["A", "B", "C", "D"].map { after.entity(named: $0)?.slots.last?.fill }
        #expect(
            fills == [
                .value(.null), .converted(from: PropertyNumber(rawValue: 1), to: .string),
                .converted(from: PropertyNumber(rawValue: 2), to: .string), .value(.null),
            ])
    }
}

extension ModelVersion {
    fileprivate func numbers(_ name: String) -> [String: UInt32]? {
        entity(named: name)?.properties.mapValues(\.rawValue)
    }
}
