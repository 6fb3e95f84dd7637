import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Testing

@testable import DaybookSnapshotStore

struct CommitTests {
    @Test func `what is saved is read back`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")

        let result = try store.commit(
            SaveRequest(changes: [store.insert(skill, ["title": .string("Sailing")])]))

        #expect(result.sequence == SequenceNumber(2))
        let values = try store.read { try $0.row(skill)?.values }
        #expect(values == [.string("Sailing")])
        #expect(try store.headDigest() == result.digest)
        #expect(try store.entry(SequenceNumber(2)).changes == result.changes)
    }

    @Test func `an entry of thousands of changes is folded completely, whatever their order`()
        throws
    {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skills = try (0..<3_000).map { _ in try store.newObject("Skill") }
        let title = { (index: Int) in Value.string(String(repeating: "x", count: index % 200)) }

        try store.commit(
            SaveRequest(
                changes: skills.enumerated().reversed().map {
                    store.insert($1, ["title": title($0)])
                }))

        let found = try store.read { snapshot in
            try skills.map { try snapshot.row($0)?.values }
        }
        #expect(found == skills.indices.map { [title($0)] })
        #expect(try store.entry(SequenceNumber(2)).changes.map(\.object) == skills)
    }

    @Test func `an empty net change appends nothing`() throws {
        let temporary = try TemporaryStore()

        let result = try temporary.store.commit(SaveRequest())

        #expect(result.sequence == nil)
        #expect(try temporary.store.head() == SequenceNumber(1))
    }

    @Test func `an entry follows the last one, whatever has been written in between`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        func save() throws -> SaveResult {
            let skill = try store.newObject("Skill")
            return try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string("Sailing")])]))
        }

        var digests = [try save().digest]
        try store.setUserValues(["key": .int(1)])
        digests.append(try save().digest)
        _ = try store.allocateObjectNumbers(7)
        digests.append(try save().digest)
        digests.append(try save().digest)

        let entries = try (2...5).map { try store.entry(SequenceNumber($0)) }
        #expect(entries.map(\.digest) == digests)
        #expect(try store.verify().findings.isEmpty)
    }

    @Test func `an object with a number below the greatest is new if it does not exist`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skills = try (0..<3).map { _ in try store.newObject("Skill") }
        func insert(_ index: Int) -> SaveRequest {
            SaveRequest(changes: [store.insert(skills[index], ["title": .string("\(index)")])])
        }

        try store.commit(insert(0))
        try store.commit(insert(2))
        try store.commit(insert(1))

        #expect(try store.commit(insert(1)).sequence == nil)
        #expect(try store.commit(insert(2)).sequence == nil)
        #expect(try store.head() == SequenceNumber(4))
        #expect(try store.verify().findings.isEmpty)
    }
}
