import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// Rows of earlier models, read together and one by one.
@Suite struct FittedRowTests {
    /// What each object has under the last model: before the first step, between the steps, at the end.
    private static let expected: [[String: Value]] = [
        ["x": .string("a"), "n": .string("1"), "d": .string("none"), "e": .null, "f": .int(5)],
        ["x": .string("b"), "n": .string("2"), "d": .string("given"), "e": .null, "f": .int(5)],
        ["x": .null, "n": .string("3"), "d": .null, "e": .string("last"), "f": .int(7)],
    ]

    /// A store of three models: one attribute more with a default, then one that goes, one of another
    /// type, and two more.
    private func evolved() throws -> (evolving: Evolving, objects: [ObjectID]) {
        let (x, gone) = (attribute("x"), attribute("gone"))
        let evolving = try Evolving(entity("A", [x, gone, attribute("n", .int64)]))
        var objects = [
            try evolving.store.add(
                "A", ["x": .string("a"), "gone": .string("old"), "n": .int(1)])
        ]
        let middle = try evolving.open(
            entity(
                "A", [x, gone, attribute("n", .int64), attribute("d", default: .string("none"))]))
        objects.append(
            try middle.add(
                "A",
                ["x": .string("b"), "gone": .string("old"), "n": .int(2), "d": .string("given")]))
        let last = try evolving.open(
            entity(
                "A",
                [
                    x, attribute("n"), attribute("d", default: .string("none")), attribute("e"),
                    attribute("f", .int64, default: .int(5)),
                ]))
        objects.append(
            try last.add(
                "A", ["n": .string("3"), "d": .null, "e": .string("last"), "f": .int(7)]))
        return (evolving, objects)
    }

    @Test func `older rows are read together as they are read one by one`() throws {
        let (evolving, objects) = try evolved()
        let store = evolving.store
        let entity = try #require(store.schema.entity(named: "A"))

        let (together, single) = try store.read { snapshot in
            var together: [ObjectID: [Value]] = [:]
            try snapshot.forEachRows(of: Query(entity)) { rows in
                rows.forEach { together[$0] = $1.values }
            }
            var single: [ObjectID: [Value]] = [:]
            for object in objects { single[object] = try snapshot.row(object)?.values }
            return (together, single)
        }

        #expect(together == single)
        for (object, expected) in zip(objects, Self.expected) {
            let values = try #require(together[object])
            for (name, value) in expected {
                let slot = try #require(entity.property(named: name)?.slot)
                #expect(values[slot] == value, "\(name) of \(object)")
                #expect(try store.value(name, of: object) == value)
            }
            // What was removed is hidden.
            #expect(values.filter { $0 == .string("old") }.isEmpty)
        }
    }

    @Test func `an index of values of another type has those of older rows`() throws {
        let evolving = try Evolving(entity("A", [attribute("x"), attribute("n", .int64)]))
        let object = try evolving.store.add("A", ["n": .int(7)])

        let store = try evolving.open(
            entity("A", [attribute("x"), attribute("n", indexed: true), attribute("e")]))

        #expect(try store.found("A", "n == '7'") == [object])
        try store.expectSound()
    }

    @Test func `many rows of two models, one after the other, are each in the newest layout`()
        throws
    {
        let evolving = try Evolving(entity("A", [attribute("x")]))
        let older = evolving.store
        let newer = try evolving.open(
            entity("A", [attribute("x"), attribute("d", default: .string("none"))]))
        var expected: [ObjectID: [Value]] = [:]
        for number in 0..<200 {
            let text = Value.string(String(repeating: "x", count: number * 3))
            if number % 3 == 0 {
                expected[try newer.add("A", ["x": text, "d": .string("own")])] = [
                    text, .string("own"),
                ]
            } else {
                expected[try older.add("A", ["x": text])] = [text, .string("none")]
            }
        }

        let entity = try #require(newer.schema.entity(named: "A"))
        let found = try newer.read { snapshot in
            var found: [ObjectID: [Value]] = [:]
            try snapshot.forEachRows(of: Query(entity)) { rows in
                rows.forEach { found[$0] = $1.values }
            }
            return found
        }

        #expect(found == expected)
    }
}
