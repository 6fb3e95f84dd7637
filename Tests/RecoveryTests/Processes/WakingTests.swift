import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Followers that are woken by what another process saves.
@Suite(.serialized)
struct WakingTests {
    private let directory: TemporaryDirectory
    private let recorder: Recorder

    init() throws {
        directory = try TemporaryDirectory()
        recorder = Recorder(in: directory.url)
        try recorder.makeStore()
    }

    /// The store as a program has it that knows its model.
    private func container(
        options: PersistentStoreOptions = PersistentStoreOptions()
    ) throws -> PersistentContainer {
        let store = try Store.open(at: recorder.path)
        defer { #expect(throws: Never.self) { try store.close() } }
        return try PersistentContainer(
            URL(fileURLWithPath: recorder.path), managedObjectModel: store.schema.model,
            options: options)
    }

    /// Waits for a process, on a thread of its own.
    private func end(of child: ChildProcess) async throws -> ChildProcess.Ending {
        nonisolated(unsafe) let child = child
        try child.endInput()
        return await withCheckedContinuation { ended in
            Thread { ended.resume(returning: child.wait()) }.start()
        }
    }

    /// That it is a notice that wakes, and not the look that comes after some seconds, `FileWatchTests` shows.
    @Test func `a follower hears of each save of another process, in order`() async throws {
        let container = try container()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        var entries = try store.changes(since: .head).makeAsyncIterator()
        let child = try ChildProcess(BuiltTool.daybook, recorder.arguments)

        for number in 0..<20 {
            try child.write(Recorder.entry("e\(number)"))
            let entry = try #require(try await entries.next())
            #expect(entry.note == "e\(number)")
            #expect(entry.changes.count == 2)
        }

        #expect(try await end(of: child) == .exited(0))
    }

    @Test func `a killed writer leaves nobody waiting for what it saved`() async throws {
        let container = try container()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        var entries = try store.changes(since: .head).makeAsyncIterator()

        for number in 0..<5 {
            let child = try ChildProcess(BuiltTool.daybook, recorder.arguments)
            try child.write(Recorder.entry("k\(number)"))
            #expect(try await entries.next()?.note == "k\(number)")
            child.kill()
            _ = try await end(of: child)
        }
    }

    @Test func `a context that merges automatically shows what another process saves`() async throws
    {
        var options = PersistentStoreOptions()
        options.remoteChanges = .immediate
        let container = try container(options: options)
        let context = container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = true
        let changes = try await context.perform {
            try ValueObserver(
                countOf: FetchRequest<ManagedObject>(entityName: "Item"), in: context
            ).changes
        }
        let child = try ChildProcess(BuiltTool.daybook, recorder.arguments)

        try child.write(Recorder.entry("e"))

        for await change in changes {
            #expect(change.value == 2)
            break
        }
        #expect(try await end(of: child) == .exited(0))
    }
}
