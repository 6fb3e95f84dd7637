import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Undo, redo and restore of relationships that are their own inverses, and are stored at both ends.
@Suite struct SelfInverseUndoTests {
    final class Dancer: ManagedObject {
        @Attribute var name: String = ""
        @Relationship(inverse: .itself) var friends: Set<Dancer>
        @Relationship(inverse: .itself) var partner: Dancer?
    }

    /// The relations of the store that have no counterpart.
    private func flaws(of container: PersistentContainer) throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var flaws: [String] = []
            for dancer in try context.fetch(FetchRequest<Dancer>()) {
                if let partner = dancer.partner, partner.partner !== dancer {
                    flaws.append("\(dancer.objectID).partner is \(partner.objectID)")
                }
                for friend in dancer.friends where !friend.friends.contains(dancer) {
                    flaws.append("\(friend.objectID) is no friend of \(dancer.objectID)")
                }
            }
            return flaws
        }
    }

    private func edit(_ context: ManagedObjectContext, _ random: inout SeededGenerator) throws {
        let dancers = try context.fetch(FetchRequest<Dancer>())
        guard dancers.count > 2, !random.chance(6) else {
            let new = Dancer(context: context)
            new.partner = dancers.randomElement(using: &random)
            return
        }
        let (one, two) = (random.pick(dancers), random.pick(dancers))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: one.partner = one === two ? nil : two
        case 1: one.partner = nil
        case 2 where one !== two: one.friends.insert(two)
        case 3: one.friends = []
        case 4: context.delete(one)
        default: one.name += "x"
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `both ends follow, whatever is taken back under whichever policy`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryDirectory()
        let container = try TestContainer.make(
            folder.url.appendingPathComponent("dancers.daybook"), model: [Dancer.self])
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        var met: Set<ManagedObjectID> = []
        for step in 1...60 {
            let context = container.newBackgroundContext()
            if random.chance(2) {
                try context.performAndWait {
                    for _ in 0..<Int.random(in: 1...3, using: &random) {
                        try edit(context, &random)
                    }
                    try context.save()
                    met.formUnion(try context.fetch(FetchRequest<Dancer>()).map(\.objectID))
                }
            } else {
                let policy = random.pick(UndoPolicy.allCases)
                do {
                    let entry = UInt64.random(
                        in: 2...max(2, try store.head().rawValue), using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0:
                        try container.undo(SequenceNumber(entry), policy: policy)
                    case 1:
                        try container.redo(SequenceNumber(entry), policy: policy)
                    default:
                        guard
                            let id = met.sorted(by: { $0.description < $1.description })
                                .randomElement(using: &random)
                        else { continue }
                        let moment = random.chance(3) ? nil : Moment.sequence(SequenceNumber(entry))
                        try container.restore(id, at: moment, policy: policy)
                    }
                } catch let error as StoreError {
                    // What cannot be done, or would change nothing, is refused.
                    #expect(error.code != .corrupt && error.code != .conflict, "\(error)")
                }
            }
            let flaws = try flaws(of: container)
            #expect(flaws.isEmpty, "seed \(seed), step \(step): \(flaws)")
            if !flaws.isEmpty { return }
        }
    }
}
