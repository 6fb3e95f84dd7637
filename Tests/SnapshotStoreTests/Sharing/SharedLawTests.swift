import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookSnapshotStore

/// Laws of stores that share a journal, on random histories with random faults.
@Suite struct SharedLawTests {
    /// More with `DAYBOOK_SHARING_SEEDS`, from `DAYBOOK_SEED` on.
    private static let seeds: Range<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["DAYBOOK_SEED"].flatMap(UInt64.init) ?? 1
        return first..<first + (environment["DAYBOOK_SHARING_SEEDS"].flatMap(UInt64.init) ?? 12)
    }()

    @Test(arguments: seeds)
    func `nodes end alike, with each save that was answered once and no other`(_ seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        let server = ScriptedServer()
        var nodes = [try SharedNode.first("0", of: server)]
        for name in 1...2 { nodes.append(try SharedNode.clone("\(name)", of: server)) }
        var expected: [ObjectID: String] = [:]
        let others = Mutex<[String]>([])
        var doubts: [(node: SharedNode, doubt: SaveDoubt, object: ObjectID, title: String)] = []

        CountedWork.add(60, "steps")
        for step in 0..<60 {
            let node = nodes[Int.random(in: 0..<nodes.count, using: &random)]
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try node.close(
                    andReopenWith: .random(seed: random.next(), count: 12, rarity: 3) { server in
                        let title = "overtaken \(server.head.sequence)"
                        let entry = try SharedNode.foreignEntry(title, after: server.head.sequence)
                        if try server.add(entry) == .accepted {
                            others.withLock { $0.append(title) }
                        }
                    })
            case 1:
                do { try node.store.pull() } catch let error as StoreError {
                    #expect(error.code == .unreachable, "seed \(seed), step \(step): \(error)")
                }
            case 2...6:
                let title = "step \(step)"
                let object: ObjectID
                do { object = try node.store.newObject("Skill") } catch let error as StoreError
                    where error.code == .unreachable
                { continue }
                do {
                    let change = try node.store.insert(object, ["title": .string(title)])
                    try node.store.commit(SaveRequest(changes: [change]))
                    expected[object] = title
                } catch let error as StoreError {
                    if error.code == .inDoubt, let doubt = error.doubt {
                        doubts.append((node, doubt, object, title))
                    } else {
                        #expect(error.code == .unreachable, "seed \(seed), step \(step): \(error)")
                    }
                }
            default:
                guard let object = expected.keys.sorted().randomElement(using: &random) else {
                    continue
                }
                do {
                    try node.store.pull()
                    try node.rename(object, to: "step \(step)")
                    expected[object] = "step \(step)"
                } catch let error as StoreError {
                    // A name in doubt is looked up; it does no harm to know it late.
                    if error.code == .inDoubt, let doubt = error.doubt {
                        doubts.append((node, doubt, object, "step \(step)"))
                        break
                    }
                    #expect(error.code == .unreachable, "seed \(seed), step \(step): \(error)")
                }
            }
            // What is in doubt is settled before the next step, by the same opening.
            for (node, doubt, object, title) in doubts {
                try node.journal.script = FaultScript()
                if try node.store.settle(doubt) != nil { expected[object] = title }
            }
            doubts = []
        }

        for node in nodes {
            try node.close()
            try node.store.pull()
        }
        for node in nodes {
            let titles = (expected.values + others.withLock(\.self)).sorted()
            #expect(try node.titles() == titles, "seed \(seed), node \(node.name)")
            #expect(try node.tables() == nodes[0].tables(), "seed \(seed), node \(node.name)")
            #expect(try node.store.headDigest() == server.head.digest, "seed \(seed)")
            #expect(
                try node.store.verify().findings.map(\.message) == [],
                "seed \(seed), node \(node.name)")
            let tables = try node.tables()
            try node.store.rebuild()
            #expect(try node.tables() == tables, "seed \(seed), node \(node.name)")
        }
    }

    @Test(arguments: seeds)
    func `a store that was cut back is one that never went on`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let server = ScriptedServer()
        let node = try SharedNode.first("ada", of: server)
        var states: [(tables: [String: Digest], head: Digest)] = []
        var objects: [ObjectID] = []
        func note() throws { states.append((try node.tables(), try node.store.headDigest())) }
        try note()
        for step in 0..<90 {
            if let object = objects.randomElement(using: &random), Bool.random(using: &random) {
                if Int.random(in: 0..<4, using: &random) == 0 {
                    objects.removeAll { $0 == object }
                    let base = try node.store.head()
                    try node.store.commit(
                        SaveRequest(
                            header: EntryHeader(base: base), changes: [node.store.delete(object)]))
                } else {
                    try node.rename(object, to: "step \(step)")
                }
            } else {
                objects.append(try node.add("step \(step)"))
            }
            try note()
        }

        for _ in 0..<4 {
            let last = Int.random(in: 1...states.count, using: &random)
            try node.store.cutBack(to: SequenceNumber(UInt64(last)))
            states.removeSubrange(last...)

            #expect(try node.tables() == states[last - 1].tables, "seed \(seed), entry \(last)")
            #expect(
                try node.store.headDigest() == states[last - 1].head, "seed \(seed), entry \(last)")
            #expect(
                try node.store.verify().findings.map(\.message) == [], "seed \(seed), entry \(last)"
            )
        }
    }
}
