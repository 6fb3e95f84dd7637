import DaybookTestSupport
import Foundation
import Testing

/// Texts that would command a terminal, as it shows them.
@Suite struct HiddenOutputTests {
    /// Repaints the terminal, sets its title, reverses letters, hides the rest.
    private static let hostile =
        "a\u{1B}[31mred\u{9B}2J\u{7}b\u{202E}c\u{2066}d\u{200F}e\u{85}f\rg'h"
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Note","attributes":[{"name":"code","type":"string","unique":true},
             {"name":"text","type":"string"},{"name":"coded","type":"codable"}],
             "relationships":[{"name":"other","destination":"Note"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        let quoted = String(decoding: try JSONEncoder().encode(Self.hostile), as: UTF8.self)
        let lines = [
            #"{"op":"insert","entity":"Note","values":{"code":\#(quoted),"text":\#(quoted),"#
                + #""coded":[\#(quoted)]}}"#,
            #"{"op":"save","author":\#(quoted),"note":\#(quoted)}"#,
            #"{"op":"update","entity":"Note","match":{"code":\#(quoted)},"values":{"text":"x"}}"#,
            #"{"op":"save"}"#,
        ]
        let made = try Tool.run(["init", "s.daybook", "--model", "model.json"], in: folder.url)
        try #require(made.status == 0, "\(made.talk)")
        let recorded = try Tool.run(
            ["record", "s.daybook"], input: Data(lines.joined(separator: "\n").utf8),
            in: folder.url)
        try #require(recorded.status == 0, "\(recorded.talk)")
    }

    /// Hidden characters except those for layout.
    private func hidden(in text: String) -> [UInt32] {
        let layout: Set<UInt32> = [0x09, 0x0A]
        return text.replacing("\r\n", with: "\n").replacing("\r\n", with: "\n").unicodeScalars.map(
            \.value
        ).filter { value in
            switch value {
            case 0...0x1F, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
                !layout.contains(value)
            default: false
            }
        }
    }

    static let commands = [
        "log s.daybook", "log s.daybook --changes", "log s.daybook --oneline",
        "log s.daybook --stat",
        "show s.daybook 2", "show s.daybook 2 3", "fetch s.daybook Note", "tail s.daybook",
        "tail s.daybook --changes", "history s.daybook Note/1", "blame s.daybook Note/1",
        "blame s.daybook Note/1 --at 2", "diff s.daybook 1 2", "diff s.daybook 2 3",
        "diff s.daybook 2 3 --format sql", "diff s.daybook 2 3 --format json-patch",
        "document s.daybook --at 2", "undo s.daybook 2 --dry-run", "undo s.daybook 3 --dry-run",
        "restore s.daybook Note/1 --at 2 --dry-run", "stats s.daybook", "replay s.daybook",
        "bisect s.daybook Note --where \"text=='x'\"", "verify s.daybook",
        "export s.daybook -f jsonl", "export s.daybook -f csv", "export s.daybook -f debezium",
        "export s.daybook -f git", "export s.daybook -f syslog", "export s.daybook -f journald",
        "export s.daybook -f html", "export s.daybook -f ocsf", "export s.daybook -f prov",
        "export s.daybook -f cloudevents", "export s.daybook -f json-patch",
    ]

    @Test(arguments: commands)
    func `B15 a terminal is commanded by no value`(command: String) throws {
        let session = try TerminalSession(
            command + " --color never" + (command.hasPrefix("export") ? "" : " --quiet"),
            in: folder.url, environment: ["DAYBOOK_PAGER": "cat"])

        let status = session.end()

        #expect([0, 1, 5].contains(status), "\(session.transcript)")
        #expect(hidden(in: session.transcript) == [], "\(session.transcript.debugDescription)")
    }

    @Test(arguments: [
        "log s.daybook", "show s.daybook 2", "fetch s.daybook Note", "history s.daybook Note/1",
        "blame s.daybook Note/1", "diff s.daybook 1 2", "tail s.daybook",
    ])
    func `B15 JSON has no hidden character, wherever it goes`(command: String) throws {
        for format in ["json", "jsonl"] {
            let words = command.split(separator: " ").map(String.init) + ["--output", format]
            let result = try Tool.run(words, in: folder.url)

            #expect(hidden(in: result.text) == [], "\(result.text.debugDescription)")
            #expect(result.status < 2)
        }
        let fetched = try Tool.run(
            ["fetch", "s.daybook", "Note", "--at", "2", "--output", "json"], in: folder.url)
        let objects = try #require(
            try JSONSerialization.jsonObject(with: fetched.output) as? [[String: Any]])
        #expect((objects[0]["values"] as? [String: Any])?["text"] as? String == Self.hostile)
    }

    @Test func `B15 SQL has no hidden character, wherever it goes`() throws {
        let sql = try Tool.run(["diff", "s.daybook", "1", "2", "--format", "sql"], in: folder.url)

        #expect(sql.text.contains("char(27)"))
        #expect(hidden(in: sql.text) == [])
    }
}
