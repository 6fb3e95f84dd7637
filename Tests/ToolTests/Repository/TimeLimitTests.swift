import DaybookTestSupport
import Foundation
import Testing

/// How long tests may take.
@Suite struct TimeLimitTests {
    /// All tests run at the same time, and a limit counts the wait for a thread, which is most of such a run.
    @Test func `no test has a time limit`() throws {
        let tests = Fixture.folder.deletingLastPathComponent().appendingPathComponent("Tests")
        let files = try #require(FileManager.default.enumerator(atPath: tests.path))
        // In two parts, so that this file has none.
        let limit = "." + "timeLimit("
        var seen = 0
        for case let file as String in files where file.hasSuffix(".swift") {
            let text = try String(
                contentsOf: tests.appendingPathComponent(file), encoding: .utf8)
            seen += 1
            #expect(!text.contains(limit), "Tests/\(file) limits the time of a test.")
        }

        #expect(seen > 500)
    }
}
