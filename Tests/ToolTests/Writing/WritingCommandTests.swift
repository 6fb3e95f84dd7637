// The room of writing: what the commands that write put into a store, and what they say.

import DaybookTestSupport
import Foundation
import Testing

/// The output of init, fetch, replay, undo, redo and verify.
@Suite struct WritingCommandTests {
    // MARK: - init

    @Test func `a new store holds its model and nothing else`() throws {
        let library = try LibraryStore(content: "")

        let log = try library.run(["log", "library.daybook"])
        let model = try library.run(["model", "library.daybook", "--output", "jsonl"])

        #expect(log.text.contains("sets the model: Book, Disc, Item, Person, Shelf"))
        let again = try Tool.run(
            ["init", "again.daybook", "--model", "-"], input: model.output, in: library.folder.url)
        #expect(again.text == "Created 'again.daybook': entry 1 holds the model of 5 entities.\n")
    }

    @Test func `who makes a store and what for stands in its first entry`() throws {
        let folder = try ScratchFolder()
        let model = Fixture.folder.appending(path: "models/library.json").path

        let made = try Tool.run(
            [
                "init", "new.daybook", "--model", model, "--author", "registry", "--note",
                "Catalogue",
            ],
            in: folder.url)

        #expect(made.status == 0, "\(made.talk)")
        let log = try Tool.run(["log", "new.daybook", "--output", "jsonl"], in: folder.url)
        #expect(log.text.contains(#""author":"registry","note":"Catalogue""#), "\(log.text)")
        let copy = try Tool.run(["load", "copy.daybook"], input: log.output, in: folder.url)
        #expect(copy.status == 0, "\(copy.talk)")
        let again = try Tool.run(["log", "copy.daybook", "--output", "jsonl"], in: folder.url)
        #expect(again.output == log.output)
    }

    @Test func `a file that exists is left as it is, also an empty one`() throws {
        let folder = try ScratchFolder()
        let file = try folder.makeFile("mine")
        let model = Fixture.folder.appending(path: "models/library.json").path

        let result = try Tool.run(["init", "mine", "--model", model], in: folder.url)

        #expect(result.status == 2)
        #expect(result.talk.contains("'mine' exists already"))
        #expect(try Data(contentsOf: file).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["mine"])
    }

    @Test(
        arguments: [
            ("not-json", "{\"entities\":["),
            (
                "unknown-type",
                #"{"entities":[{"name":"A","attributes":[{"name":"x","type":"strin"}]}]}"#
            ),
            ("unknown-member", #"{"entities":[{"name":"A","atributes":[]}]}"#),
            (
                "no-destination",
                #"{"entities":[{"name":"A","relationships":[{"name":"b","destination":"B"}]}]}"#
            ),
            ("bad-name", #"{"entities":[{"name":"A B"}]}"#),
        ])
    func `a faulty model is refused and no file is made`(name: String, model: String) throws {
        let folder = try ScratchFolder()

        let result = try Tool.run(
            ["init", "new.daybook", "--model", "-"], input: Data(model.utf8), in: folder.url)

        let text =
            "--- standard input\n\(model)\n--- standard error\n\(result.talk)"
            + "--- exit \(result.status)\n"
        try Fixture.expect(Data(text.utf8), equals: "cli/init/\(name).txt")
        #expect(result.status == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func `a model file that is not there is named`() throws {
        let folder = try ScratchFolder()

        let result = try Tool.run(["init", "new.daybook", "--model", "none.json"], in: folder.url)

        #expect(result.status == 2)
        #expect(result.talk == "error: There is no model file 'none.json'.\n")
    }

    // MARK: - fetch

    @Test(
        arguments: [
            ("all", ["Item"]), ("table", ["Book", "--sort", "-title", "--sort", "isbn"]),
            ("where", ["Book", "--where", "ANY authors.name == 'Ada' AND pages > 10"]),
            ("window", ["Item", "--sort", "title", "--limit", "2", "--offset", "1"]),
            ("count", ["Item", "--count"]),
            ("count-json", ["Item", "--count", "--output", "json"]),
            ("past", ["Item", "--count", "--at", "2"]),
            ("past-time", ["Shelf", "--at", "2001-06-01"]),
            ("before", ["Shelf", "--at", "1999-01-01"]),
            ("json", ["Shelf", "--output", "json"]), ("jsonl", ["Disc", "--output", "jsonl"]),
            ("nothing-json", ["Disc", "--where", "title == 'x'", "--output", "json"]),
            ("related-sort", ["Book", "--sort", "shelf.label", "--sort", "isbn"]),
            ("no-such-entity", ["Bok"]), ("no-such-property", ["Book", "--where", "tilte == 'x'"]),
            ("faulty-predicate", ["Book", "--where", "title =="]),
            ("no-such-sort", ["Book", "--sort", "tilte"]),
            ("sort-of-many", ["Book", "--sort", "authors"]),
            ("no-such-entry", ["Book", "--at", "99"]),
        ] as [(String, [String])])
    func `fetch prints what it always did`(name: String, words: [String]) throws {
        let library = try LibraryStore()

        try library.expect(["fetch", "library.daybook"] + words, equals: name)
    }

    // MARK: - undo and redo

    @Test func `an undo is a new entry and a redo takes it back`() throws {
        let library = try LibraryStore()

        try library.expect(["undo", "library.daybook", "3", "--dry-run"], equals: "dry-run")
        try library.expect(
            ["undo", "library.daybook", "3", "--dry-run", "--output", "jsonl"],
            equals: "dry-run-jsonl")
        #expect(try library.head() == 3)
        try library.expect(["undo", "library.daybook", "3", "--author", "Eve"], equals: "done")
        let empty = try library.run(["fetch", "library.daybook", "Item", "--count"])
        try library.expect(["redo", "library.daybook", "3"], equals: "done")
        let full = try library.run(["fetch", "library.daybook", "Item", "--count"])

        #expect(empty.text == "0\n")
        #expect(full.text == "4\n")
        #expect(try library.head() == 5)
        try library.expect(["redo", "library.daybook", "3"], equals: "not-undone")
    }

    @Test func `an undo that later entries stand on is refused and names them`() throws {
        let atlas = try AtlasStore()
        let before = try Data(contentsOf: atlas.folder.url.appending(path: "atlas.daybook"))

        try atlas.expect("undo STORE 2", equals: "blocked")
        try atlas.expect("undo STORE 1", equals: "model")
        try atlas.expect("undo STORE 99", equals: "no-such-entry")

        #expect(try atlas.run("undo STORE 2").status == 5)
        #expect(
            try Data(contentsOf: atlas.folder.url.appending(path: "atlas.daybook")) == before)
    }

    // MARK: - replay

    @Test func `a replay agrees with the store`() throws {
        let atlas = try AtlasStore()

        try atlas.expect("replay STORE", equals: "all")
        try atlas.expect("replay STORE --to 4 --output json", equals: "some-json")
        try atlas.expect("replay STORE --to 0", equals: "nothing")
    }

    @Test func `a replay into a new store has the same digests`() throws {
        let atlas = try AtlasStore()

        try atlas.expect("replay STORE --into copy.daybook", equals: "into")
        let whole = try atlas.run("export STORE --format jsonl")
        let copy = try atlas.run("export copy.daybook --format jsonl")
        #expect(whole.output == copy.output)
        try atlas.expect("replay STORE --into copy.daybook", equals: "into-existing")
        #expect(try atlas.run("replay STORE --into then.daybook --to 6").status == 0)
        let then = try atlas.run("export then.daybook --format jsonl")
        #expect(then.lines == Array(whole.lines.prefix(6)))
    }

    // MARK: - verify

    @Test func `a sound store is found sound`() throws {
        let atlas = try AtlasStore()

        try atlas.expect("verify STORE", equals: "sound")
        try atlas.expect("verify STORE --output json", equals: "sound-json")
        try atlas.expect("verify STORE --quiet", equals: "quiet")
    }

    @Test func `a changed byte is found and its place named`() throws {
        let library = try LibraryStore()
        let file = library.folder.url.appending(path: "library.daybook")
        var bytes = try library.bytes
        let needle = Data("Furniture".utf8)
        // The note is only in the journal.
        let place = try #require(bytes.range(of: needle))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: file)

        let result = try library.run(["verify", "library.daybook"])

        #expect(result.status == 3)
        #expect(result.text.contains("journal: Entry 2"))
        #expect(try library.bytes == bytes)
    }

    @Test func `whatever byte is changed, the check never ends by a signal`() throws {
        let library = try LibraryStore()
        let file = library.folder.url.appending(path: "library.daybook")
        let sound = try library.bytes
        // Spread over all pages, including the first bytes of pages.
        let step = 1_021
        for place in stride(from: 0, to: sound.count, by: step) {
            var bytes = sound
            bytes[place] ^= 0x55
            try bytes.write(to: file)

            let result = try library.run(["verify", "library.daybook", "--quiet"])

            #expect([0, 3].contains(result.status), "byte \(place): \(result.talk)")
        }
    }
}
