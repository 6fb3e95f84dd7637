import DaybookTestSupport
import Foundation
import Testing

/// Times as people say them.
@Suite struct RelativeTimeTests {
    /// A store with an entry of each of these times.
    private static func store(of times: [String]) throws -> LibraryStore {
        let lines = times.enumerated().map { number, time in
            """
            {"op":"insert","entity":"Shelf","values":{"label":"\(number)"}}
            {"op":"save","time":"\(time)"}
            """
        }
        return try LibraryStore(content: lines.joined(separator: "\n"))
    }

    private static func time(_ seconds: Double) -> String {
        Date(timeIntervalSinceNow: seconds).formatted(.iso8601)
    }

    @Test func `log selects by hours, days, words and months`() throws {
        let library = try Self.store(of: [
            "2011-11-30T23:59:59Z", "2011-12-01T00:00:00Z", "2011-12-31T23:59:59Z",
            "2012-01-01T00:00:00Z", Self.time(-30 * 3_600), Self.time(-3_000), Self.time(-60),
        ])
        func entries(_ words: [String]) throws -> [String] {
            let ran = try library.run(["log", "library.daybook", "--output", "jsonl"] + words)
            #expect(ran.status == 0, "\(ran.talk)")
            // Entry 1 has set the model just now.
            return ran.lines.compactMap { line in
                line.firstMatch(of: /"sequence":(\d+)/).map { String($0.1) }
            }.filter { $0 != "1" }
        }

        #expect(try entries(["--since", "2011-12", "--until", "2011-12"]) == ["4", "3"])
        #expect(try entries(["--until", "2011-11"]).contains("2"))
        #expect(try entries(["--since", "2 hours ago"]) == ["8", "7"])
        #expect(try entries(["--since", "2.hours.ago"]) == ["8", "7"])
        #expect(try entries(["--since", "90 minutes ago", "--until", "5 MINUTES ago"]) == ["7"])
        #expect(try entries(["--since", "2 days ago"]) == ["8", "7", "6"])
        #expect(try entries(["--since", "1 year ago", "--until", "now"]).suffix(1) == ["6"])
        #expect(try entries(["--since", "4 weeks ago"]) == entries(["--since", "1 month ago"]))
        #expect(try entries(["--since", "yesterday"]).contains("8"))
        #expect(try entries(["--until", "yesterday"]).contains("5"))
    }

    @Test(arguments: ["2 fortnights ago", "ago", "2 days", "-1 days ago", "2011-13", "2011-00"])
    func `other words are no times`(text: String) throws {
        let library = try Self.store(of: ["2011-11-30T23:59:59Z"])

        let ran = try library.run(["log", "library.daybook", "--since", text])

        #expect(ran.status == 2, "\(text)")
    }

    @Test(arguments: ["now", "Today", "yesterday", "2.days.ago", "2011-12"])
    func `a tag is not called like a time`(name: String) throws {
        let library = try Self.store(of: ["2011-11-30T23:59:59Z"])

        let ran = try library.run(["tag", "library.daybook", name])

        #expect(ran.status == 2, "\(name): \(ran.text)")
        #expect(
            ran.talk.contains("stands for a time") || ran.talk.contains("looks like a date"),
            "\(ran.talk)")
    }
}
