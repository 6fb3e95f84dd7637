import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookTestSupport
import Dispatch
import Foundation
import Testing

@testable import DaybookSnapshotStore

struct VerifyTests {
    static let tableNames = StoreLayout.tableNames.sorted()

    @Test func `a store with a random history is sound`() throws {
        let history = try RandomHistory(seed: 31, entries: 40)
        try history.store.close()

        let report = try Store.verify(path: history.temporary.path)

        #expect(report.isSound, "\(report.findings) \(report.gaps)")
        #expect(report.head == history.reference.head)
        #expect(report.recordsCompared > 100)
    }

    @Test func `a save during a check is not a finding`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skills = try (0..<50).map { _ in try store.newObject("Skill") }
        try store.commit(
            SaveRequest(changes: skills.map { store.insert($0, ["title": .string("Sailing")]) }))

        var saved = 0
        let report = try Store.verify(path: temporary.path) { _, _ in
            guard saved < 20 else { return }
            saved += 1
            Self.saveElsewhere(store)
        }

        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(saved > 0)
    }

    /// Saves on another thread, as another program would, and waits for it.
    private static func saveElsewhere(_ store: Store) {
        let done = DispatchSemaphore(value: 0)
        Thread {
            defer { done.signal() }
            do {
                let skill = try store.newObject("Skill")
                try store.commit(
                    SaveRequest(changes: [store.insert(skill, ["title": .string("Rowing")])]))
            } catch {
                Issue.record(error)
            }
        }.start()
        done.wait()
    }

    @Test(arguments: tableNames)
    func `a flipped byte in the records of any table is found`(name: String) throws {
        let history = try RandomHistory(seed: 32, entries: 90)
        try history.store.close()
        let record = try Self.damage(name, in: history.temporary.path, seed: 32)

        let report = try Store.verify(path: history.temporary.path)

        #expect(!report.findings.isEmpty, "\(record) of table '\(name)'")
    }

    @Test func `a flipped byte in a row names the object, and other records are fine`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skills = try (0..<3).map { _ in try store.newObject("Skill") }
        try store.commit(
            SaveRequest(changes: skills.map { store.insert($0, ["title": .string("Sailing")]) }))
        try store.close()
        let key = StoreKey.object(skills[1])
        try Self.edit("rows", in: temporary.path) {
            $0 == key
        } with: { value in
            value[value.count - 1] ^= 1
        }

        let report = try Store.verify(path: temporary.path)

        #expect(report.findings.map(\.place) == ["rows, Skill/2"])
    }

    @Test func `a checkpoint is compared though a row is damaged, not where pages are`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(
            SaveRequest(changes: [store.insert(skill, ["title": .string("Sailing")])]))
        let checkpoint = try store.checkpoint(origin: "example.org/skills")
        let other = Checkpoint(
            origin: checkpoint.origin, size: checkpoint.size + 1, root: checkpoint.root)
        try store.close()
        try Self.edit("rows", in: temporary.path) { _ in
            true
        } with: { value in
            value[value.count - 1] ^= 1
        }

        let fitting = try Store.verify(path: temporary.path, checkpoint: checkpoint)
        let cut = try Store.verify(path: temporary.path, checkpoint: other)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: temporary.path))
        try file.seek(toOffset: 4_096)
        try file.write(contentsOf: Data(count: 4_096))
        try file.close()
        let torn = try Store.verify(path: temporary.path, checkpoint: checkpoint)

        #expect(!fitting.findings.isEmpty)
        #expect(fitting.isCheckpointCompared && fitting.flaw == nil)
        #expect(cut.isCheckpointCompared && cut.flaw != nil)
        #expect(!torn.isCheckpointCompared && torn.flaw == nil)
        #expect(
            torn.gaps.last
                == "The checkpoint was not compared, because the pages of the file are damaged.")
    }

    @Test func `a relationship that is its own inverse has to be there at both ends`() throws {
        let temporary = try TemporaryStore(.payroll)
        let store = temporary.store
        let ada = try store.add("Employee")
        let bob = try store.add("Employee")
        let there = store.update(ada, "friends", adding: [Member(object: bob)])
        let back = store.update(bob, "friends", adding: [Member(object: ada)])

        try store.forge([there])

        let report = try store.verify()
        #expect(report.findings.map(\.kind) == [.reference])
        #expect(
            report.findings.map(\.message) == [
                "'friends' of Employee/\(ada.number) refers to Employee/\(bob.number), which does not "
                    + "refer back, though the relationship is its own inverse."
            ])
        try store.forge([back])
        #expect(try store.verify().findings.allSatisfy { $0.kind != .reference })
    }

    @Test func `rebuilding repairs a damaged table`() throws {
        let history = try RandomHistory(seed: 33, entries: 20)
        let digest = try history.store.projectionDigest()
        try history.store.close()
        try Self.damage("members", in: history.temporary.path, seed: 33)

        let store = try TestStore.open(at: history.temporary.path)
        try store.rebuild()

        #expect(try store.projectionDigest() == digest)
        try store.close()
        #expect(try Store.verify(path: history.temporary.path).isSound)
    }

    /// Flips one byte of a record chosen by a seed: in the value, or in the key if there is no
    /// value.
    @discardableResult
    private static func damage(
        _ name: String, in path: String, seed: UInt64
    ) throws -> String {
        var generator = SeededGenerator(seed: seed)
        let environment = try open(path)
        let table = try environment.table(name)
        var records: [StoreRecord] = []
        try environment.read { transaction in
            var walk = TableWalk(table)
            while let record = try walk.peek(in: transaction) {
                records.append(record)
                walk.advance()
            }
        }
        let record = try #require(records.randomElement(using: &generator))
        var key = record.key
        var value = record.value
        if value.isEmpty {
            key[key.count - 1] ^= 0x40
        } else {
            value[Int.random(in: value.indices, using: &generator)] ^= 0x10
        }
        try environment.write { [key, value] transaction in
            _ = try transaction.delete(table, record.key.span.bytes)
            try transaction.put(table, key.span.bytes, value.span.bytes, .upsert)
        }
        return "key \(record.key)"
    }

    private static func edit(
        _ name: String, in path: String, where isMeant: ([UInt8]) -> Bool,
        with change: (inout [UInt8]) -> Void
    ) throws {
        let environment = try open(path)
        let table = try environment.table(name)
        var found: StoreRecord?
        try environment.read { transaction in
            var walk = TableWalk(table)
            while let record = try walk.peek(in: transaction) {
                if isMeant(record.key) { found = record }
                walk.advance()
            }
        }
        let record = try #require(found)
        var value = record.value
        change(&value)
        try environment.write { [value] transaction in
            try transaction.put(table, record.key.span.bytes, value.span.bytes, .upsert)
        }
    }

    private static func open(_ path: String) throws -> Environment {
        try Environment.open(
            at: path, options: EnvironmentOptions(tables: StoreLayout.tableNames, create: false))
    }

    @Test func `a record of meta whose name is damaged is found`() throws {
        let temporary = try TemporaryStore(.sample)
        let store = temporary.store
        try store.setTag("audited")
        #expect(try store.verify().isSound)

        try store.writing { [meta = store.parts.tables.meta] transaction in
            let tags = try #require(
                try StoreMetadata.record(StoreMetadata.Name.tags, meta, in: transaction))
            try StoreMetadata.remove(StoreMetadata.Name.tags, meta, in: transaction)
            try StoreMetadata.put("tagr", tags, meta, in: transaction)
        }

        let findings = try store.verify().findings
        #expect(findings.map(\.kind) == [.metadata])
        #expect(findings.map(\.place) == ["meta, 'tagr'"])
    }

    @Test func `a count of rewinds that cannot be read is found`() throws {
        let temporary = try TemporaryStore(.sample)
        let store = temporary.store

        try store.writing { [meta = store.parts.tables.meta] transaction in
            try StoreMetadata.put(StoreMetadata.Name.rewinds, [1], meta, in: transaction)
        }

        #expect(try store.verify().findings.map(\.place) == ["meta, 'rewinds'"])
    }
}
