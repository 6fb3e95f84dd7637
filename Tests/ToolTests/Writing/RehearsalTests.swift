import DaybookTestSupport
import Foundation
import Testing

/// What `record --dry-run` shows of an entry that is not made.
@Suite struct RehearsalTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    @Test func `a dry run shows the entry with all that follows, and records nothing`() throws {
        let before = try library.bytes

        let ran = try library.record(
            """
            {"op":"update","entity":"Shelf","match":{"label":"A"},"values":{"label":"Z"}}
            {"op":"delete","entity":"Person","match":{"name":"Ada"}}
            {"op":"save","author":"me"}

            """, ["--dry-run"])

        #expect(ran.status == 0, "\(ran.talk)")
        #expect(ran.text.contains("label  \"A\" → \"Z\""))
        #expect(ran.text.contains("deleted Person/3"))
        #expect(ran.text.contains("updated Book/5"))
        #expect(ran.talk == "Nothing was changed: this was a dry run.\n")
        #expect(try library.bytes == before)
    }

    @Test func `a dry run writes no number and no bytes of a file to the store`() throws {
        let folder = library.folder.url
        try Data(
            #"{"entities":[{"name":"Photo","attributes":[{"name":"scan","type":"data"}]}]}"#.utf8
        )
        .write(to: folder.appending(path: "photos.json"))
        _ = try library.run(["init", "photos.daybook", "--model", "photos.json"])
        try Data(repeating: 7, count: 300_000).write(to: folder.appending(path: "big"))
        let store = folder.appending(path: "photos.daybook")
        let before = try Data(contentsOf: store)
        let line = #"{"op":"insert","entity":"Photo","values":{"scan":{"file":"big"}}}"#

        let dry = try library.run(
            ["record", "photos.daybook", "--files", ".", "--dry-run"], input: line)
        let after = try Data(contentsOf: store)
        let real = try library.run(["record", "photos.daybook", "--files", "."], input: line)
        let shown = try library.run(["show", "photos.daybook", "head"])

        #expect(dry.status == 0, "\(dry.talk)")
        #expect(after == before)
        #expect(real.status == 0, "\(real.talk)")
        // What was shown is what was recorded.
        #expect(dry.text.hasPrefix("inserted Photo/1\n    scan  large:300000:"))
        #expect(shown.text.hasSuffix(dry.text))
    }

    @Test func `a dry run refuses what a save would refuse, and a second entry`() throws {
        let taken = try library.record(
            #"{"op":"insert","entity":"Shelf","values":{"label":"A"}}"#, ["--dry-run"])
        let second = try library.record(
            """
            {"op":"insert","entity":"Shelf","values":{"label":"Y"}}
            {"op":"save"}
            {"op":"insert","entity":"Shelf","values":{"label":"Z"}}
            """, ["-n"])

        #expect(taken.status == 5)
        #expect(taken.talk.contains("line 1: 'label' must be unique"))
        #expect(second.status == 2)
        #expect(second.talk.contains("line 3: A dry run takes the lines of one entry"))
        #expect(try library.head() == 3)
    }
}
