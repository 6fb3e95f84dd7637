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
