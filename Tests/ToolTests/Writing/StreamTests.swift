import DaybookTestSupport
import Foundation
import Testing

/// Real data: the stream that `Tools/iso-codes-stream` makes of Debian's iso-codes.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/usr/share/iso-codes/json")))
struct StreamTests {
    @Test func `the stream of iso-codes is recorded and looked at in the past`() throws {
        let folder = try ScratchFolder()
        let root = Fixture.folder.deletingLastPathComponent().path
        let result = try Tool.shell(
            """
            cd '\(folder.url.path)'
            $DAYBOOK init iso.daybook --model '\(root)/Fixtures/models/iso-codes.json' > /dev/null
            '\(root)/Tools/iso-codes-stream' | $DAYBOOK record iso.daybook
            $DAYBOOK fetch iso.daybook Country --count
            $DAYBOOK fetch iso.daybook Subdivision --count
            $DAYBOOK fetch iso.daybook Subdivision --where 'parent != nil' --count
            $DAYBOOK fetch iso.daybook Country --count --at 4
            $DAYBOOK fetch iso.daybook Country --count --at 2010-01-01
            $DAYBOOK verify iso.daybook --quiet > /dev/null; echo "verify $?"
            """)

        #expect(
            result.lines == [
                "Recorded 64 entries, 2 to 65: 5407 inserted, 31 deleted.", "249", "5127", "1412",
                "250", "250", "verify 0",
            ], "\(result.talk)")
    }

    @Test func `the entries of the stream stand in the order of their times`() throws {
        let root = Fixture.folder.deletingLastPathComponent().path
        let stream = try Tool.shell("'\(root)/Tools/iso-codes-stream'")

        let times = stream.text.matches(of: /"time":"([^"]+)"/).map(\.1)

        #expect(times.count == 64)
        #expect(times == times.sorted())
    }

    @Test func `a folder without the data is named`() throws {
        let root = Fixture.folder.deletingLastPathComponent().path
        let result = try Tool.shell("'\(root)/Tools/iso-codes-stream' /nowhere")

        #expect(result.status == 1)
        #expect(result.talk.contains("'/nowhere/iso_3166-1.json' cannot be read"))
    }
}
