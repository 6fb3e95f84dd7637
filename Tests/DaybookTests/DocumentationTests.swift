import Foundation
import Testing

/// Every Swift example in the README, the documentation and the comments of some types is repeated, word
/// for word, in a test of this folder that runs it.
///
/// In the tests an example is the text between `// example` and `// end of example`, without the
/// indentation. An example whose parts cannot be in one scope of a file (types, then statements)
/// continues after `// example, continued`, with an empty line between the parts.
@Suite struct DocumentationTests {
    @Test func `every example of the README is run by a test`() throws {
        let examples = try Examples.inTests()

        let blocks = try Examples.inPage(Examples.root.appendingPathComponent("README.md"))

        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(
                examples.contains(block), "README.md has an example that no test runs:\n\(block)")
        }
    }

    @Test func `every example of the documentation is run by a test`() throws {
        let examples = try Examples.inTests()
        let pages = try Examples.pages()

        #expect(!pages.isEmpty)
        for page in pages {
            for block in try Examples.inPage(page) {
                #expect(
                    examples.contains(block),
                    "\(page.lastPathComponent) has an example that no test runs:\n\(block)")
            }
        }
    }

    @Test(arguments: Examples.commentedSources)
    func `every example in the comments of a type is run by a test`(source: String) throws {
        let examples = try Examples.inTests()

        let blocks = try Examples.inComments(of: source)

        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(
                examples.contains(block), "\(source) has an example that no test runs:\n\(block)")
        }
    }

    @Test func `every example in a test is on a page or in a comment`() throws {
        let pages = try Examples.pages() + [Examples.root.appendingPathComponent("README.md")]
        let commented = try Examples.commentedSources.flatMap { try Examples.inComments(of: $0) }
        let blocks = try Set(pages.flatMap { try Examples.inPage($0) } + commented)

        for example in try Examples.inTests() {
            #expect(blocks.contains(example), "No page shows this example:\n\(example)")
        }
    }

    @Test func `the README's example takes about thirty lines`() throws {
        let readme = Examples.root.appendingPathComponent("README.md")

        let longest = try Examples.inPage(readme).map { $0.split(separator: "\n").count }.max()

        #expect(try (25...35).contains(#require(longest)))
    }
}

/// Finds examples in tests and pages.
enum Examples {
    /// The folder of the package.
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The sources whose comments have examples that tests run.
    static let commentedSources = [
        "DaybookObjectGraph/Batching/BatchInsertRequest.swift",
        "DaybookObjectGraph/Batching/BatchInsertRow.swift",
        "DaybookObjectGraph/Batching/BatchRequests.swift",
        "DaybookObjectGraph/Batching/BatchAssignment.swift",
        "DaybookAudit/AuditReader.swift", "DaybookAudit/AuditExport.swift",
        "DaybookAudit/AuditValue+Content.swift", "DaybookAudit/Formats/TilesExport.swift",
    ]

    /// The Swift examples in the comments of a source.
    static func inComments(of source: String) throws -> [String] {
        let file = root.appendingPathComponent("Sources").appendingPathComponent(source)
        let comments = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("///") }
            .map { String($0.dropFirst($0.hasPrefix("/// ") ? 4 : 3)) }
        return inLines(comments)
    }

    /// The pages of the documentation.
    static func pages() throws -> [URL] {
        try [
            "Daybook/Daybook.docc", "DaybookAudit/DaybookAudit.docc",
            "DaybookSearch/DaybookSearch.docc",
        ].flatMap { name in
            let catalogue = root.appendingPathComponent("Sources/\(name)")
            return try FileManager.default.subpathsOfDirectory(atPath: catalogue.path)
                .filter { $0.hasSuffix(".md") }.sorted()
                .map { catalogue.appendingPathComponent($0) }
        }
    }

    /// The Swift examples of a page; a manifest is not one.
    static func inPage(_ page: URL) throws -> [String] {
        inLines(try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n"))
    }

    private static func inLines(_ lines: [String]) -> [String] {
        var blocks: [String] = []
        var open: [String]?
        for line in lines {
            if line == "```swift" {
                open = []
            } else if line == "```", let lines = open {
                if lines.first?.hasPrefix("// swift-tools-version") != true {
                    blocks.append(text(withoutImports(lines)))
                }
                open = nil
            } else {
                open?.append(line)
            }
        }
        return blocks
    }

    /// An example without its imports, which are at the top of the test's file.
    private static func withoutImports(_ lines: [String]) -> [String] {
        Array(lines.drop { $0.hasPrefix("import ") || $0.isEmpty })
    }

    /// The examples in the tests of this folder.
    static func inTests() throws -> Set<String> {
        let folder = root.appendingPathComponent("Tests/DaybookTests")
        var examples: Set<String> = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        where name.hasSuffix(".swift") {
            let file = folder.appendingPathComponent(name)
            examples.formUnion(try inTest(String(contentsOf: file, encoding: .utf8)))
        }
        return examples
    }

    private static func inTest(_ source: String) -> [String] {
        var examples: [[String]] = []
        var open: [String]?
        for line in source.components(separatedBy: "\n") {
            switch line.trimmingCharacters(in: .whitespaces) {
            case "// example":
                examples.append([])
                open = []
            case "// example, continued":
                open = [""]
            case "// end of example":
                if let lines = open, !examples.isEmpty {
                    examples[examples.count - 1] += unindented(lines)
                }
                open = nil
            default:
                open?.append(line)
            }
        }
        return examples.map(text)
    }

    private static func unindented(_ lines: [String]) -> [String] {
        let indentation =
            lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return lines.map { String($0.dropFirst(indentation)) }
    }

    private static func text(_ lines: [String]) -> String {
        lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }
}
