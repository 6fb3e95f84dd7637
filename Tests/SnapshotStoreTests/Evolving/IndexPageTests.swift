import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Testing

/// How many pages the records of an index fill that a migration adds.
@Suite struct IndexPageTests {
    /// The bytes of the index table after indexes of `a` and `b` were added in an order.
    private func bytes(adding first: String, then second: String) throws -> Int {
        let evolving = try Evolving(entity("A", [attribute("a"), attribute("b")]))
        let store = evolving.store
        var random = SeededGenerator(seed: 7)
        let changes = try (0..<4_000).map { _ in
            let value = Value.string("\(UInt32.random(in: 0 ... .max, using: &random))")
            return store.insert(try store.newObject("A"), ["a": value, "b": value])
        }
        try store.commit(SaveRequest(changes: changes))
        for indexed in [[first], [first, second]] {
            try evolving.open(
                entity("A", ["a", "b"].map { attribute($0, indexed: indexed.contains($0)) }))
        }
        try evolving.store.expectSound()
        for value in try evolving.store.read({ try $0.fetch(allOfA(evolving.store)) }).prefix(5) {
            let text = try evolving.store.value("b", of: value)
            let found = try evolving.store.read { snapshot in
                let entity = try #require(evolving.store.schema.entity(named: "A"))
                let filter = try Filter(
                    parsing: "b == %@", for: entity, in: evolving.store.schema, arguments: [text])
                return try snapshot.fetch(Query(entity, filter: filter))
            }
            #expect(found.contains(value))
        }
        let tables = try evolving.store.statistics().tables
        return try #require(tables.first { $0.name == "index" }).bytes
    }

    private func allOfA(_ store: Store) throws -> Query {
        Query(try #require(store.schema.entity(named: "A")))
    }

    @Test func `an index before others fills its pages like one behind them`() throws {
        let behind = try bytes(adding: "a", then: "b")
        let before = try bytes(adding: "b", then: "a")

        #expect(Double(before) < 1.05 * Double(behind), "\(before) against \(behind)")
    }
}
