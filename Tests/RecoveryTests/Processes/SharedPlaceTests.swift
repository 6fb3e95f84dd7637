import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

/// One store and several programs: under other names, in other containers, stopped, with the file
/// removed. No acknowledged save is lost, no process crashes, and none waits for ever.
@Suite(.serialized)
struct SharedPlaceTests {
    private let directory: TemporaryDirectory
    private let recorder: Recorder

    init() throws {
        directory = try TemporaryDirectory()
        recorder = Recorder(in: directory.url)
        try recorder.makeStore()
    }

    private func record(at path: String) throws -> ChildProcess {
        try ChildProcess(BuiltTool.daybook, ["record", path, "--output", "jsonl"])
    }

    /// Records one entry with a program that keeps running.
    private func save(_ name: String, with child: ChildProcess) throws -> Acknowledgement {
        try child.write(Recorder.entry(name))
        let line = try #require(child.nextLine())
        return try #require(try Acknowledgement.parse([line]).first)
    }

    // MARK: - Other names

    @Test func `a hard link to a store somebody records into is refused, and nothing is lost`()
        throws
    {
        let other = directory.path("hard.daybook")
        try FileManager.default.linkItem(atPath: recorder.path, toPath: other)
        let child = try record(at: recorder.path)
        var promises = [try save("first", with: child)]

        for words in [
            ["record", other], ["log", other], ["verify", other], ["undo", other, "2"],
        ] {
            let ran = try ChildProcess.run(BuiltTool.daybook, words)
            #expect(ran.ending == .exited(2), "\(words): \(ran)")
            #expect(ran.talk.contains("is in use by process \(child.number) ('daybook')"), "\(ran)")
            #expect(ran.talk.contains("as '\(recorder.path)'"), "\(ran.talk)")
        }

        promises.append(try save("second", with: child))
        try child.endInput()
        #expect(child.wait() == .exited(0))
        let after = try record(at: other)
        promises.append(try save("third", with: after))
        try after.endInput()
        #expect(after.wait() == .exited(0))
        try recorder.check(promises)
        #expect(try recorder.findings() == [])
    }

    @Test func `of two recorders that come by two names at once, one gets in`() throws {
        let link = directory.path("hard.daybook")
        try FileManager.default.linkItem(atPath: recorder.path, toPath: link)
        var promises: [Acknowledgement] = []

        for round in 1...20 {
            let children = try [recorder.path, link].enumerated().map { side, path in
                let name = "\(side)-\(round)"
                let input = try recorder.writeInput([Recorder.entry(name)], to: name)
                return try ChildProcess(
                    BuiltTool.daybook, ["record", path, "--output", "jsonl"], input: input)
            }
            for child in children {
                promises += try Acknowledgement.parse(child.remainingLines())
            }
            let endings = children.map { $0.wait() }
            #expect(endings.contains(.exited(0)), "\(round): \(endings)")
        }

        try recorder.check(promises)
        #expect(try recorder.findings() == [])
    }

    @Test func `two recorders by a symbolic link and by the name itself lose nothing`() throws {
        let link = directory.path("link.daybook")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: recorder.path)
        let children = [try record(at: recorder.path), try record(at: link)]

        var promises: [Acknowledgement] = []
        for number in 1...40 {
            for (side, child) in children.enumerated() {
                promises.append(try save("\(side)-\(number)", with: child))
            }
        }
        for child in children {
            try child.endInput()
            #expect(child.wait() == .exited(0))
        }

        #expect(promises.map(\.sequence) == Array(2...81))
        try recorder.check(promises)
        #expect(try recorder.findings() == [])
        #expect(!FileManager.default.fileExists(atPath: link + "-lock"))
    }

    // MARK: - The file disappears

    @Test(arguments: ["deleted", "replaced"])
    func `a recorder whose file was taken away acknowledges nothing more`(how: String) throws {
        let child = try record(at: recorder.path)
        let first = try save("first", with: child)
        #expect(first.sequence == 2)
        try FileManager.default.removeItem(atPath: recorder.path)
        if how == "replaced" { try recorder.makeStore() }

        try child.write(Recorder.entry("lost"))
        try child.endInput()

        #expect(child.nextLine() == nil)
        #expect(child.wait() == .exited(3))
        let talk = try child.talk()
        #expect(
            talk.contains(how == "deleted" ? "was deleted or moved" : "Another file"), "\(talk)")
        guard how == "replaced" else { return }
        let recorded = try recorder.record(try recorder.writeInput([Recorder.entry("new")]))
        #expect(recorded.acknowledged.map(\.sequence) == [2])
        try recorder.check(recorded.acknowledged)
        #expect(try recorder.findings() == [])
    }

    @Test func `a store made in the place of one that is still open is sound`() throws {
        let old = try record(at: recorder.path)
        for number in 1...20 { _ = try save("old-\(number)", with: old) }
        try FileManager.default.removeItem(atPath: recorder.path)
        try recorder.makeStore()
        let new = try record(at: recorder.path)

        var promises: [Acknowledgement] = []
        for number in 1...20 { promises.append(try save("new-\(number)", with: new)) }
        for child in [old, new] {
            try child.endInput()
            #expect(child.wait() == .exited(0))
        }

        #expect(promises.map(\.sequence) == Array(2...21))
        #expect(try recorder.check(promises).rawValue == 21)
        #expect(try recorder.findings() == [])
    }

    // MARK: - Containers

    @Test func `two containers in which the programs have the same number share a store`() throws {
        let unshare = try #require(BuiltTool.system("unshare"), "'unshare' must be installed.")
        func inContainer(_ words: [String]) throws -> ChildProcess {
            try ChildProcess(
                unshare,
                ["--pid", "--fork", "--kill-child", "--mount-proc", BuiltTool.daybook.path] + words)
        }
        let children = try ["left", "right"].map { _ in
            try inContainer(["record", recorder.path, "--output", "jsonl"])
        }

        var promises: [Acknowledgement] = []
        for number in 1...10 {
            for (side, child) in children.enumerated() {
                promises.append(try save("\(side)-\(number)", with: child))
            }
            let reader = try inContainer(["log", recorder.path, "--oneline"])
            #expect(reader.remainingLines().count == promises.count + 1)
            #expect(reader.wait() == .exited(0))
        }
        for child in children {
            try child.endInput()
            #expect(child.wait() == .exited(0))
        }

        try recorder.check(promises)
        #expect(try recorder.findings() == [])
    }

    // MARK: - A lock that is not released

    /// Runs `body` while this process is in the middle of a write.
    private func whileWriting(_ body: () throws -> Void) throws {
        let environment = try Environment.open(
            at: recorder.path, options: EnvironmentOptions(tables: ["meta"], create: false))
        let (began, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let ended = DispatchSemaphore(value: 0)
        let failure = FailureNote()
        Thread {
            do {
                try environment.write { _ in
                    began.signal()
                    mayEnd.wait()
                }
            } catch {
                failure.value.withLock { $0 = error }
                began.signal()
            }
            ended.signal()
        }.start()
        began.wait()
        defer {
            mayEnd.signal()
            ended.wait()
        }
        if let error = failure.value.withLock(\.self) { throw error }
        try body()
    }

    private final class FailureNote: Sendable {
        let value = Mutex<(any Error)?>(nil)
    }

    @Test func `every command waits no longer than it is told to, and says for whom`() throws {
        let recorded = try recorder.record(try recorder.writeInput([Recorder.entry("first")]))
        #expect(recorded.acknowledged.count == 1)
        let input = try recorder.writeInput([Recorder.entry("second")], to: "second")

        try whileWriting {
            for words in [
                ["record", recorder.path], ["undo", recorder.path, "2"],
                ["tag", recorder.path, "one", "1"], ["tail", recorder.path, "--cursor", "mailer"],
            ] {
                let ran = try ChildProcess.run(
                    BuiltTool.daybook, words + ["--lock-timeout", "0.05"], input: input)
                #expect(ran.ending == .exited(2), "\(words): \(ran)")
                #expect(ran.talk.isOneErrorLine, "\(words): \(ran.talk)")
                #expect(ran.talk.contains("Process \(getpid()) ('"), "\(words): \(ran.talk)")
                #expect(ran.talk.contains("for longer than 0.05 s"), "\(words): \(ran.talk)")
            }
            for words in [
                ["log", recorder.path], ["verify", recorder.path], ["stats", recorder.path],
            ] {
                let ran = try ChildProcess.run(
                    BuiltTool.daybook, words + ["--lock-timeout", "0"])
                #expect(ran.ending == .exited(0), "\(words): \(ran)")
            }
        }

        let second = try recorder.record(input)
        #expect(second.acknowledged.map(\.sequence) == [3])
    }

    @Test func `commands of a shell wait no longer than it is told to, or than their line says`()
        throws
    {
        let recorded = try recorder.record(try recorder.writeInput([Recorder.entry("first")]))
        #expect(recorded.acknowledged.count == 1)
        try whileWriting {
            for (option, limit) in [("", "0.05"), (" --lock-timeout 0.01", "0.01")] {
                let line = "tag one 1\(option)"
                let input = try recorder.writeInput([line], to: "lines")
                let ran = try ChildProcess.run(
                    BuiltTool.daybook, ["shell", recorder.path, "--lock-timeout", "0.05"],
                    input: input)
                #expect(ran.ending == .exited(2), "\(line): \(ran)")
                #expect(ran.talk.contains("for longer than \(limit) s"), "\(line): \(ran.talk)")
            }
        }
    }

    @Test func `verify waits no longer than it is told to for a program that opens the store`()
        throws
    {
        let lockFile = open(recorder.path + "-lock", O_RDWR | O_CREAT, 0o644)
        defer { close(lockFile) }
        var lock = flock(
            l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 1 << 40, l_len: 1, l_pid: 0)
        try #require(fcntl(lockFile, F_SETLK, &lock) == 0)

        let ran = try ChildProcess.run(
            BuiltTool.daybook, ["verify", recorder.path, "--lock-timeout", "0.05"])

        #expect(ran.ending == .exited(2), "\(ran)")
        let said = ran.lines.joined() + ran.talk
        #expect(said.contains("for longer than 0.05 s"), "\(ran)")
    }

    @Test func `tail --cursor obeys SIGTERM while it waits for another program`() throws {
        try whileWriting {
            let child = try ChildProcess(
                BuiltTool.daybook,
                ["tail", recorder.path, "--cursor", "mailer", "--output", "jsonl"])
            // It moves the cursor after it has handed over the existing entries.
            #expect(child.nextLine() != nil)

            child.send(SIGTERM)

            #expect(child.wait() == .exited(2))
            let talk = try child.talk()
            #expect(talk.contains("The wait for '"), "\(talk)")
        }
        let again = try ChildProcess.run(
            BuiltTool.daybook, ["tail", recorder.path, "--cursor", "mailer", "--output", "jsonl"])
        #expect(again.ending == .exited(0))
        #expect(again.lines.count == 1)
    }

    @Test(arguments: ["-1", "soon", "", "nan"])
    func `a time that is none is refused`(text: String) throws {
        let ran = try ChildProcess.run(
            BuiltTool.daybook, ["log", recorder.path, "--lock-timeout", text])

        #expect(ran.ending == .exited(2))
        #expect(ran.talk.contains("--lock-timeout"), "\(ran.talk)")
    }

    // MARK: - Standard streams

    @Test(arguments: 1..<8)
    func `a library in a program without standard streams keeps its files above them`(
        closed: Int
    ) async {
        await #expect(processExitsWith: .success) { [closed = closed as Int] in
            let folder = try TemporaryStore.makeFolder()
            let path = folder.appending(path: "store").path
            for stream in 0...2 where closed & (1 << stream) != 0 { close(Int32(stream)) }
            let store = try Store.create(at: path, model: .sample)
            let skill = try store.newObject("Skill")
            for stream in 0...2 where closed & (1 << stream) != 0 {
                _ = write(Int32(stream), "warning: something\n", 19)
            }
            try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string("Rowing")])]))
            for stream in 0...2 where closed & (1 << stream) != 0 {
                _ = write(Int32(stream), "warning: something\n", 19)
            }
            try store.close()

            let isSound = try Store.verify(path: path).isSound
            let head = try Store.head(of: path)
            precondition(isSound && head == SequenceNumber(2))
        }
    }
}
