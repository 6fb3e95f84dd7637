import DaybookJournalLog
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The acknowledgement of an entry by `record --output jsonl` once it is durable.
struct Acknowledgement: Codable, Hashable, Sendable {
    let sequence: UInt64
    let digest: String

    static func parse(_ lines: [String]) throws -> [Acknowledgement] {
        try lines.map { try JSONDecoder().decode(Acknowledgement.self, from: Data($0.utf8)) }
    }
}

/// The recording command, and its input in the tests.
///
/// Every entry inserts two items, one referring to the other, so that half an entry would show.
struct Recorder {
    static let modelText = """
        {"entities":[{"name":"Item","attributes":[
          {"name":"code","type":"string","optional":false,"unique":true},
          {"name":"note","type":"string","indexed":true}],
          "relationships":[
          {"name":"parent","destination":"Item","inverse":"children"},
          {"name":"children","destination":"Item","toMany":true,"inverse":"parent"}]}]}
        """

    /// The folder of the store and its input.
    let directory: URL
    var path: String { directory.appendingPathComponent("items.daybook").path }

    init(in directory: URL) {
        self.directory = directory
    }

    /// Makes an empty store with the command.
    func makeStore() throws {
        let model = directory.appendingPathComponent("model.json")
        try Data(Self.modelText.utf8).write(to: model)
        let made = try ChildProcess.run(
            BuiltTool.daybook, ["init", path, "--model", model.path])
        try #require(made.ending == .exited(0), "init ended with \(made.ending): \(made.talk)")
    }

    /// The lines of one entry.
    static func entry(_ name: String, note: String = "small") -> String {
        """
        {"op":"insert","entity":"Item","ref":"\(name)","values":{"code":"\(name)","note":"\(note)"}}
        {"op":"insert","entity":"Item","values":{"code":"\(name)+","parent":{"ref":"\(name)"}}}
        {"op":"save","note":"\(name)"}

        """
    }

    /// Writes a file of entries.
    func writeInput(_ entries: [String], to name: String = "input") throws -> URL {
        let file = directory.appendingPathComponent(name)
        try Data(entries.joined().utf8).write(to: file)
        return file
    }

    /// The command line that records.
    var arguments: [String] { ["record", path, "--output", "jsonl"] }

    /// Records a file to its end.
    func record(
        _ input: URL, under wrapper: (executable: URL, arguments: [String])? = nil
    ) throws -> (acknowledged: [Acknowledgement], talk: String, ending: ChildProcess.Ending) {
        let ran =
            if let wrapper {
                try ChildProcess.run(
                    wrapper.executable,
                    wrapper.arguments + [BuiltTool.daybook.path] + arguments, input: input)
            } else {
                try ChildProcess.run(BuiltTool.daybook, arguments, input: input)
            }
        return (try Acknowledgement.parse(ran.lines), ran.talk, ran.ending)
    }

    // MARK: - Checks

    /// Opens the store, checks that every acknowledged entry is in the journal under its digest,
    /// and that every entry is whole.
    ///
    /// - Returns: The number of entries.
    @discardableResult
    func check(
        _ acknowledged: [Acknowledgement], entriesFrom first: SequenceNumber = SequenceNumber(2)
    ) throws -> SequenceNumber {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        defer { #expect(throws: Never.self) { try store.close() } }
        for promise in acknowledged {
            let entry = try store.entry(SequenceNumber(promise.sequence))
            #expect(entry.digest.hexadecimal == promise.digest, "entry \(promise.sequence)")
        }
        try store.entries(from: first) { entry in
            #expect(entry.changes.count == 2, "entry \(entry.sequence) is not whole")
            return .proceed
        }
        return try store.head()
    }

    /// The faults of the store; empty for none.
    func findings() throws -> [String] {
        let report = try Store.verify(path: path)
        return report.findings.map { "\($0.place): \($0.message)" } + report.gaps
    }
}

extension Store {
    /// The number of entries in a store that is opened only to count them.
    static func head(of path: String) throws -> SequenceNumber {
        let store = try Store.open(at: path, options: StoreOptions(isReadOnly: true))
        let head = try store.head()
        try store.close()
        return head
    }
}
