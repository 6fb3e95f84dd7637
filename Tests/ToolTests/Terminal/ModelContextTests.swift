import DaybookTestSupport
import Foundation
import Testing

/// `daybook mcp`, message by message; the SDK of the protocol uses it in 'Tools/check-exports/mcp'.
@Suite struct ModelContextTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private func answers(_ messages: [String], _ options: [String] = []) throws -> [String] {
        let ran = try library.run(
            ["mcp", "library.daybook"] + options, input: messages.joined(separator: "\n"))
        #expect(ran.status == 0, "\(ran.talk)")
        return ran.lines
    }

    private static func call(_ tool: String, _ arguments: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\#(tool)","arguments":\#(arguments)}}"#
    }

    @Test func `each message that wants an answer gets one line, in order`() throws {
        let lines = try answers([
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "",
            #"{"jsonrpc":"2.0","id":"two","method":"ping"}"#, "not JSON",
        ])

        #expect(lines.count == 3)
        #expect(lines[0].contains(#""protocolVersion":"2024-11-05""#))
        #expect(lines[1] == #"{"jsonrpc":"2.0","id":"two","result":{}}"#)
        #expect(lines[2].contains(#""id":null,"error":{"code":-32700"#))
    }

    @Test func `without a folder nothing can be proposed, and no tool writes to the store`() throws
    {
        let before = try library.bytes

        let lines = try answers([
            #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            Self.call("propose", #"{"name":"x","changes":[{"op":"delete","object":"Shelf/1"}]}"#),
            Self.call("fetch", #"{"entity":"Shelf"}"#),
        ])

        #expect(!lines[0].contains("propose"))
        #expect(lines[1].contains("There is no tool 'propose'"))
        #expect(lines[2].contains("Shelf/1"))
        #expect(try library.bytes == before)
    }

    @Test func `the log is searched for what is in values, or for what is in notes`() throws {
        let line = #"{"op":"insert","entity":"Shelf","values":{"label":"Cellar"}}"#
        try #require(try library.record(line, ["--note", "Moved downstairs"]).status == 0)

        let found = try answers([
            Self.call("log", #"{"text":"Cellar"}"#), Self.call("log", #"{"text":"downstairs"}"#),
            Self.call("log", #"{"note":"downstairs"}"#), Self.call("log", #"{"note":"Cellar"}"#),
        ]).map { $0.contains("Moved downstairs") }

        #expect(found == [true, false, true, false])
    }

    @Test func `a proposal leaves the store as it is, and a long answer is refused`() throws {
        let folder = library.folder.url.appending(path: "proposals")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let title = String(repeating: "long ", count: 100_000)
        for number in 1...3 {
            _ = try library.run(
                ["record", "library.daybook"],
                input:
                    #"{"op":"update","object":"Book/5","values":{"title":"\#(number) \#(title)"}}"#)
        }
        let before = try library.bytes

        let lines = try answers(
            [
                Self.call(
                    "propose",
                    #"{"name":"new","changes":[{"op":"insert","entity":"Shelf","values":{"label":"Z"}}]}"#
                ),
                Self.call("history", #"{"object":"Book/5"}"#),
                Self.call("fetch", #"{"entity":"Shelf"}"#),
            ], ["--propose", "proposals"])

        #expect(lines.count == 3)
        #expect(lines[0].contains("Proposed in 'proposals/new.jsonl'"))
        #expect(lines[1].contains("Ask for less"))
        #expect(lines[2].contains("Shelf/1"))
        #expect(try library.bytes == before)
    }

    @Test func `a model with confidential properties is refused unless they may be shown`() throws {
        let folder = library.folder.url
        try Data(
            #"{"entities":[{"name":"Card","attributes":[{"name":"pin","type":"string","confidential":true}]}]}"#
                .utf8
        ).write(to: folder.appending(path: "cards.json"))
        _ = try library.run(["init", "cards.daybook", "--model", "cards.json"])

        let refused = try library.run(["mcp", "cards.daybook"])
        let shown = try library.run(["mcp", "cards.daybook", "--confidential", "show"])

        #expect(refused.status == 2)
        #expect(refused.talk.contains("'Card.pin'"))
        #expect(shown.status == 0)
    }

    private static func cards(confidential: Bool) -> Data {
        let secrecy = confidential ? #","confidential":true"# : ""
        return Data(
            #"{"entities":[{"name":"Card","attributes":[{"name":"pin","type":"string"\#(secrecy)}]}]}"#
                .utf8)
    }

    @Test func `what becomes confidential while it runs is in no answer, until it is so no more`()
        throws
    {
        let folder = library.folder.url
        try Self.cards(confidential: false).write(to: folder.appending(path: "open.json"))
        try Self.cards(confidential: true).write(to: folder.appending(path: "closed.json"))
        _ = try library.run(["init", "cards.daybook", "--model", "open.json"])
        _ = try library.run(
            ["record", "cards.daybook"],
            input: #"{"op":"insert","entity":"Card","values":{"pin":"4711"}}"#)
        let questions = [
            Self.call("model", "{}"), Self.call("fetch", #"{"entity":"Card"}"#),
            Self.call("fetch", #"{"entity":"Card","at":2}"#), Self.call("log", #"{"text":"47"}"#),
            Self.call("show", #"{"entry":2}"#), Self.call("history", #"{"object":"Card/1"}"#),
            Self.call("blame", #"{"object":"Card/1"}"#), Self.call("diff", #"{"from":1,"to":2}"#),
            Self.call("bisect", #"{"entity":"Card","where":"pin == '4711'"}"#),
        ]
        let server = try ChildProcess(
            Tool.url, ["mcp", folder.appending(path: "cards.daybook").path])
        defer { server.kill() }
        func ask(_ question: String) throws -> String {
            try server.write(question + "\n")
            let (line, talk) = (server.nextLine(), try server.talk())
            return try #require(line, "\(talk)")
        }

        #expect(try ask(questions[1]).contains("4711"))
        try #require(
            library.run(["migrate", "cards.daybook", "--model", "closed.json"]).status == 0)
        for question in questions {
            let answer = try ask(question)
            #expect(answer.contains("'Card.pin'"), "\(answer)")
            #expect(answer.contains(#""isError":true"#), "\(answer)")
            #expect(!answer.contains("4711"), "\(answer)")
        }
        #expect(try ask(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).contains(#""result":{}"#))
        try #require(
            library.run(["migrate", "cards.daybook", "--model", "open.json"]).status == 0)
        #expect(try ask(questions[1]).contains("4711"))

        try server.endInput()
        #expect(server.wait() == .exited(0))
    }

    @Test func `the tools know the model that the store has now`() throws {
        let folder = library.folder.url
        try Self.cards(confidential: false).write(to: folder.appending(path: "open.json"))
        let wider =
            #"{"entities":[{"name":"Card","attributes":[{"name":"pin","type":"string"}]},"#
            + #"{"name":"Holder","attributes":[{"name":"name","type":"string"}]}]}"#
        try Data(wider.utf8).write(to: folder.appending(path: "wider.json"))
        _ = try library.run(["init", "cards.daybook", "--model", "open.json"])
        let server = try ChildProcess(
            Tool.url, ["mcp", folder.appending(path: "cards.daybook").path])
        defer { server.kill() }
        func tools() throws -> String {
            try server.write(#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"# + "\n")
            let (line, talk) = (server.nextLine(), try server.talk())
            return try #require(line, "\(talk)")
        }

        let before = try tools()
        try #require(
            library.run(["migrate", "cards.daybook", "--model", "wider.json"]).status == 0)

        #expect(!before.contains(#""Holder""#))
        #expect(try tools().contains(#""Holder""#))
    }

    @Test func `a message that is too long is refused, and the next one is answered`() throws {
        let long = String(repeating: " ", count: 5 << 20)
        let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

        let lines = try answers([ping.replacing(":1,", with: ":\(long)1,"), ping])

        #expect(lines.count == 2)
        #expect(lines[0].contains(#""id":null,"error":{"code":-32600"#))
        #expect(lines[1] == #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    }

    @Test func `a folder for proposals has to be there`() throws {
        let ran = try library.run(["mcp", "library.daybook", "--propose", "nowhere"])

        #expect(ran.status == 2)
        #expect(ran.talk.contains("no folder 'nowhere'"))
    }
}
