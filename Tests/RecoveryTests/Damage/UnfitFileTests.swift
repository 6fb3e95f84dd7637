import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Files that are not stores, or no longer: one sentence, the right code, no byte changed.
struct UnfitFileTests {
    /// Every command that opens a store, with its other arguments.
    private static let commands: [[String]] = [
        ["record"], ["log"], ["show", "STORE", "1"], ["fetch", "STORE", "Item"],
        ["history", "STORE", "Item/1"], ["diff", "STORE", "1", "2"], ["undo", "STORE", "2"],
        ["verify"], ["export", "STORE", "--format", "jsonl"], ["model"], ["stats"],
    ]

    @Test(arguments: UnfitFile.allCases)
    func `a file that is no store is refused with one sentence and left as it is`(
        kind: UnfitFile
    ) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("unfit.daybook")
        try kind.make(at: path)
        let before = try kind.content(of: path)

        for command in Self.commands {
            let words =
                command.count == 1
                ? command + [path] : command.map { $0 == "STORE" ? path : $0 }
            let ran = try ChildProcess.run(BuiltTool.daybook, words)
            #expect(ran.ending == .exited(3), "\(command) on \(kind): \(ran)")
            #expect(ran.talk.isOneErrorLine, "\(command) on \(kind): \(ran.talk)")
            #expect(ran.lines.isEmpty, "\(command) on \(kind)")
        }

        #expect(try kind.content(of: path) == before)
    }

    @Test func `a store cut off anywhere is refused by every opening, or reads as it was`() throws {
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let recorded = try recorder.record(
            try recorder.writeInput((1...8).map { Recorder.entry("\($0)") }))
        let whole = try Data(contentsOf: URL(fileURLWithPath: recorder.path))
        let cut = directory.path("cut.daybook")
        var generator = SeededGenerator(seed: TestSeed.value)
        let lengths =
            [1, 100, 4_095, 4_096, 8_191, 8_192, whole.count - 1]
            + (0..<60).map { _ in Int.random(in: 1..<whole.count, using: &generator) }

        for length in lengths {
            let bytes = whole.prefix(length)
            try bytes.write(to: URL(fileURLWithPath: cut))
            let refusal = #expect(throws: StoreError.self, "\(length) bytes") {
                try Store.open(at: cut, options: StoreOptions(isReadOnly: true))
            }
            #expect(
                [.truncated, .notAStore].contains(refusal?.code), "\(length) bytes: \(refusal!)")
            #expect(throws: StoreError.self) { try Store.open(at: cut) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: cut)) == bytes)
        }
        #expect(recorded.acknowledged.count == 8)
        #expect(try recorder.findings() == [])
    }

    @Test func `init leaves whatever is there as it is`() throws {
        let directory = try TemporaryDirectory()
        let model = directory.path("model.json")
        try Data(Recorder.modelText.utf8).write(to: URL(fileURLWithPath: model))

        for kind in UnfitFile.allCases where kind != .missing {
            let path = directory.path("\(kind)")
            try kind.make(at: path)
            let before = try kind.content(of: path)
            let ran = try ChildProcess.run(BuiltTool.daybook, ["init", path, "--model", model])
            #expect(ran.ending == .exited(2), "\(kind): \(ran)")
            #expect(ran.talk.isOneErrorLine, "\(kind): \(ran.talk)")
            #expect(try kind.content(of: path) == before)
        }
    }
}

/// The kinds of files at the path of a store.
enum UnfitFile: CaseIterable, Sendable {
    case missing
    case empty
    case folder
    case text
    case zeros
    case noise
    case database
    case otherTables
    case newerFormat

    func make(at path: String) throws {
        let url = URL(fileURLWithPath: path)
        switch self {
        case .missing: return
        case .empty: try Data().write(to: url)
        case .folder:
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        case .text: try Data("Dear daybook,\nthis is not a store.\n".utf8).write(to: url)
        case .zeros: try Data(count: 16_384).write(to: url)
        case .noise:
            var generator = SeededGenerator(seed: 7)
            let bytes = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) }
            try Data(bytes).write(to: url)
        case .database: try Data("SQLite format 3\0".utf8 + Data(count: 8_176)).write(to: url)
        case .otherTables: try ForeignStore.make(at: path, tables: ["people", "places"])
        case .newerFormat: try ForeignStore.makeNewer(at: path)
        }
    }

    /// The state that must not change: a file's bytes, or its absence.
    func content(of path: String) throws -> Data? {
        switch self {
        case .missing:
            FileManager.default.fileExists(atPath: path) ? Data() : nil
        case .folder:
            Data(try FileManager.default.contentsOfDirectory(atPath: path).joined().utf8)
        default: try Data(contentsOf: URL(fileURLWithPath: path))
        }
    }
}
