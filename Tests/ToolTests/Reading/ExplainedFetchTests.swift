import DaybookTestSupport
import Foundation
import Testing

/// What `fetch --explain` says of plans and of what was read.
@Suite struct ExplainedFetchTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private struct Explained: Decodable {
        struct Read: Decodable, Equatable {
            let rows: Int
            let passedOver: Int
            let indexRecords: Int
            let connections: Int
            let versions: Int
            let entries: Int
            let pages: Int
        }
        let plan: String
        let found: Int
        let read: Read
    }

    private func explained(_ words: String...) throws -> Explained {
        let result = try library.run(
            ["fetch", "library.daybook"] + words + ["--explain", "--output", "jsonl"])
        try #require(result.status == 0, "\(result.talk)")
        #expect(result.text.split(separator: "\n").count == 1)
        return try JSONDecoder().decode(Explained.self, from: Data(result.text.utf8))
    }

    @Test func `objects that an index finds are the only ones read`() throws {
        let found = try explained("Book", "--where", "isbn == '2'")

        #expect(found.plan.hasPrefix("index of 'isbn', 1 range for isbn == \"2\""))
        #expect(found.found == 1)
        #expect(found.read.rows == 1)
        #expect(found.read.passedOver == 0)
        #expect(found.read.indexRecords == 1)
        #expect(found.read.pages > 0)
    }

    @Test func `all objects are read where no index serves, and others passed over`() throws {
        let found = try explained("Book", "-w", "pages > 1", "--sort", "-isbn")
        #expect(found.plan == "all objects are read: no index serves the filter")
        #expect(found.found == 1)
        #expect(found.read.rows == 3)
        #expect(found.read.passedOver == 2)

        let page = try explained("Book", "--after", "start", "-n", "2")
        #expect(page.found == 2)

        let count = try explained("Book", "-w", "pages > 1", "--count")
        #expect(count.found == 1)
        #expect(count.read.rows == 3)
        #expect(count.read.passedOver == 2)
    }

    @Test func `groups are found among rows, and the past among versions`() throws {
        let groups = try explained(
            "Book", "-g", "title", "--sum", "price", "--having", "sum(price) > 0", "--sort", "title"
        )
        #expect(groups.found == 1)
        #expect(groups.read.rows == 3)
        #expect(groups.read.passedOver == 0)

        let change =
            #"{"op":"update","entity":"Book","match":{"isbn":"1"},"values":{"pages":1}}"# + "\n"
        try #require(try library.record(change).status == 0)
        let then = try explained("Book", "-w", "pages == 100", "--at", "3")
        #expect(then.found == 1)
        #expect(then.read.versions >= 1)
    }

    @Test func `text has a line for the plan and for what was found and read`() throws {
        let result = try library.run(
            ["fetch", "library.daybook", "Book", "-w", "isbn == '9'", "--explain"])
        let lines = result.text.split(separator: "\n")
        #expect(result.status == 0)
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("index of 'isbn'"))
        #expect(lines[1] == "found: 0")
        #expect(lines[2].hasPrefix("read: ") && lines[2].hasSuffix(" pages"))
    }

    @Test func `there is no table, and there are no changes, of an explanation`() throws {
        for words in [["--format", "csv"], ["--changes", "-w", "title CHANGED"]] {
            let result = try library.run(
                ["fetch", "library.daybook", "Book", "--explain"] + words)
            #expect(result.status == 2)
            #expect(
                result.talk == "error: '--explain' excludes '--changes' and '--format'.\n",
                "\(result.talk)")
        }
    }
}
