import DaybookTestSupport
import Foundation
import Testing

/// The store of `Fixtures/exports/atlas.jsonl` in a folder of its own.
///
/// Its entries carry the recording times of the export, so what the tool prints of them does not
/// depend on the clock.
struct AtlasStore {
    let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        let result = try Tool.run(
            ["load", "atlas.daybook"], input: Fixture.data("exports/atlas.jsonl"), in: folder.url)
        try #require(result.status == 0, "\(result.talk)")
    }

    /// Runs the tool in the folder of the store; `STORE` stands for its path.
    func run(_ line: String, input: Data? = nil) throws -> ToolResult {
        let words = line.split(separator: " ").map { $0 == "STORE" ? "atlas.daybook" : String($0) }
        return try Tool.run(words, input: input, in: folder.url)
    }

    /// Runs the tool and compares its whole output with a golden file.
    func expect(
        _ line: String, equals name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try run(line)
        var text = "$ daybook \(line)\n" + result.text
        if !result.talk.isEmpty { text += "--- standard error\n" + result.talk }
        text += "--- exit \(result.status)\n"
        let command = line.prefix { $0 != " " }
        try Fixture.expect(
            Data(text.utf8), equals: "cli/\(command)/\(name).txt", sourceLocation: sourceLocation)
    }
}
