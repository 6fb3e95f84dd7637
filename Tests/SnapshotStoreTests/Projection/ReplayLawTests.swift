import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

struct ReplayLawTests {
    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func `every object reads as the reference has it at every sequence number`(
        seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 40)
        let store = history.store
        let reference = history.reference
        let known = Set(
            (0...reference.head.rawValue).flatMap {
                reference.world(at: SequenceNumber($0)).keys
            })

        try #require(try store.head() == reference.head)
        for number in 1...reference.head.rawValue {
            let sequence = SequenceNumber(number)
            let world = reference.world(at: sequence)
            try store.read(at: sequence) { snapshot in
                var walked: [ObjectID] = []
                try snapshot.objects(of: store.schema.entities.map(\.number)) { object in
                    walked.append(object)
                    return .proceed
                }
                #expect(walked == world.keys.sorted(), "seed \(seed), entry \(number)")
                for object in known {
                    let state = try snapshot.state(of: object)
                    #expect(state == world[object], "seed \(seed), entry \(number)")
                    #expect(try snapshot.exists(object) == (world[object] != nil))
                }
            }
        }
    }

    @Test(arguments: [6, 7, 8] as [UInt64])
    func `derived sides read as the reference has them at every sequence number`(
        seed: UInt64
    ) throws {
        let history = try RandomHistory(seed: seed, entries: 40)
        let store = history.store

        for number in 1...history.reference.head.rawValue {
            let world = history.reference.world(at: SequenceNumber(number))
            try store.read(at: SequenceNumber(number)) { snapshot in
                for object in world.keys {
                    let derived = store.schema.entity(object.entity)?.properties.filter {
                        $0.end?.isStored == false
                    }
                    for property in derived ?? [] {
                        let stored = try #require(
                            property.end?.inverse.flatMap { store.schema.property($0) })
                        let found: [ObjectID] = try snapshot.members(of: property, in: object)
                        let expected = ReferenceModel.referrers(
                            to: object, stored, in: world, store.schema)
                        #expect(found == expected, "seed \(seed), entry \(number)")
                    }
                }
            }
        }
    }

    @Test(arguments: [9, 10, 11] as [UInt64])
    func `rebuilding leaves every table as it was`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed, entries: 140)
        let before = try history.store.projectionDigest()

        try history.store.rebuild()

        #expect(try history.store.projectionDigest() == before, "seed \(seed)")
        #expect(Set(before.values).count > 5)
    }

    @Test(arguments: [12, 13, 14] as [UInt64])
    func `a loaded export has the same digests and the same tables`(seed: UInt64) throws {
        let history = try RandomHistory(seed: seed, entries: 140)
        let folder = try TemporaryStore.makeFolder()

        let path = folder.appending(path: "copy.daybook").path
        let copy = try TestStore.create(
            at: path, loading: try history.store.entry(SequenceNumber(1)), options: .counting())
        try history.store.entries(from: SequenceNumber(2)) { entry in
            try copy.append(exported: entry)
            return .proceed
        }

        #expect(try copy.headDigest() == history.store.headDigest(), "seed \(seed)")
        #expect(try copy.projectionDigest() == history.store.projectionDigest())
        #expect(try copy.allocateObjectNumber() > 0)
        try copy.close()
    }

    @Test func `entries come back as they were saved`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        let header = EntryHeader(
            kind: .batch, author: "Ada", note: "A note", context: "main", occurredAt: -5,
            base: SequenceNumber(1), undoes: nil)

        let result = try store.commit(
            SaveRequest(
                header: header, changes: [store.insert(skill, ["title": .string("x")])]))

        let entry = try store.entry(SequenceNumber(2))
        #expect(entry.header == header)
        #expect(entry.time == -5)
        #expect(entry.changes == result.changes)
        #expect(entry.previous == (try store.entry(SequenceNumber(1)).digest))
        #expect(try store.entry(SequenceNumber(1)).model == store.schema.model)
    }
}
