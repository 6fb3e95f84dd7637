import DaybookTestSupport
import Foundation
import Testing

/// Pages of `fetch --after`.
@Suite struct PagedFetchTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private struct Page: Decodable {
        struct Item: Decodable {
            let object: String
        }

        let objects: [Item]
        let next: String?
    }

    private func run(_ words: String...) throws -> ToolResult {
        try library.run(["fetch", "library.daybook", "Item", "--sort", "-title"] + words)
    }

    @Test func `each page names the next one, in every form`() throws {
        let all = try run("--output", "jsonl").lines.map {
            try JSONDecoder().decode(Page.Item.self, from: Data($0.utf8)).object
        }
        var found: [String] = []
        var cursor: String? = "start"
        while let after = cursor {
            let result = try run("--after", after, "-n", "2", "--output", "json")
            let page = try JSONDecoder().decode(Page.self, from: Data(result.text.utf8))
            found += page.objects.map(\.object)
            cursor = page.next

            let lines = try run("--after", after, "-n", "2", "--output", "jsonl").lines
            #expect(lines.last ?? "" == "{\"next\":\(page.next.map { "\"\($0)\"" } ?? "null")}")
            #expect(lines.count == page.objects.count + 1)
            let text = try run("--after", after, "-n", "2")
            let sentence = page.next.map { "The next page: --after \($0)" } ?? "The last page."
            #expect(text.talk.contains(sentence))
        }

        #expect(all.count > 2)
        #expect(found == all)
    }

    @Test func `what is no cursor, or goes with no page, is wrong usage`() throws {
        for words in [
            ["--after", "x", "-n", "2"], ["--after", "start"],
            ["--after", "start", "-n", "2", "--offset", "1"],
            ["--after", "start", "-n", "2", "--count"],
            ["--after", "start", "-n", "2", "--group", "title"],
        ] {
            let result = try library.run(["fetch", "library.daybook", "Item"] + words)
            #expect(result.status == 2, "\(words)")
            #expect(result.output.isEmpty)
        }
    }
}
