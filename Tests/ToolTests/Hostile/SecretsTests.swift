import DaybookTestSupport
import Foundation
import Testing

/// Where the values of confidential attributes must not be: errors, exports, reports, and everything that commands say
/// of a store without being asked for its values.
struct SecretsTests {
    /// A part of every confidential value.
    private static let canary = "kanarienvogel"

    private static let model = """
        {"entities":[{"name":"Person","attributes":[
          {"name":"name","type":"string","optional":false,"unique":true},
          {"name":"pin","type":"string","confidential":true,"unique":true},
          {"name":"diary","type":"string","confidential":true,"indexed":true,"maxLength":60,
           "pattern":"[a-z0-9 ]*"},
          {"name":"scan","type":"data","confidential":true},
          {"name":"born","type":"date","confidential":true},
          {"name":"paid","type":"bool","confidential":true},
          {"name":"salary","type":"int64","confidential":true,"maximum":1000}]}]}
        """

    private static let content = """
        {"op":"insert","entity":"Person","values":{"name":"Ada","pin":"\(canary)1",\
        "diary":"\(canary) was here","scan":"\(Data(canary.utf8).base64EncodedString())"}}
        {"op":"save","author":"registry"}
        {"op":"update","object":"Person/1","values":{"diary":"\(canary) is gone"}}
        {"op":"insert","entity":"Person","values":{"name":"Bob","pin":"\(canary)2"}}
        {"op":"save","author":"registry"}

        """

    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try Data(Self.model.utf8).write(to: folder.url.appending(path: "model.json"))
        let made = try run(["init", "p.daybook", "--model", "model.json"])
        try #require(made.status == 0, "\(made.talk)")
        let recorded = try run(["record", "p.daybook"], Self.content)
        try #require(recorded.status == 0, "\(recorded.talk)")
    }

    @discardableResult private func run(
        _ words: [String], _ input: String = ""
    ) throws -> ToolResult {
        try Tool.run(
            words, input: Data(input.utf8), environment: ["TMPDIR": folder.url.path], in: folder.url
        )
    }

    private static func hasCanary(_ data: Data) -> Bool {
        String(decoding: data, as: UTF8.self).contains(canary)
            || data.range(of: Data(Data(canary.utf8).base64EncodedString().utf8.prefix(12))) != nil
    }

    @Test func `no refusal of a value tells it`() throws {
        let lines = [
            #"{"op":"insert","entity":"Person","values":{"name":"C","pin":"kanarienvogel1"}}"#,
            #"{"op":"insert","entity":"Person","values":{"name":"C","diary":"kanarienvogel!"}}"#,
            #"{"op":"update","object":"Person/1","values":{"diary":"kanarienvogel \#(String(repeating: "x", count: 60))"}}"#,
            #"{"op":"update","object":"Person/1","values":{"scan":"kanarienvogel!"}}"#,
            #"{"op":"update","object":"Person/1","values":{"born":"kanarienvogel"}}"#,
            #"{"op":"update","object":"Person/1","values":{"paid":"kanarienvogel"}}"#,
            #"{"op":"update","object":"Person/1","values":{"salary":"kanarienvogel"}}"#,
            #"{"op":"update","object":"Person/1","values":{"pin":{"kanarienvogel":1}}}"#,
            #"{"op":"update","object":"Person/1","values":{"pin":["kanarienvogel"]}}"#,
            #"{"op":"update","object":"Person/1","values":{"pin":1,"diary":"kanarienvogel"}}"#,
        ]
        for line in lines {
            let ran = try run(["record", "p.daybook"], line)
            #expect(ran.status != 0, "\(line)")
            #expect(!Self.hasCanary(Data(ran.talk.utf8)), "\(line): \(ran.talk)")
        }
        let columns = [
            "pin": "kanarienvogel1", "diary": "kanarienvogel!", "scan": "kanarienvogel!",
            "born": "kanarienvogel", "paid": "kanarienvogel", "salary": "kanarienvogel",
        ]
        for (column, value) in columns {
            let ran = try run(
                ["import", "p.daybook", "--format", "csv", "--entity", "Person", "--skip-refused"],
                "name,\(column)\nC,\(value)\n")
            #expect(!Self.hasCanary(Data(ran.talk.utf8)), "\(column): \(ran.talk)")
            #expect(ran.talk.contains("line 2"), "\(column): \(ran.talk)")
        }
    }

    @Test func `no export has them unless they are asked for`() throws {
        let formats = [
            "csv", "cloudevents", "debezium", "git", "html", "journald", "json-patch",
            "jsonl",
            "ocsf", "prov", "sqlite", "syslog",
        ]
        let help = try run(["export", "--help"]).text
        var exported = 0
        for format in formats where help.contains("  \(format)") {
            exported += 1
            let ran = try run(
                [
                    "export", "p.daybook", "--format", format, "--confidential", "omit", "--into",
                    "e.\(format)",
                ])
            #expect(ran.status == 0, "\(format): \(ran.talk)")
        }
        #expect(exported >= 8)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        where name.hasPrefix("e.") {
            let bytes = try Data(contentsOf: folder.url.appending(path: name))
            #expect(!Self.hasCanary(bytes), "\(name)")
        }
    }

    @Test func `whole entries with secrets of an earlier model are not handed on`() throws {
        let key = try run(["keygen", "example.org/people", "--into", "private.key"])
        try key.output.write(to: folder.url.appending(path: "public.key"))
        let checkpoint = try run(["checkpoint", "p.daybook", "--key", "private.key"])
        try checkpoint.output.write(to: folder.url.appending(path: "checkpoint"))
        let later =
            #"{"entities":[{"name":"Person","attributes":[{"name":"name","type":"string","optional":false,"unique":true}]}]}"#
        try Data(later.utf8).write(to: folder.url.appending(path: "later.json"))
        let migrated = try run(["migrate", "p.daybook", "--model", "later.json"])
        try #require(migrated.status == 0, "\(migrated.talk)")

        for words in [
            ["mcp", "p.daybook"],
            ["prove", "p.daybook", "2", "--checkpoint", "checkpoint", "--entry", "2.entry"],
            [
                "tiles", "p.daybook", "--into", "tiles", "--checkpoint", "checkpoint", "--key",
                "public.key",
            ],
        ] {
            let ran = try run(words)
            #expect(ran.status == 2, "\(words)")
            #expect(ran.talk.contains("such as 'Person.born'"), "\(words): \(ran.talk)")
            #expect(!Self.hasCanary(ran.output), "\(words)")
        }
    }

    /// Commands that are not asked for values, on a sound store and on a damaged one.
    @Test func `no command that is not asked for values tells them`() throws {
        try run(["backup", "p.daybook", "damaged.daybook"])
        let file = folder.url.appending(path: "damaged.daybook")
        var bytes = try Data(contentsOf: file)
        // A bit of every value, as it is in records, rows and indexes.
        var from = bytes.startIndex
        while let place = bytes.range(of: Data(Self.canary.utf8), in: from..<bytes.endIndex) {
            bytes[place.lowerBound + 9] ^= 1
            from = place.upperBound
        }
        try bytes.write(to: file)
        for store in ["p.daybook", "damaged.daybook"] {
            for words in [
                ["log", store], ["log", store, "--oneline"], ["verify", store], ["stats", store],
                ["cursors", store], ["tag", store, "kept", "2"], ["tag", store], ["model", store],
                ["laws", store], ["projections", store], ["status", store], ["replay", store],
                ["undo", store, "3"],
                ["recover", store, "--into", "r.daybook"],
                ["compact", store, "--into", "c.daybook"],
                ["migrate", store, "--model", "model.json", "--dry-run"], ["doctor", store],
                ["restore", store, "Person/9"], ["tail", store, "-n", "3", "--oneline"],
                ["data", store, "Person/1.pin", "--into", "/nowhere/x"],
                ["export", store, "--format", "jsonl"], ["export", store, "--format", "html"],
            ] {
                let ran = try run(words)
                #expect(!Self.hasCanary(ran.output), "\(words): \(ran.text)")
                #expect(!Self.hasCanary(Data(ran.talk.utf8)), "\(words): \(ran.talk)")
            }
        }
        // What commands read and show on purpose is no error all the same.
        for words in [
            ["fetch", "damaged.daybook", "Person"], ["history", "damaged.daybook", "Person/1"],
            ["blame", "damaged.daybook", "Person/1"], ["show", "damaged.daybook", "2"],
            ["diff", "damaged.daybook", "1", "2"],
            ["undo", "damaged.daybook", "2", "--dry-run"], ["document", "damaged.daybook"],
        ] {
            #expect(!Self.hasCanary(Data(try run(words).talk.utf8)), "\(words)")
        }
        let lock = try Data(contentsOf: folder.url.appending(path: "p.daybook-lock"))
        #expect(!Self.hasCanary(lock))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(
            names.allSatisfy { !$0.contains("daybook.") && !$0.hasPrefix("daybook-") }, "\(names)")
    }
}
