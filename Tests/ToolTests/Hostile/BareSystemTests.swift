import DaybookTestSupport
import Foundation
import Testing

/// The command where a system lacks what is there usually.
@Suite struct BareSystemTests {
    @Test func `without proc the command knows its arguments, writes, verifies and makes copies`()
        throws
    {
        let unshare = try #require(BuiltTool.system("unshare"), "'unshare' must be installed.")
        let library = try LibraryStore()
        let line = """
            umount -l /proc
            "$0" add library.daybook Shelf label=C
            "$0" verify library.daybook
            "$0" backup library.daybook copy.daybook
            "$0" export library.daybook --format jsonl --into export.jsonl
            """

        let ran = try Tool.shell(
            "cd '\(library.folder.url.path)' && exec \(unshare.path) --mount sh -ec '\(line)' \"$DAYBOOK\""
        )

        #expect(ran.status == 0, "\(ran.talk)")
        #expect(ran.text.contains("Entry 4 adds Shelf/9."))
        #expect(ran.text.contains("Fine: 4 entries"))
        #expect(try library.run(["verify", "copy.daybook"]).status == 0)
        let export = try String(
            contentsOf: library.folder.url.appending(path: "export.jsonl"), encoding: .utf8)
        #expect(try library.run(["load", "new.daybook"], input: export).status == 0)
    }
}
