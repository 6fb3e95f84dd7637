import Foundation
import Testing

/// Members of an export that are not known here, as of a later release.
@Suite struct ImportUnknownTests {
    @Test func `members of lists that are not known are passed over when that is asked for`()
        throws
    {
        let plain = try ImportStory(exportingAs: "jsonl")
        try #require(try plain.run("import copy.daybook -f jsonl").status == 0)
        let story = try ImportStory(exportingAs: "jsonl")
        let text = String(decoding: story.stream, as: UTF8.self)
        let wider = Data(text.replacing(#""order":1.0}"#, with: #""order":1.0,"since":7}"#).utf8)
        try #require(wider != story.stream)

        let refused = try story.run("import copy.daybook -f jsonl --dry-run", input: wider)
        let taken = try story.run("import copy.daybook -f jsonl --ignore-unknown", input: wider)

        #expect(refused.status == 2)
        #expect(refused.talk.contains("since"), "\(refused.talk)")
        #expect(taken.status == 0, "\(taken.talk)")
        let unions = "fetch copy.daybook Union --output jsonl"
        #expect(try story.run(unions).text == plain.run(unions).text)
        #expect(try !story.run(unions).text.isEmpty)
    }
}
