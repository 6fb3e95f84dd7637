import DaybookTestSupport
import Foundation
import Testing

/// What delete rules did in another store.
@Suite struct ImportCauseTests {
    private static let model = """
        {"entities":[{"name":"Album","attributes":[{"name":"title","type":"string"}],
          "relationships":[{"name":"band","destination":"Band","inverse":"albums"}]},
         {"name":"Band","attributes":[{"name":"name","type":"string"}],
          "relationships":[{"name":"albums","destination":"Album","toMany":true,"inverse":"band",
             "deleteRule":"cascade"},
           {"name":"fans","destination":"Fan","toMany":true,"inverse":"band"}]},
         {"name":"Fan","attributes":[{"name":"name","type":"string"}],
          "relationships":[{"name":"band","destination":"Band","inverse":"fans"}]}]}
        """

    private static let story = [
        #"{"op":"insert","entity":"Band","ref":"b","values":{"name":"B"}}"#,
        #"{"op":"insert","entity":"Album","values":{"title":"gone","band":{"ref":"b"}}}"#,
        #"{"op":"insert","entity":"Album","ref":"k","values":{"title":"kept","band":{"ref":"b"}}}"#,
        #"{"op":"insert","entity":"Fan","values":{"name":"F","band":{"ref":"b"}}}"#,
        #"{"op":"save"}"#,
        #"{"op":"update","ref":"k","values":{"band":null}}"#, #"{"op":"delete","ref":"b"}"#,
    ]

    @Test func `a change that a delete rule has made says so where it is imported`() throws {
        let folder = try ScratchFolder()
        func run(_ line: String, input: Data? = nil) throws -> ToolResult {
            let result = try Tool.run(
                line.split(separator: " ").map(String.init), input: input, in: folder.url)
            #expect(result.status == 0, "\(line): \(result.talk)")
            return result
        }
        try Data(Self.model.utf8).write(to: folder.url.appending(path: "model.json"))
        for name in ["original", "copy"] { _ = try run("init \(name) --model model.json") }
        _ = try run("record original", input: Data(Self.story.joined(separator: "\n").utf8))
        let stream = try run("export original -f jsonl")

        let imported = try run("import copy -f jsonl", input: stream.output)

        #expect(imported.text.contains("2 deleted"), "\(imported.text)")
        let causes = try ["original", "copy"].map { name in
            try run("export \(name) -f jsonl").text
                .matches(
                    of: /"op":"(\w+)","object":"(\w+)\/\d+","entity":"\w+","cause":"(\w+)\/\d+"/
                )
                .map { "\($0.3) caused \($0.1) of \($0.2)" }
        }
        #expect(causes[0] == ["Band caused update of Fan", "Band caused delete of Album"])
        #expect(causes[1] == causes[0])
        #expect(try run("fetch copy Album --count").text == "1\n")
    }
}
