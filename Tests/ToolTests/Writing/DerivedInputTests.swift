import DaybookTestSupport
import Foundation
import Testing

/// Input that wants to set what is derived.
@Suite struct DerivedInputTests {
    private static let model = """
        {"entities":[{"name":"Shelf","attributes":[
          {"name":"name","type":"string","unique":true},
          {"name":"sortName","type":"string","derived":"canonical:(name)"},
          {"name":"count","type":"int64","derived":"books.@count"}],
         "relationships":[{"name":"books","destination":"Book","toMany":true,"inverse":"shelf"}]},
         {"name":"Book","attributes":[{"name":"title","type":"string"}],
         "relationships":[{"name":"shelf","destination":"Shelf","inverse":"books"}]}]}
        """

    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        try Data(Self.model.utf8).write(to: folder.url.appending(path: "model.json"))
        let made = try run(["init", "library", "--model", "model.json"])
        #expect(made.status == 0, "\(made.talk)")
    }

    private func run(_ arguments: [String], input: String? = nil) throws -> ToolResult {
        try Tool.run(arguments, input: input.map { Data($0.utf8) }, in: folder.url)
    }

    /// Checks that the input was refused, and nothing of it saved.
    private func expectRefusal(
        _ result: ToolResult, _ status: Int32, naming name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(result.status == status, "\(result.talk)", sourceLocation: sourceLocation)
        #expect(
            ["'", "."].contains { result.talk.contains("\($0)\(name)' is derived") },
            "\(result.talk)", sourceLocation: sourceLocation)
        let found = try run(["fetch", "library", "Shelf", "--output", "jsonl"])
        #expect(found.lines.isEmpty, sourceLocation: sourceLocation)
    }

    @Test(arguments: [("sortName", #""a""#), ("count", "3"), ("count", "null")])
    func `a recorded line that sets a derived attribute is refused`(
        name: String, value: String
    ) throws {
        let line = #"{"op":"insert","entity":"Shelf","values":{"name":"A","\#(name)":\#(value)}}"#

        try expectRefusal(try run(["record", "library"], input: line + "\n"), 2, naming: name)
    }

    @Test func `a recorded update of a derived attribute is refused, and the entry is dropped`()
        throws
    {
        let lines = #"""
            {"op":"insert","entity":"Shelf","ref":"a","values":{"name":"A"}}
            {"op":"update","ref":"a","values":{"count":1}}

            """#

        try expectRefusal(try run(["record", "library"], input: lines), 2, naming: "count")
    }

    @Test(arguments: ["sortName", "count"])
    func `a column of a table that leads to a derived attribute is refused`(name: String) throws {
        let table = "name,\(name)\nA,1\n"

        let result = try run(
            ["import", "library", "--format", "csv", "--entity", "Shelf"], input: table)

        try expectRefusal(result, 2, naming: name)
    }

    @Test func `a stream's derived values are passed over, and worked out here`() throws {
        let event = #"""
            {"before":null,"after":{"name":"Ä","sortName":"wrong","count":7},"source":{"name":"s","db":"s","table":"Shelf","ts_ms":1700000000000,"lsn":1},"op":"c"}

            """#

        let result = try run(["import", "library", "--format", "debezium"], input: event)

        #expect(result.status == 0, "\(result.talk)")
        let found = try run(["fetch", "library", "Shelf", "--output", "jsonl"])
        #expect(found.lines.count == 1)
        #expect(found.text.contains(#""sortName":"a""#), "\(found.text)")
        #expect(found.text.contains(#""count":0"#), "\(found.text)")
        #expect(try run(["verify", "library"]).status == 0)
    }

    @Test func `a sum that does not fit is a bad value, at the line that saves it`() throws {
        let model = """
            {"entities":[{"name":"Shelf","attributes":[
              {"name":"weight","type":"int16","derived":"books.@sum.weight"}],
             "relationships":[{"name":"books","destination":"Book","toMany":true,"inverse":"shelf"}]},
             {"name":"Book","attributes":[{"name":"weight","type":"int16"}],
             "relationships":[{"name":"shelf","destination":"Shelf","inverse":"books"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "sums.json"))
        #expect(try run(["init", "sums", "--model", "sums.json"]).status == 0)
        let book = #"{"op":"insert","entity":"Book","values":{"weight":20000,"shelf":SHELF}}"#
        let first =
            #"{"op":"insert","ref":"s","entity":"Shelf"}"# + "\n"
            + book.replacing("SHELF", with: #"{"ref":"s"}"#) + "\n"
        #expect(try run(["record", "sums"], input: first).status == 0)

        let second = book.replacing("SHELF", with: #"{"object":"Shelf/1"}"#) + "\n"
        let result = try run(["record", "sums"], input: second + #"{"op":"save"}"# + "\n")

        #expect(result.status == 2, "\(result)")
        #expect(
            result.talk.contains(
                "line 2: 'weight' of Shelf/1 is derived from values that do not fit"),
            "\(result.talk)")
    }
}
