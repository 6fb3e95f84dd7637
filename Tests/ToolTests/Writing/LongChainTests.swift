import DaybookTestSupport
import Foundation
import Testing

/// A list of objects, each of which leads to the next.
@Suite struct LongChainTests {
    private static let count = 20_000

    @Test func `B12 a cascade over a long chain is acknowledged`() throws {
        let folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Link",
             "attributes":[{"name":"number","type":"int64","unique":true}],
             "relationships":[
              {"name":"next","destination":"Link","inverse":"previous","deleteRule":"cascade"},
              {"name":"previous","destination":"Link","inverse":"next"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        let lines = (0..<Self.count).map { number in
            let previous = number == 0 ? "" : #","previous":{"ref":"\#(number - 1)"}"#
            return #"{"op":"insert","entity":"Link","ref":"\#(number)","#
                + #""values":{"number":\#(number)\#(previous)}}"#
        }
        try Data(lines.joined(separator: "\n").utf8).write(
            to: folder.url.appending(path: "chain.jsonl"))

        // With a tenth of the usual stack a tenth of the usual chain is enough.
        let result = try Tool.shell(
            """
            cd '\(folder.url.path)'
            ulimit -s 800
            $DAYBOOK init chain.daybook --model model.json > made
            $DAYBOOK record chain.daybook < chain.jsonl || exit
            echo '{"op":"delete","entity":"Link","match":{"number":0}}' \
            | $DAYBOOK record chain.daybook || exit
            $DAYBOOK fetch chain.daybook Link --count || exit
            $DAYBOOK undo chain.daybook head || exit
            $DAYBOOK fetch chain.daybook Link --count
            """)

        #expect(result.status == 0, "\(result.talk)")
        #expect(
            result.text == """
                Recorded entry 2: \(Self.count) inserted.
                Recorded entry 3: 1 deleted.
                0
                Entry 4 takes entry 3 back: \(Self.count) changes.
                \(Self.count)

                """)
    }
}
