import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Stops, or refuses, every system call with which a save reaches the disk.
@Suite(.serialized)
struct CommitStepTests {
    /// The calls with which LMDB changes a file. The counts are per thread, and one thread writes.
    static let calls = [
        "pwrite64", "pwritev", "writev", "fdatasync", "ftruncate", "fsync", "msync",
    ]

    /// No save of these tests needs more calls of one kind.
    static let callsMaximum = 40

    @Test(arguments: calls)
    func `killed before any call of a save, an entry is whole or not there`(
        call: String
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let template = try Self.makeTemplate(in: directory)
        var number = 1

        while number <= Self.callsMaximum {
            let recorder = try Self.copy(template, to: directory.path("\(call)-\(number)"))
            let ran = try recorder.record(
                try Self.writeInput(recorder),
                under: Self.wrapper(strace, call, "signal=KILL", number))
            let head = try recorder.check(ran.acknowledged, entriesFrom: SequenceNumber(3))
            let said = ran.acknowledged.last?.sequence ?? 2
            #expect(
                (said...said + 1).contains(head.rawValue),
                "\(call) \(number): head \(head), acknowledged \(said)")
            #expect(try recorder.findings() == [], "\(call) \(number)")
            try Self.recordMore(recorder)
            if ran.ending == .exited(0) { break }
            #expect(ran.ending == .killed(SIGKILL), "\(call) \(number): \(ran.talk)")
            number += 1
        }

        CountedWork.add(number - 1, "failed calls")
        // The last round was not disturbed; for a call that is never made there is only that round.
        #expect(number <= Self.callsMaximum, "\(call) has more steps than are tried")
        if call == "fdatasync" { #expect(number > 3) }
    }

    @Test(arguments: calls, ["EIO", "ENOSPC"])
    func `refused by the disk at any call, a save says so in one sentence and loses nothing`(
        call: String, error: String
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let template = try Self.makeTemplate(in: directory)
        var number = 1

        while number <= Self.callsMaximum {
            let recorder = try Self.copy(template, to: directory.path("\(call)-\(number)"))
            let ran = try recorder.record(
                try Self.writeInput(recorder),
                under: Self.wrapper(strace, call, "error=\(error)", number))
            try recorder.check(ran.acknowledged, entriesFrom: SequenceNumber(3))
            // A save whose very last step failed leaves a first page that is not used, and that the
            // next save overwrites.
            let findings = try recorder.findings()
            #expect(findings.allSatisfy { $0.contains("the next save") }, "\(call) \(number)")
            #expect(findings.count <= 1, "\(call) \(number): \(findings)")
            try Self.recordMore(recorder)
            #expect(try recorder.findings() == [], "\(call) \(number)")
            if ran.ending == .exited(0), ran.acknowledged.count == Self.entries.count { break }
            // After a full disk the store stays usable; after a failure of the last step, or any
            // other, it must be opened again, and says so.
            let isFull = error == "ENOSPC" && !ran.talk.contains("open it again")
            let code: Int32 = isFull ? 2 : 3
            let remedies = isFull ? ["Make room"] : ["open it again", "while opening"]
            #expect(remedies.contains { ran.talk.contains($0) }, "\(ran.talk)")
            #expect(ran.ending == .exited(code), "\(call) \(number): \(ran.talk)")
            #expect(ran.talk.isOneErrorLine, "\(call) \(number): \(ran.talk)")
            number += 1
        }

        CountedWork.add(number - 1, "failed calls")
        #expect(number <= Self.callsMaximum, "\(call) has more steps than are tried")
        if call == "fdatasync" { #expect(number > 3) }
    }

    @Test(arguments: calls)
    func `killed before any call of making a store, a store is there or a sentence says not`(
        call: String
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let model = directory.path("model.json")
        try Data(Recorder.modelText.utf8).write(to: URL(fileURLWithPath: model))
        var number = 1

        while number <= Self.callsMaximum {
            let path = directory.path("\(call)-\(number).daybook")
            let (executable, arguments) = Self.wrapper(strace, call, "signal=KILL", number)
            let ran = try ChildProcess.run(
                executable,
                arguments + [BuiltTool.daybook.path, "init", path, "--model", model])
            let opened = Result { try Store.head(of: path) }
            switch opened {
            case .success(let head):
                #expect(head == SequenceNumber(1))
                #expect(try Store.verify(path: path).isSound)
            case .failure(let error):
                let refusal = try #require(error as? StoreError)
                #expect(ran.ending != .exited(0))
                #expect(!refusal.message.contains("\n"))
            }
            if ran.ending == .exited(0) { break }
            #expect(ran.ending == .killed(SIGKILL), "\(call) \(number): \(ran.talk)")
            number += 1
        }

        CountedWork.add(number - 1, "failed calls")
        #expect(number <= Self.callsMaximum)
    }

    @Test(arguments: 7...13)
    func `killed around the first time that the file grows ahead, nothing is lost`(
        number: Int
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let entries = (1...20).map { Recorder.entry("growing-\($0)") }

        // Growing ahead is a `write`; so is each acknowledgement, and nothing else.
        let ran = try recorder.record(
            try recorder.writeInput(entries),
            under: Self.wrapper(strace, "write", "signal=KILL", number))

        #expect(ran.ending == .killed(SIGKILL), "\(ran.talk)")
        let head = try recorder.check(ran.acknowledged)
        let said = ran.acknowledged.last?.sequence ?? 1
        #expect((said...said + 1).contains(head.rawValue))
        #expect(try recorder.findings() == [])
        try Self.recordMore(recorder)
    }

    // MARK: - Recorded entries

    /// A small entry, one whose value has its own pages, and one that fills several pages.
    private static let entries = [
        Recorder.entry("first"),
        Recorder.entry("long", note: String(repeating: "daybook ", count: 2_000)),
        Recorder.entry("last", note: String(repeating: "x", count: 1_500)),
    ]

    private static func writeInput(_ recorder: Recorder) throws -> URL {
        try recorder.writeInput(entries)
    }

    private static func makeTemplate(in directory: TemporaryDirectory) throws -> Recorder {
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let made = try recorder.record(try recorder.writeInput([Recorder.entry("zero")]))
        try #require(made.ending == .exited(0), "\(made.talk)")
        return recorder
    }

    private static func copy(_ template: Recorder, to path: String) throws -> Recorder {
        let folder = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let recorder = Recorder(in: folder)
        try FileManager.default.copyItem(atPath: template.path, toPath: recorder.path)
        return recorder
    }

    private static func recordMore(_ recorder: Recorder) throws {
        let before = try Store.head(of: recorder.path)
        let more = try recorder.record(
            try recorder.writeInput([Recorder.entry("afterwards")], to: "more"))
        #expect(more.ending == .exited(0), "\(more.talk)")
        #expect(more.acknowledged.map(\.sequence) == [before.rawValue + 1])
    }

    private static func wrapper(
        _ strace: URL, _ call: String, _ injection: String, _ number: Int
    ) -> (executable: URL, arguments: [String]) {
        (
            strace,
            [
                "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                "inject=\(call):\(injection):when=\(number)",
            ]
        )
    }
}

extension String {
    /// Whether this has the form of the command's errors: one line, a full sentence.
    var isOneErrorLine: Bool {
        hasPrefix("error: ") && hasSuffix(".\n") && filter { $0 == "\n" }.count == 1
    }
}
