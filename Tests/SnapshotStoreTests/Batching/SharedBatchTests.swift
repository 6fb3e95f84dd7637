import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

/// Batches of so many objects that their walk is shared among cores, compared with what the objects are.
struct SharedBatchTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Item",
            attributes: [
                AttributeDescription(name: "number", type: .int64),
                AttributeDescription(name: "text", type: .string),
            ])
    ])

    /// A store with 3,000 items, whose numbers are their places. Their texts are long, so that few share a page.
    private func makeStore() throws -> (TemporaryStore, [ObjectID]) {
        let temporary = try TemporaryStore(Self.model)
        let store = temporary.store
        let objects = try (0..<3_000).map { _ in try store.newObject("Item") }
        let changes = objects.enumerated().map { place, object in
            store.insert(
                object, ["number": .int(Int64(place)), "text": .string(Self.text(place))])
        }
        _ = try store.commit(SaveRequest(changes: changes))
        return (temporary, objects)
    }

    private static func text(_ place: Int) -> String {
        String(repeating: "x", count: 700 + place % 100)
    }

    private func query(_ text: String, limit: Int? = nil, in store: Store) throws -> Query {
        let entity = try #require(store.schema.entity(named: "Item"))
        return Query(
            entity, filter: try Filter(parsing: text, for: entity, in: store.schema), limit: limit)
    }

    private func number(in store: Store) throws -> SchemaProperty {
        try #require(store.schema.entity(named: "Item")?.property(named: "number"))
    }

    /// Adds so much to the number of each.
    private func addition(_ amount: Int64, in store: Store) throws -> BatchTask {
        let number = try number(in: store)
        return .update([
            RowAssignment(
                property: number.number,
                expression: .result(.add, .property(number.number), .constant(.int(amount))))
        ])
    }

    @Test(arguments: [nil, 5_000])
    func `a delete has every object once, in order, with its values`(limit: Int?) throws {
        let (temporary, objects) = try makeStore()
        let store = temporary.store

        let plan = try store.batchPlan(
            .delete, of: query("number >= 100", limit: limit, in: store))

        let expected = (100..<3_000).map { place in
            Change(
                object: objects[place],
                kind: .delete(
                    values: [.int(Int64(place)), .string(Self.text(place))], members: []))
        }
        #expect(plan.changes == expected)
        #expect(plan.refusal == nil)
        let query = try query("number >= 100", in: store)
        let parts = try store.read(at: nil) { try $0.partCount(query) }
        #expect(parts > 3)
    }

    @Test(arguments: [nil, 5_000])
    func `an update has every object that changes once, in order`(limit: Int?) throws {
        let (temporary, objects) = try makeStore()
        let store = temporary.store

        let plan = try store.batchPlan(
            addition(7, in: store), of: query("number >= 100", limit: limit, in: store))

        let number = try number(in: store)
        let expected = (100..<3_000).map { place in
            let edit = Edit(
                property: number.number, old: .int(Int64(place)), new: .int(Int64(place + 7)))
            return Change(object: objects[place], kind: .update(edits: [edit], members: []))
        }
        #expect(plan.changes == expected)
        #expect(plan.refusal == nil)
    }

    @Test(arguments: [nil, 5_000])
    func `numbers that do not fit are told for the first hundred objects`(limit: Int?) throws {
        let (temporary, objects) = try makeStore()
        let store = temporary.store

        let plan = try store.batchPlan(
            addition(.max - 1_999, in: store),
            of: query("TRUEPREDICATE", limit: limit, in: store))

        let told = try #require(plan.refusal).failures
        #expect(told.map(\.object) == objects[2_000..<2_100].map { $0 })
    }
}
