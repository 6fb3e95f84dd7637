import DaybookTestSupport
import Foundation
import Testing

/// Copies of stores: backup and compact.
@Suite struct CopyTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: library.folder.url.path)
                .filter { !$0.hasPrefix("library.daybook") }.sorted()
        }
    }

    private func export(_ store: String) throws -> Data {
        try library.run(["export", store, "-f", "jsonl"]).output
    }

    @Test(arguments: [["backup", "copy.daybook"], ["compact", "--into", "copy.daybook"]])
    func `a copy holds every entry and is sound`(words: [String]) throws {
        let result = try library.run([words[0], "library.daybook"] + words.dropFirst())

        #expect(result.status == 0, "\(result.talk)")
        #expect(result.text.contains("3 entries"))
        #expect(result.text.contains("verified."))
        #expect(try files == ["copy.daybook"])
        #expect(try export("copy.daybook") == export("library.daybook"))
        #expect(try library.run(["verify", "copy.daybook"]).status == 0)
        let more = try library.run(
            ["record", "copy.daybook"],
            input: #"{"op":"insert","entity":"Shelf","values":{"label":"C"}}"#)
        #expect(more.status == 0)
        #expect(try library.head() == 3)
    }

    @Test func `a compacted copy is smaller and says by how much`() throws {
        let lines = (1...400).map { number in
            #"{"op":"insert","entity":"Shelf","values":{"label":"S\#(number)"}}"# + "\n"
                + #"{"op":"save"}"# + "\n"
        }
        _ = try library.record(lines.joined())

        let result = try library.run([
            "compact", "library.daybook", "--into", "small.daybook", "--output", "json",
        ])

        let document = try #require(
            try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        let before = try #require(document["bytesBefore"] as? Int)
        let after = try #require(document["bytes"] as? Int)
        let file = library.folder.url.appending(path: "small.daybook")
        #expect(before == (try library.bytes.count))
        #expect(after == (try Data(contentsOf: file).count))
        #expect(after < before)
        #expect(document["sequence"] as? Int == 403)
    }

    @Test(arguments: [["backup", "mine"], ["compact", "--into", "mine"]])
    func `a file that is there is left as it is`(words: [String]) throws {
        let file = try library.folder.makeFile("mine")
        try Data("mine".utf8).write(to: file)

        let result = try library.run([words[0], "library.daybook"] + words.dropFirst())

        #expect(result.status == 2)
        #expect(
            result.talk
                == "error: 'mine' exists already and is left as it is. Choose another path.\n")
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test func `of a damaged store there is no copy`() throws {
        var bytes = try library.bytes
        let note = try #require(bytes.range(of: Data("Furniture".utf8)))
        bytes[note.lowerBound] ^= 1
        try bytes.write(to: library.folder.url.appending(path: "library.daybook"))

        let result = try library.run(["backup", "library.daybook", "copy.daybook"])

        #expect(result.status == 3)
        #expect(result.talk.hasPrefix("error: The copy is not sound, and was removed."))
        #expect(result.talk.contains("Entry 2"))
        #expect(try files.isEmpty)
    }

    @Test func `a folder that is not there, or a store that is none, is named`() throws {
        let folder = try library.run(["backup", "library.daybook", "no/where.daybook"])
        let store = try library.run(["backup", "nothing.daybook", "copy.daybook"])

        #expect(folder.status != 0)
        #expect(folder.talk.hasPrefix("error: "))
        #expect(store.status == 3)
        #expect(try files.isEmpty)
    }

    @Test func `a copy taken while others save is the store of one moment`() throws {
        let path = library.folder.url.path
        let result = try Tool.shell(
            """
            cd '\(path)'
            for number in $(seq 1 60); do
                echo '{"op":"insert","entity":"Shelf","values":{"label":"'$number'"}}'
                echo '{"op":"save"}'
            done | $DAYBOOK record library.daybook --output jsonl > acknowledged &
            for copy in 1 2 3; do $DAYBOOK backup library.daybook copy-$copy > /dev/null || exit; done
            wait
            for copy in 1 2 3; do
                $DAYBOOK export copy-$copy -f jsonl > copy-$copy.jsonl
                $DAYBOOK export library.daybook -f jsonl \\
                    | head -n $(wc -l < copy-$copy.jsonl) | cmp - copy-$copy.jsonl && echo same
            done
            wc -l < acknowledged
            """)

        #expect(result.lines == ["same", "same", "same", "60"], "\(result.talk)")
    }
}
