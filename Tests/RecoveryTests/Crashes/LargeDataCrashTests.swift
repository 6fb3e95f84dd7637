import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Stops every system call with which a save of large data reaches the disk.
@Suite(.serialized)
struct LargeDataCrashTests {
    private static let model = """
        {"entities":[{"name":"Photo","attributes":[{"name":"image","type":"data"}]}]}
        """

    /// No save of these tests needs more calls of one kind.
    private static let callsMaximum = 60

    private static func image(_ number: UInt8) -> Data {
        let runs = (0..<800).map {
            Data(repeating: UInt8(truncatingIfNeeded: $0) ^ number, count: 250)
        }
        return Data(runs.joined())
    }

    @Test(arguments: ["pwrite64", "pwritev", "writev", "fdatasync", "ftruncate"])
    func `killed before any call of a save, an entry is there with its bytes or not at all`(
        call: String
    ) throws {
        let strace = try #require(BuiltTool.system("strace"), "strace must be installed.")
        let directory = try TemporaryDirectory()
        let model = directory.path("model.json")
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: model))
        // The second has the bytes of the first; the first makes the table.
        let lines = [Self.image(1), Self.image(1), Self.image(2)].map { image in
            """
            {"op":"insert","entity":"Photo","values":{"image":"\(image.base64EncodedString())"}}
            {"op":"save"}

            """
        }
        let input = directory.url.appending(path: "input")
        try Data(lines.joined().utf8).write(to: input)
        var number = 1

        while number <= Self.callsMaximum {
            let path = directory.path("\(call)-\(number).daybook")
            _ = try ChildProcess.run(BuiltTool.daybook, ["init", path, "--model", model])
            let ran = try ChildProcess.run(
                strace,
                [
                    "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                    "inject=\(call):signal=KILL:when=\(number)", BuiltTool.daybook.path, "record",
                    path, "--output", "jsonl",
                ], input: input)
            let said = try Acknowledgement.parse(ran.lines).last?.sequence ?? 1
            let report = try Store.verify(path: path)
            #expect(report.findings.isEmpty, "\(call) \(number): \(report.findings)")
            #expect(
                (said...said + 1).contains(report.head.rawValue),
                "\(call) \(number): head \(report.head), acknowledged \(said)")
            try Self.checkImages(path, through: report.head)
            if ran.ending == .exited(0) { break }
            #expect(ran.ending == .killed(SIGKILL), "\(call) \(number): \(ran.talk)")
            number += 1
        }

        // The last round was not disturbed; for a call that is never made there is only that round.
        #expect(number <= Self.callsMaximum, "\(call) has more steps than are tried")
        if call == "fdatasync" { #expect(number > 3) }
    }

    private static func checkImages(_ path: String, through head: SequenceNumber) throws {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        let expected = [image(1), image(1), image(2)].prefix(Int(head.rawValue) - 1)
        var found: [Data] = []
        try store.entries(from: SequenceNumber(2), through: nil) { entry in
            for change in entry.changes {
                try change.forEachNewLargeData { data in
                    found.append(try store.data(of: data))
                }
            }
            return .proceed
        }
        #expect(found == Array(expected))
        try store.close()
    }
}
