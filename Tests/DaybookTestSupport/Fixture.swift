package import Foundation
package import Testing

/// Files under `Fixtures`, which tests read and compare with.
package enum Fixture {
    /// The folder with all fixtures.
    package static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")

    /// The bytes of a fixture, named by its path in the folder.
    package static func data(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appending(path: name))
    }

    /// Compares output with a golden file, byte for byte.
    ///
    /// Under `RECORD_FIXTURES=1` the file is written instead, and the test fails all the same, so
    /// that nobody takes a recording for a success.
    package static func expect(
        _ output: Data, equals name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = folder.appending(path: name)
        if ProcessInfo.processInfo.environment["RECORD_FIXTURES"] == "1" {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try output.write(to: file)
            Issue.record("'\(name)' was recorded; look at it.", sourceLocation: sourceLocation)
            return
        }
        guard FileManager.default.fileExists(atPath: file.path) else {
            Issue.record(
                "There is no '\(name)'. Record it with RECORD_FIXTURES=1.",
                sourceLocation: sourceLocation)
            return
        }
        let golden = try Data(contentsOf: file)
        #expect(
            String(decoding: output, as: UTF8.self) == String(decoding: golden, as: UTF8.self),
            "The output differs from '\(name)'.", sourceLocation: sourceLocation)
        #expect(
            output == golden, "The output differs from '\(name)' in its bytes.",
            sourceLocation: sourceLocation)
    }
}
