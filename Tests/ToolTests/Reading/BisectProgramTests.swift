import DaybookTestSupport
import Foundation
import Testing

/// The programs that bisect asks.
@Suite struct BisectProgramTests {
    private let library: LibraryStore

    init() throws {
        library = try LibraryStore()
    }

    private func bisect(_ program: String) throws -> ToolResult {
        try library.run(["bisect", "library.daybook", "--run", program])
    }

    @Test func `the program is told the entry and the store, and prints to standard error`() throws
    {
        let result = try bisect(
            #"echo "asked $DAYBOOK_ENTRY of $DAYBOOK_STORE"; true "#)

        #expect(result.talk.contains("asked 1 of library.daybook"), "\(result.talk)")
        #expect(!result.text.contains("asked"))
    }

    @Test func `a program that a signal ends is an error, and not an answer`() throws {
        let result = try bisect("kill -KILL $$ #")

        #expect(result.status == 2)
        #expect(result.talk.contains("with signal 9"), "\(result.talk)")
    }

    @Test func `the program ends by a closed pipe as it does elsewhere`() throws {
        let result = try bisect("kill -PIPE $$; exit 0 #")

        #expect(result.status == 2)
        #expect(result.talk.contains("with signal 13"), "\(result.talk)")
    }
}
