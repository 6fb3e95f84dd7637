import DaybookJournalLog
import DaybookObjectGraph
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Migrations that come at a bad moment, or cannot be done.
@Suite(.serialized)
struct MigrationMishapTests {
    @Test func `a migration under pending changes lets them be saved, or keeps them pending`()
        throws
    {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "tally.daybook")
        let first = try FirstProgram(at: url)
        try first.make(["all", "first", "second"])
        try first.context.performAndWait { try first.count(as: "first") }

        let second = try SecondProgram(at: url)
        try second.context.performAndWait { () throws in
            try second.count(as: "second")
            try second.context.save()
        }
        try first.context.performAndWait { _ = try first.context.save() }
        #expect(try second.sees(["all": 2, "first": 1, "second": 1]))
        #expect(try first.sees(["all": 2, "first": 1, "second": 1]))

        try first.context.performAndWait { try first.count(as: "first") }
        try second.context.performAndWait { try second.count(as: "second") }
        let outcome = try Store.migrate(
            at: url.path, to: SecondVersion.modelWithoutNotes(), options: .automatic,
            author: "maintainer")
        let sequence = try #require(outcome.sequence)
        for context in [first.context, second.context] {
            try context.performAndWait { () throws in
                let error = #expect(throws: StoreError.self) { try context.save() }
                #expect(error?.code == .modelSuperseded)
                #expect(error?.message.contains("in entry \(sequence) by 'maintainer'") == true)
                #expect(
                    error?.message.contains("'remove attribute 'Counter.note''") == true)
                #expect(context.insertedObjects.isEmpty == false)
                context.rollback()
            }
        }
        #expect(try first.sees(["all": 2, "first": 1, "second": 1]))
        #expect(try second.sees(["all": 2, "first": 1, "second": 1]))
        #expect(try Store.verify(path: url.path).findings == [])
    }

    @Test func `an earlier model with a new class is refused, not taken for a newer one`() throws {
        final class Extra: ManagedObject {
            @Attribute var size: Int = 0
        }
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "tally.daybook")
        try FirstProgram(at: url).make(["all", "first", "second"])
        _ = try SecondProgram(at: url)
        let head = try Store.head(of: url.path)

        let error = #expect(throws: StoreError.self) {
            try PersistentContainer(
                url, model: [FirstVersion.Tally.self, FirstVersion.Slip.self, Extra.self])
        }

        #expect(error?.code == .modelMismatch)
        #expect(
            error?.details.sorted()
                == [
                    "remove relationship 'Slip.counter'", "remove entity 'Batch'",
                    "remove entity 'Counter'",
                ].sorted(), "\(error?.details ?? [])")
        #expect(try Store.head(of: url.path) == head)
        #expect(try FirstProgram(at: url).sees(["all": 0, "first": 0, "second": 0]))
    }

    @Test func `a store that is only read is not migrated, and is read with its earlier model`()
        throws
    {
        let directory = try TemporaryDirectory()
        let url = directory.url.appending(path: "tally.daybook")
        try FirstProgram(at: url).make(["all", "first", "second"])
        var options = StoreOptions()
        options.isReadOnly = true
        let head = try Store.head(of: url.path)

        let refusal = #expect(throws: StoreError.self) {
            try Store.open(at: url.path, model: SecondVersion.model(), options: options)
        }
        #expect(refusal?.code == .modelMismatch)
        #expect(try Store.head(of: url.path) == head)
        _ = try SecondProgram(at: url)
        let store = try Store.open(
            at: url.path, model: FirstVersion.model(), options: options)
        #expect(store.schema.entity(named: "Tally")?.property(named: "label") != nil)
        try store.close()
    }

    @Test(arguments: [0, 4_096, 100_000])
    func `a migration that finds no room leaves the store as it is`(room: Int) throws {
        let directory = try TemporaryDirectory()
        let recorder = Recorder(in: directory.url)
        try recorder.makeStore()
        let filled = try recorder.record(
            recorder.writeInput(
                (1...40).map { Recorder.entry(String(repeating: "\($0)", count: 60)) }))
        try #require(filled.ending == .exited(0), "\(filled.talk)")
        let model = directory.url.appending(path: "next.json")
        let text = Recorder.modelText.replacing(
            #""code","type":"string","optional":false,"unique":true"#,
            with: #""code","type":"string","optional":false,"indexed":true"#
        ).replacing(
            #"{"name":"note","type":"string","indexed":true}"#,
            with: #"{"name":"note","type":"string","optional":false,"default":"none"}"#)
        try Data(text.utf8).write(to: model)
        let words = ["migrate", recorder.path, "--model", model.path]
        // Without free pages, which would be room.
        let compact = directory.path("compact.daybook")
        let compacted = try ChildProcess.run(
            BuiltTool.daybook, ["compact", recorder.path, "--into", compact])
        try #require(compacted.ending == .exited(0), "\(compacted.talk)")
        try FileManager.default.removeItem(atPath: recorder.path)
        try FileManager.default.moveItem(atPath: compact, toPath: recorder.path)
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: recorder.path)[.size] as? NSNumber)
        let (head, limit) = (
            try Store.head(of: recorder.path), try #require(BuiltTool.system("prlimit"))
        )

        let ran = try ChildProcess.run(
            limit, ["--fsize=\(size.intValue + room)", BuiltTool.daybook.path] + words)

        if ran.ending != .exited(0) {
            #expect(ran.ending == .exited(2), "\(ran)")
            #expect(ran.talk.isOneErrorLine && ran.talk.contains("full"), "\(ran.talk)")
            #expect(try Store.head(of: recorder.path) == head)
        }
        #expect(ran.ending != .exited(0) || room > 0)
        #expect(try recorder.findings() == [])
        let again = try ChildProcess.run(BuiltTool.daybook, words)
        #expect(again.ending == .exited(0), "\(again.talk)")
        #expect(try Store.head(of: recorder.path).rawValue == head.rawValue + 1)
        #expect(try recorder.findings() == [])
    }

    @Test(arguments: [
        (#""type":"decimal""#, #""type":"double""#), (#""name":"Author""#, #""name":"Writer""#),
        (#""numbers":""#, #""numbers":"AA"#), (#"],"numbers":"#, #"],"letters":"#),
        (#""changes":[]"#, #""changes":[{}]"#),
    ])
    func `an export whose model was edited is not loaded`(edit: (from: String, to: String)) throws {
        let directory = try TemporaryDirectory()
        let export = try EvolutionFixture.export(through: 5)
        var lines = export.split(separator: "\n").map(String.init)
        let place = try #require(
            lines.lastIndex { $0.contains(#""kind":"model""#) && $0.contains(edit.from) })
        lines[place] = lines[place].replacing(edit.from, with: edit.to)
        let input = directory.url.appending(path: "export.jsonl")
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: input)
        let path = directory.path("app.daybook")

        let ran = try ChildProcess.run(BuiltTool.daybook, ["load", path], input: input)

        #expect([.exited(2), .exited(3)].contains(ran.ending), "\(ran)")
        #expect(ran.talk.isOneErrorLine && ran.talk.contains("line \(place + 1)"), "\(ran.talk)")
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

extension StoreOptions {
    /// Options that allow every step.
    fileprivate static var automatic: StoreOptions {
        var options = StoreOptions()
        options.migration = .automatic
        return options
    }
}
