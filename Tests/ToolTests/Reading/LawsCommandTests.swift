import DaybookTestSupport
import Foundation
import Testing

/// `daybook laws`, and laws in what else the command does.
@Suite struct LawsCommandTests {
    private static let model = #"""
        {"entities": [{"name": "Invoice",
          "attributes": [{"name": "state", "type": "string"}, {"name": "total", "type": "decimal"}],
          "laws": [
            {"name": "Totals fall with a note", "rule": "total NEVER DECREASED UNLESS NOTE"},
            {"name": "What was sent is kept", "rule": "NEVER DELETED WHERE state == 'sent'"}]}]}
        """#
    private static let content = #"""
        {"op":"insert","entity":"Invoice","values":{"state":"sent","total":"100"}}
        {"op":"save","author":"ada","time":"2024-01-01T00:00:00Z"}
        {"op":"update","object":"Invoice/1","values":{"total":"80"}}
        {"op":"save","author":"bob","note":"Discount","time":"2024-01-02T00:00:00Z"}

        """#

    private let library: LibraryStore

    init() throws {
        library = try LibraryStore(content: "")
        try Self.expectSuccess(
            try library.run(["init", "sales.daybook", "--model", "-"], input: Self.model))
        try Self.expectSuccess(
            try library.run(["record", "sales.daybook"], input: Self.content))
    }

    private static func expectSuccess(_ result: ToolResult) throws {
        try #require(result.status == 0, "\(result.talk)")
    }

    private func laws(_ options: String...) throws -> ToolResult {
        try library.run(["laws", "sales.daybook"] + options)
    }

    @Test func `laws are listed in every form`() throws {
        let text = try laws()
        let json = try laws("--output", "jsonl")

        #expect(text.status == 0 && json.status == 0)
        #expect(
            text.lines.first?.split(separator: " ").map(String.init) == ["entity", "law", "rule"])
        #expect(text.text.contains("total NEVER DECREASED UNLESS NOTE"))
        #expect(
            json.lines.first
                == #"{"entity":"Invoice","law":"Totals fall with a note","rule":"total NEVER DECREASED UNLESS NOTE"}"#
        )
        #expect(json.lines.filter { !$0.isEmpty }.count == 2)
    }

    @Test func `a store without laws says so`() throws {
        let result = try library.run(["laws", "library.daybook"])
        let checked = try library.run(["laws", "library.daybook", "--check"])

        #expect(result.status == 0 && result.text.isEmpty)
        #expect(result.talk.contains("The model has no laws."))
        #expect(checked.status == 0 && checked.talk.contains("The model has no laws."))
    }

    @Test func `a past that keeps all laws ends with 0, and one that breaks a rule with 1`() throws
    {
        let kept = try laws("--check")
        let broken = try laws("--rule", "Invoice: total NEVER CHANGED")
        let json = try laws("--rule", "Invoice:total NEVER CHANGED", "--output", "jsonl")

        #expect(kept.status == 0 && kept.text.isEmpty, "\(kept.text)")
        #expect(kept.talk.contains("No entry breaks a law."))
        #expect(broken.status == 1 && broken.talk.contains("1 breach."))
        let row = try #require(broken.lines.dropFirst().first)
        for word in ["3", "bob", "Invoice/1", "total", "100", "80"] {
            #expect(row.contains(word), "\(row)")
        }
        #expect(
            json.text
                == #"{"sequence":3,"time":"2024-01-02T00:00:00Z","author":"bob","note":"Discount","law":"--rule","#
                + #""rule":"total NEVER CHANGED","object":"Invoice/1","property":"total","old":"100","new":"80"}"#
                + "\n")
    }

    @Test func `a deletion has no property`() throws {
        try Self.expectSuccess(
            try library.run(
                ["record", "sales.daybook"],
                input: #"{"op":"insert","entity":"Invoice","values":{}}"# + "\n"
                    + #"{"op":"save"}"# + "\n" + #"{"op":"delete","object":"Invoice/2"}"#))

        let json = try laws("--rule", "Invoice: NEVER DELETED", "--output", "json")

        let rows = try #require(
            try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: Any]])
        #expect(json.status == 1 && rows.count == 1)
        #expect(rows[0]["object"] as? String == "Invoice/2")
        #expect(rows[0]["property"] == nil && rows[0]["old"] == nil && rows[0]["author"] == nil)
    }

    @Test(arguments: [
        ("total NEVER CHANGED", "an entity, a colon and a rule"),
        ("Bill: total NEVER CHANGED", "no entity 'Bill'"),
        ("Invoice: total NEVER FELL", "Column 13: CHANGED, INCREASED or DECREASED"),
    ])
    func `a rule that cannot be read is wrong usage`(rule: String, said: String) throws {
        let result = try laws("--rule", rule)

        #expect(result.status == 2)
        #expect(result.talk.contains(said), "\(result.talk)")
    }

    @Test func `record is refused at the line that breaks a law, undo too, and nothing is saved`()
        throws
    {
        let fall = try library.run(
            ["record", "sales.daybook"],
            input: #"{"op":"update","object":"Invoice/1","values":{"state":"paid"}}"# + "\n"
                + #"{"op":"update","object":"Invoice/1","values":{"total":"10"}}"# + "\n"
                + #"{"op":"save"}"#)
        let deletion = try library.run(
            ["record", "sales.daybook"], input: #"{"op":"delete","object":"Invoice/1"}"#)
        let undo = try library.run(["undo", "sales.daybook", "2", "--note", "No"])

        #expect(fall.status == 5)
        #expect(fall.talk.contains("line 2: "), "\(fall.talk)")
        #expect(fall.talk.contains("Invoice/1: total 80 → 10 breaks the law"), "\(fall.talk)")
        #expect(deletion.status == 5 && deletion.talk.contains("line 1: "), "\(deletion.talk)")
        #expect(undo.status == 5, "\(undo.talk)")
        #expect(try library.run(["log", "sales.daybook", "-n", "1"]).text.contains("entry 3"))
    }

    @Test func `the model prints laws, and its differences and steps name them`() throws {
        let model = try library.run(["model", "sales.daybook", "--output", "json"])
        let plain = Self.model.replacing(
            "NEVER DELETED WHERE state == 'sent'", with: "NEVER DELETED")
        try Data(plain.utf8).write(to: library.folder.url.appending(path: "new.json"))

        let plan = try library.run([
            "migrate", "sales.daybook", "--model", "new.json", "--dry-run",
        ])

        #expect(model.text.contains(#""rule": "NEVER DELETED WHERE state == 'sent'""#))
        #expect(
            plan.text.contains(
                "change the law \"What was sent is kept\" of 'Invoice' to: NEVER DELETED"),
            "\(plan.text)\(plan.talk)")
    }
}
