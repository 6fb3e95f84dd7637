import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Stops every system call with which a migration reaches the disk.
@Suite(.serialized)
struct MigrationStepTests {
    /// A value for each object, an index on it, an index on an older attribute, and a rename.
    private static let modelText = """
        {"entities":[{"name":"Item","attributes":[
          {"name":"code","type":"string","optional":false,"unique":true},
          {"name":"remark","type":"string","indexed":true,"optional":false,"default":"none",
           "renamingIdentifier":"note"},
          {"name":"level","type":"int64","optional":false,"default":1,"indexed":true}],
          "relationships":[
          {"name":"parent","destination":"Item","inverse":"children"},
          {"name":"children","destination":"Item","toMany":true,"inverse":"parent"}]}]}
        """

    @Test(arguments: CommitStepTests.calls)
    func `killed before any call of a migration, a store has one model or the other`(
        call: String
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let template = Recorder(in: directory.url)
        try template.makeStore()
        let made = try template.record(
            try template.writeInput((1...40).map { Recorder.entry("\($0)") }))
        try #require(made.ending == .exited(0), "\(made.talk)")
        let model = directory.url.appendingPathComponent("newer.json")
        try Data(Self.modelText.utf8).write(to: model)
        let head = try Store.head(of: template.path)
        var number = 1
        var killed = 0

        while number <= CommitStepTests.callsMaximum {
            let path = directory.path("\(call)-\(number).daybook")
            try FileManager.default.copyItem(atPath: template.path, toPath: path)
            let migration = ["migrate", path, "--model", model.path]
            let ran = try ChildProcess.run(
                strace,
                [
                    "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                    "inject=\(call):signal=KILL:when=\(number)", BuiltTool.daybook.path,
                ] + migration)
            let reached = try Store.head(of: path)
            #expect([head, head.next].contains(reached), "\(call) \(number)")
            let report = try Store.verify(path: path)
            #expect(report.isSound, "\(call) \(number): \(report.findings) \(report.gaps)")

            let again = try ChildProcess.run(BuiltTool.daybook, migration)
            #expect(again.ending == .exited(0), "\(call) \(number): \(again.talk)")
            #expect(try Store.head(of: path) == head.next, "\(call) \(number)")
            let whole = try Store.verify(path: path)
            #expect(whole.isSound, "\(call) \(number): \(whole.findings) \(whole.gaps)")
            if ran.ending == .exited(0) { break }
            #expect(ran.ending == .killed(SIGKILL), "\(call) \(number): \(ran.talk)")
            killed += 1
            number += 1
        }

        #expect(number <= CommitStepTests.callsMaximum, "\(call) has more steps than are tried")
        if call == "fdatasync" { #expect(killed > 0) }
    }
}
