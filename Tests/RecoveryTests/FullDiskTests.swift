import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Behaviour on a full disk.
@Suite(.serialized)
struct FullDiskTests {
    /// Entries that fill a couple of megabytes.
    private static let filling = (1...400).map {
        Recorder.entry("full-\($0)", note: String(repeating: "page ", count: 1_600))
    }

    @Test func `on a full file system recording stops with a sentence and goes on with room`()
        throws
    {
        let directory = try TemporaryDirectory()
        let mounted = try MountedMemory(in: directory, bytes: 3 << 20)
        // Where mounting is not allowed, a limit on the length of files stands in for a full disk.
        let recorder = Recorder(in: mounted?.url ?? directory.url)
        try recorder.makeStore()
        let ballast = recorder.directory.appendingPathComponent("ballast")
        if mounted != nil { try Data(count: 1 << 20).write(to: ballast) }
        let input = Recorder(in: directory.url)
        let limit = try #require(BuiltTool.system("prlimit"))

        let ran = try recorder.record(
            try input.writeInput(Self.filling),
            under: mounted == nil ? (limit, ["--fsize=2097152"]) : nil)

        #expect(ran.ending == .exited(2), "\(ran.ending) \(ran.talk)")
        #expect(ran.talk.isOneErrorLine, "\(ran.talk)")
        #expect(ran.talk.contains("full"), "\(ran.talk)")
        #expect(!ran.acknowledged.isEmpty && ran.acknowledged.count < Self.filling.count)
        let head = try recorder.check(ran.acknowledged)
        #expect(head.rawValue == ran.acknowledged.last?.sequence)
        #expect(try recorder.findings() == [])
        if mounted != nil { try FileManager.default.removeItem(at: ballast) }
        let more = try recorder.record(
            try input.writeInput([Recorder.entry("afterwards")], to: "more"))
        #expect(more.ending == .exited(0), "\(more.talk)")
        #expect(try recorder.check(more.acknowledged).rawValue == head.rawValue + 1)
    }

    @Test(arguments: [1 << 20, 1_000_000])
    func `a file that may not grow stops recording with a sentence`(limit: Int) throws {
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let prlimit = try #require(BuiltTool.system("prlimit"))

        let ran = try recorder.record(
            try recorder.writeInput(Self.filling), under: (prlimit, ["--fsize=\(limit)"]))

        #expect(ran.ending == .exited(2), "\(ran.ending) \(ran.talk)")
        #expect(ran.talk.isOneErrorLine && ran.talk.contains("full"), "\(ran.talk)")
        #expect(try recorder.check(ran.acknowledged).rawValue == ran.acknowledged.last?.sequence)
        #expect(try recorder.findings() == [])
    }

    @Test func `a store that is open through a full disk saves again when there is room`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let temporary = try TemporaryStore(
                .sample, options: .counting(verification: .off, durability: .durable))
            let store = temporary.store
            var room = rlimit()
            getrlimit(resourceFileSize, &room)
            let unlimited = room
            room.rlim_cur = 1 << 20
            setrlimit(resourceFileSize, &room)
            var saved = 0
            var refusal: StoreError?

            while refusal == nil, saved < 10_000 {
                let skill = try store.newObject("Skill")
                let title = String(repeating: "skill \(saved) ", count: 200)
                do {
                    try store.commit(
                        SaveRequest(changes: [store.insert(skill, ["title": .string(title)])]))
                    saved += 1
                } catch let error as StoreError {
                    refusal = error
                }
            }

            let count = try store.read { try $0.world(of: "Skill") }
            #expect(refusal?.code == .full)
            #expect(saved > 10 && count == saved)
            room = unlimited
            setrlimit(resourceFileSize, &room)
            let skill = try store.newObject("Skill")
            try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string("room")])]))
            #expect(try store.read { try $0.world(of: "Skill") } == saved + 1)
            try store.close()
            #expect(try Store.verify(path: temporary.path).isSound)
        }
    }

    @Test func `a disk that is full right after a large save fails the next one, not that`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let temporary = try TemporaryStore(
                .sample, options: .counting(verification: .off, durability: .durable))
            let store = temporary.store
            let skills = try (0..<5_000).map { _ in try store.newObject("Skill") }
            let (old, new) = (Value.string("Rowing"), Value.string("Sailing"))
            try store.commit(
                SaveRequest(changes: skills.map { store.insert($0, ["title": old]) }))
            let updates = skills.map { store.update($0, "title", from: old, to: new) }
            let back = store.update(skills[0], "title", from: new, to: old)
            var unlimited = rlimit()
            getrlimit(resourceFileSize, &unlimited)
            var none = unlimited
            none.rlim_cur = 0
            // Listeners are called between the save and the write that makes its pages reusable.
            let subscription = store.subscribe { [none] _ in
                var none = none
                setrlimit(resourceFileSize, &none)
            }

            let saved = try store.commit(SaveRequest(changes: updates))

            #expect(try store.head() == saved.sequence)
            let refusal = #expect(throws: StoreError.self) {
                try store.commit(SaveRequest(changes: [back]))
            }
            #expect(refusal?.code == .full, "\(String(describing: refusal))")
            subscription.cancel()
            setrlimit(resourceFileSize, &unlimited)
            try store.commit(SaveRequest(changes: [back]))
            try store.close()
            #expect(try Store.verify(path: temporary.path).isSound)
        }
    }
}

extension FullDiskTests {
    private static let readingCommands: [[String]] = [
        ["log"], ["show", "STORE", "1"], ["fetch", "STORE", "Item"],
        ["history", "STORE", "Item/1"],
        ["diff", "STORE", "1", "2"], ["export", "STORE", "--format", "jsonl"], ["model"], ["stats"],
        ["tail"], ["verify"],
    ]
    private static let writingCommands: [[String]] = [
        ["record"], ["undo", "STORE", "2"], ["tag", "STORE", "first", "1"],
    ]

    @Test
    func `on a full disk without a lock file everything is read, and nothing is called damage`()
        throws
    {
        let directory = try TemporaryDirectory()
        let mounted = try #require(
            try MountedMemory(in: directory, bytes: 3 << 20),
            "This test has to mount a file system.")
        let recorder = Recorder(in: mounted.url)
        try recorder.makeStore()
        let input = Recorder(in: directory.url)
        let recorded = try recorder.record(
            try input.writeInput((1...5).map { Recorder.entry("\($0)") }))
        #expect(recorded.acknowledged.count == 5)
        func run(_ command: [String]) throws -> (
            lines: [String], talk: String, ending: ChildProcess.Ending
        ) {
            let words =
                command.count == 1
                ? command + [recorder.path]
                : command.map { $0 == "STORE" ? recorder.path : $0 }
            return try ChildProcess.run(BuiltTool.daybook, words)
        }
        let before = try Self.readingCommands.map { try run($0) }
        let content = try Data(contentsOf: URL(fileURLWithPath: recorder.path))
        try FileManager.default.removeItem(atPath: recorder.path + "-lock")
        Self.fill(mounted.url)

        for (command, earlier) in zip(Self.readingCommands, before) {
            let ran = try run(command)
            #expect(ran.ending == earlier.ending, "\(command): \(ran)")
            if command != ["stats"] { #expect(ran.lines == earlier.lines, "\(command)") }
        }
        for command in Self.writingCommands {
            let ran = try run(command)
            #expect(ran.ending == .exited(2), "\(command): \(ran)")
            #expect(ran.talk.contains("disk is full") && ran.talk.isOneErrorLine, "\(ran.talk)")
        }

        #expect(try Data(contentsOf: URL(fileURLWithPath: recorder.path)) == content)
        try FileManager.default.removeItem(at: mounted.url.appending(path: "ballast"))
        let more = try recorder.record(
            try input.writeInput([Recorder.entry("afterwards")], to: "more"))
        #expect(more.ending == .exited(0), "\(more.talk)")
        #expect(try recorder.findings() == [])
    }

    /// Fills a file system to the last page.
    private static func fill(_ folder: URL) {
        let ballast = open(folder.appending(path: "ballast").path, O_WRONLY | O_CREAT, 0o600)
        let page = [UInt8](repeating: 1, count: 4_096)
        while write(ballast, page, page.count) > 0 {}
        close(ballast)
    }
}

#if canImport(Glibc)
private let resourceFileSize = __rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue))
#else
private let resourceFileSize = RLIMIT_FSIZE
#endif

extension Snapshot {
    /// How many objects an entity has.
    func world(of entity: String) throws -> Int {
        guard let entity = schema.entity(named: entity) else { return 0 }
        return try count(Query(entity))
    }
}

/// A file system in memory, as small as a test needs, unmounted with this value.
private final class MountedMemory {
    let url: URL

    /// Mounts one; nil if that is not allowed.
    init?(in directory: TemporaryDirectory, bytes: Int) throws {
        url = directory.url.appendingPathComponent("memory", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        guard let mount = BuiltTool.system("mount") else { return nil }
        let mounted = try ChildProcess.run(
            mount, ["-t", "tmpfs", "-o", "size=\(bytes)", "tmpfs", url.path])
        guard mounted.ending == .exited(0) else { return nil }
    }

    deinit {
        guard let unmount = BuiltTool.system("umount") else { return }
        #expect(throws: Never.self) {
            let done = try ChildProcess.run(unmount, [url.path])
            #expect(done.ending == .exited(0), "\(done.talk)")
        }
    }
}
