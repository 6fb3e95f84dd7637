import DaybookTestSupport
import Foundation
import Testing

/// Rows of a table that lead to one another.
@Suite struct TableChainTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        let model = """
            {"entities":[{"name":"Place","attributes":[
              {"name":"code","type":"string","optional":false,"unique":true}],
             "relationships":[{"name":"parent","destination":"Place"}]}]}
            """
        try Data(model.utf8).write(to: folder.url.appending(path: "model.json"))
        _ = try Tool.run(["init", "s", "--model", "model.json"], in: folder.url)
    }

    private func importing(_ rows: [String]) throws -> ToolResult {
        try Tool.run(
            ["import", "s", "-f", "csv", "-e", "Place", "--skip-refused"],
            input: Data((["code,parent"] + rows).joined(separator: "\n").utf8), in: folder.url)
    }

    private func refused(_ result: ToolResult) -> [String] {
        result.talk.matches(of: /refused: line (\d+), column 'parent'/).map { String($0.1) }
    }

    @Test func `a chain of rows that ends nowhere is refused, row after row`() throws {
        let count = 2_000
        let rows = (1...count).map { "\($0),\($0 == 1 ? "none" : "\($0 - 1)")" }

        let result = try importing(rows.reversed() + ["x,", "y,x"])

        #expect(result.text == "Imported entry 2: 2 inserted.\n")
        #expect(refused(result) == (2...(count + 1)).reversed().map(String.init))
        #expect(result.talk.hasSuffix("\(count) rows were refused and left out.\n"))
    }

    @Test func `a row leads to another one that has the key of a refused row`() throws {
        let result = try importing(["a,none", "b,a", "a,", "c,b"])

        #expect(refused(result) == ["2"])
        #expect(result.text == "Imported entry 2: 3 inserted.\n", "\(result.talk)")
    }

    @Test func `a row leads to an object of the store that has the key of a refused row`() throws {
        try #require(try importing(["a,"]).text == "Imported entry 2: 1 inserted.\n")

        let result = try importing(["a,none", "b,a", "c,b"])

        #expect(refused(result) == ["2"])
        #expect(result.text == "Imported entry 3: 2 inserted.\n", "\(result.talk)")
    }
}
