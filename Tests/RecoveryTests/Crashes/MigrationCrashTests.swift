import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Processes that change the model of one store, and one that dies of it.
@Suite(.serialized)
struct MigrationCrashTests {
    fileprivate static let before = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Skill", attributes: [AttributeDescription(name: "title", type: .string)])
    ])

    fileprivate static let after = ManagedObjectModel(entities: [
        EntityDescription(
            name: "Skill",
            attributes: [
                AttributeDescription(
                    name: "level", type: .int64, isOptional: false, isIndexed: true,
                    defaultValue: .int(1)),
                AttributeDescription(name: "title", type: .string, isIndexed: true),
            ])
    ])

    private func makeStore() throws -> TemporaryStore {
        let temporary = try TemporaryStore(MigrationCrashTests.before)
        let store = temporary.store
        for number in 1...20 {
            let skill = try store.newObject("Skill")
            try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string("\(number)")])]))
        }
        return temporary
    }

    /// Opens the store with the newer model in a process of its own, and saves.
    private static func migrate(_ path: String) async {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let store = try Store.open(at: path, model: MigrationCrashTests.after)
            let skill = try store.newObject("Skill")
            try store.commit(SaveRequest(changes: [store.insert(skill)]))
            try store.close()
        }
    }

    @Test func `of several processes that migrate at once one does, and all go on`() async throws {
        let temporary = try makeStore()
        let path = temporary.path
        let head = try temporary.store.head()

        async let first = Self.migrate(path)
        async let second = Self.migrate(path)
        async let third = Self.migrate(path)
        async let fourth = Self.migrate(path)
        _ = await (first, second, third, fourth)

        let store = try Store.open(at: path, model: MigrationCrashTests.after)
        let kinds = try (head.rawValue + 1...head.rawValue + 5).map {
            try store.entry(SequenceNumber($0)).header.kind
        }
        #expect(try store.head().rawValue == head.rawValue + 5)
        #expect(kinds.first == .model)
        #expect(kinds.count { $0 == .model } == 1)
        try store.close()
        try temporary.store.close()
        #expect(try Store.verify(path: path).isSound)
    }

    @Test func `a process that is killed in a migration leaves the store as it was`() async throws {
        let temporary = try makeStore()
        let path = temporary.path
        let head = try temporary.store.headDigest()
        let tables = try temporary.store.projectionDigest()
        try temporary.store.close()

        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            var options = StoreOptions()
            // Everything is written but the entry itself.
            options.clock = {
                _ = kill(getpid(), SIGKILL)
                return 0
            }
            _ = try Store.open(at: path, model: MigrationCrashTests.after, options: options)
        }

        let store = try Store.open(at: path)
        #expect(try store.headDigest() == head)
        #expect(try store.projectionDigest() == tables)
        try store.close()
        #expect(try Store.verify(path: path).isSound)
        let again = try Store.open(at: path, model: MigrationCrashTests.after)
        #expect(try again.head().rawValue == 22)
        try again.close()
        #expect(try Store.verify(path: path).isSound)
    }
}
