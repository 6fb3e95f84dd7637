import DaybookTestSupport
import Foundation
import Testing

/// The README's tour of the command, run word for word.
@Suite struct ReadmeSessionTests {
    @Test func `every command of the README prints what stands under it`() throws {
        let readme = try Readme()
        let folder = try ScratchFolder()
        let files = readme.blocks("json")
        try #require(files.count == 2)
        try files[0].write(
            to: folder.url.appendingPathComponent("model.json"), atomically: true, encoding: .utf8)
        try files[1].write(
            to: folder.url.appendingPathComponent("changes.jsonl"), atomically: true,
            encoding: .utf8)

        let steps = try readme.session()

        #expect(steps.count > 5)
        for step in steps {
            let result = try Tool.shell(
                "cd \"$FOLDER\" && daybook() { \"$DAYBOOK\" \"$@\"; } && { \(step.command); } 2>&1",
                environment: ["FOLDER": folder.url.path])
            #expect(step.fits(result.text), "\(step.command)\n\(result.text)")
        }
    }
}

/// The README of the package.
private struct Readme {
    private let lines: [String]

    /// A command and its output.
    struct Step {
        let command: String
        var output: String

        /// Whether this was the output; a line of `…` stands for any lines.
        func fits(_ text: String) -> Bool {
            var rest = text[...]
            let parts = output.components(separatedBy: "…\n")
            for (index, part) in parts.enumerated() {
                if index == 0 {
                    guard rest.hasPrefix(part) else { return false }
                    rest = rest.dropFirst(part.count)
                } else if index == parts.count - 1 {
                    return rest.hasSuffix(part)
                } else {
                    guard let place = rest.range(of: part) else { return false }
                    rest = rest[place.upperBound...]
                }
            }
            return rest.isEmpty
        }
    }

    init() throws {
        let root = Fixture.folder.deletingLastPathComponent()
        let text = try String(
            contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        lines = text.components(separatedBy: "\n")
    }

    /// The blocks of code in a language.
    func blocks(_ language: String) -> [String] {
        var blocks: [String] = []
        var open: String?
        for line in lines {
            if line == "```\(language)" {
                open = ""
            } else if line == "```", let block = open {
                blocks.append(block)
                open = nil
            } else if let block = open {
                open = block + line + "\n"
            }
        }
        return blocks
    }

    /// The commands of the session, which text may interrupt.
    func session() throws -> [Step] {
        let text = blocks("console").joined()
        try #require(!text.isEmpty)
        var steps: [Step] = []
        for line in text.dropLast().components(separatedBy: "\n") {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2)), output: ""))
            } else {
                try #require(!steps.isEmpty)
                steps[steps.count - 1].output += line + "\n"
            }
        }
        return steps
    }
}
