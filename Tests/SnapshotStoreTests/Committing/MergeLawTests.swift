import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct MergeLawTests {
    @Test(arguments: [61, 62, 63, 64, 65] as [UInt64])
    func `edits to different properties commute, and saved twice they change nothing`(
        seed: UInt64
    ) throws {
        let (left, right) = try (
            RandomHistory(seed: seed, entries: 20), RandomHistory(seed: seed, entries: 20)
        )
        let (ours, theirs) = Self.disjointEdits(seed, left.store.schema, left.reference.current)
        try #require(!ours.isEmpty && !theirs.isEmpty, "seed \(seed)")

        let receipts = try [ours, theirs].map { try left.store.commit(SaveRequest(changes: $0)) }
        for changes in [theirs, ours] { try right.store.commit(SaveRequest(changes: changes)) }
        let refusal = #expect(throws: StoreError.self) {
            try left.store.commit(SaveRequest(changes: ours))
        }
        let again = try left.store.commit(
            SaveRequest(changes: ours, policy: .mergeByPropertyObjectTrump))

        let expected = try right.store.world()
        #expect(try left.store.world() == expected, "seed \(seed)")
        #expect(receipts.flatMap(\.conflicts).isEmpty)
        #expect(refusal?.code == .conflict)
        #expect(again.sequence == nil)
    }

    /// For every object and every other slot, an edit by one side or the other.
    private static func disjointEdits(
        _ seed: UInt64, _ schema: Schema, _ world: ReferenceModel.World
    ) -> ([Change], [Change]) {
        var generator = SeededGenerator(seed: seed)
        var sides: [[Change]] = [[], []]
        for (object, state) in world.sorted(by: { $0.key < $1.key }) {
            var edits: [[Edit]] = [[], []]
            for property in schema.entity(object.entity)?.slots ?? [] {
                guard let slot = property.slot, ["name", "age", "score"].contains(property.name)
                else { continue }
                let new: Value =
                    switch property.name {
                    case "name": .string("new \(UInt8.random(in: 0...9, using: &generator))")
                    case "age": .int(Int64.random(in: 100...200, using: &generator))
                    default: .double(Double(Int.random(in: 1000...2000, using: &generator)))
                    }
                let side = Int.random(in: 0...1, using: &generator)
                edits[side].append(
                    Edit(property: property.number, old: state.values[slot], new: new))
            }
            for side in [0, 1] where !edits[side].isEmpty {
                let sorted = edits[side].sorted { $0.property < $1.property }
                sides[side].append(
                    Change(object: object, kind: .update(edits: sorted, members: [])))
            }
        }
        return (sides[0], sides[1])
    }
}
