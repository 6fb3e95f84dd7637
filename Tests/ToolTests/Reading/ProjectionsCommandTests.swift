import DaybookTestSupport
import Foundation
import Testing

/// What programs have folded, read without them.
@Suite struct ProjectionsCommandTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private var path: String { library.folder.url.appending(path: "library.daybook").path }

    /// Keeps what programs would have folded.
    private func fold() throws {
        try KeptStates.write(
            at: path, "shelves", version: 1, at: 2,
            ["A": #"{"books":2}"#, "B": #"{"books":0,"note":"\u202Eeltit"}"#, "": "null"])
        try KeptStates.write(at: path, "titles", version: 3, at: 3, ["One": "[1]"])
        // A newer version, which has come less far.
        try KeptStates.write(at: path, "titles", version: 4, at: 1, [:])
    }

    @Test func `projections are listed, printed and removed`() throws {
        try library.expect(["projections", "library.daybook"], equals: "none")
        try fold()
        try library.expect(["projections", "library.daybook"], equals: "list")
        try library.expect(["projections", "library.daybook", "shelves"], equals: "keys")
        try library.expect(
            ["projections", "library.daybook", "shelves", "-n", "2", "--output", "jsonl"],
            equals: "first-keys")
        try library.expect(
            ["projections", "library.daybook", "shelves", "--output", "json"], equals: "json")
        try library.expect(["projections", "library.daybook", "selves"], equals: "no-such")
        try library.expect(["projections", "library.daybook", "--delete"], equals: "no-name")
        try library.expect(["projections", "library.daybook", "-n", "1"], equals: "limit-of-list")
        try library.expect(
            ["projections", "library.daybook", "titles", "--delete"], equals: "deleted")
        let left = try library.run(["projections", "library.daybook", "--output", "jsonl"])
        #expect(left.lines.count == 1)
        let check = try library.run(["verify", "library.daybook"])
        #expect(check.status == 0, "\(check.text)\(check.talk)")
    }

    @Test func `the list tells programs of the state that is built, too`() throws {
        try fold()

        let lines = try library.run(
            ["projections", "library.daybook", "--output", "jsonl"]
        ).lines

        let digest = #"[0-9a-f]{64}"#
        let titles = try Regex(
            #"\{"name":"titles","version":3,"sequence":3,"digest":"\#(digest)","behind":0,"#
                + #""keyForm":"string","keys":1,"bytes":6,"successor":\{"version":4,"sequence":1,"#
                + #""digest":"\#(digest)","behind":2,"keyForm":"string","keys":0,"bytes":0\}\}"#)
        #expect(lines.count == 2)
        #expect(try titles.wholeMatch(in: #require(lines.last)) != nil, "\(lines)")
        #expect(lines.first?.hasSuffix(#""keys":3,"bytes":49,"successor":null}"#) == true)
    }

    @Test func `copies have the projections, and statistics their table`() throws {
        try fold()

        let copied = try library.run(["backup", "library.daybook", "copy.daybook"])
        let compact = try library.run(["compact", "library.daybook", "--into", "small.daybook"])
        let statistics = try library.run(["stats", "library.daybook"])

        #expect(copied.status == 0, "\(copied.talk)")
        #expect(compact.status == 0, "\(compact.talk)")
        let keys = try library.run(["projections", "library.daybook", "shelves"]).text
        for copy in ["copy.daybook", "small.daybook"] {
            #expect(try library.run(["projections", copy, "shelves"]).text == keys)
        }
        #expect(statistics.lines.contains { $0.contains(#/^states +4 /#) })
    }

    @Test func `keys of every form are printed as what they are`() throws {
        try KeptStates.write(
            at: path, "numbers", form: "integer", version: 1, at: 3,
            keys: [[0x80, 0, 0, 0, 0, 0, 0, 7], [0x7f] + Array(repeating: 0xff, count: 7)])
        try KeptStates.write(
            at: path, "bytes", form: "data", version: 1, at: 3, keys: [[0x0a, 0xff]])
        try KeptStates.write(
            at: path, "objects", form: "object", version: 1, at: 3,
            keys: [[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]])
        try KeptStates.write(
            at: path, "dates", form: "date", version: 1, at: 3,
            keys: [[0x80, 0, 0, 0, 0, 0, 0, 0]])

        func keys(_ name: String) throws -> [String] {
            try library.run(["projections", "library.daybook", name]).lines
        }

        #expect(try keys("numbers") == ["-1  1", "7  1"])
        #expect(try keys("bytes") == ["0aff  1"])
        #expect(try keys("dates") == ["2001-01-01T00:00:00Z  1"])
        let object = try #require(try keys("objects").first)
        #expect(object.contains(/^[A-Z][a-z]+\/2  1$/), "\(object)")
    }
}
