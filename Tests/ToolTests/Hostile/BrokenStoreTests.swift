// The room of hostile input: broken stores, numbers at their limits, unusual names. Nothing may crash the tool
// or be read wrongly.

import DaybookTestSupport
import Foundation
import Testing

/// The reading commands on files that are not stores, or are damaged.
@Suite struct BrokenStoreTests {
    private static let lines = [
        "log STORE", "show STORE 4", "history STORE Subdivision/5", "diff STORE 2 head",
        "export STORE -f jsonl", "export STORE -f csv",
    ]

    @Test(arguments: lines + ["model STORE", "stats STORE"])
    func `a file that is no store is refused and left as it is`(line: String) throws {
        let atlas = try AtlasStore()
        let file = atlas.folder.url.appending(path: "atlas.daybook")
        let text = Data("This is a letter and no store.\n".utf8)
        try text.write(to: file)

        let result = try atlas.run(line)

        #expect(result.status == 3)
        #expect(result.output.isEmpty)
        #expect(result.talk.hasPrefix("error: 'atlas.daybook' is not a Daybook store"))
        #expect(result.talk.split(separator: "\n").count == 1)
        #expect(try Data(contentsOf: file) == text)
    }

    @Test(arguments: lines + ["model STORE", "stats STORE"])
    func `a store that is not there is told`(line: String) throws {
        let atlas = try AtlasStore()
        for name in ["atlas.daybook", "atlas.daybook-lock"] {
            let file = atlas.folder.url.appending(path: name)
            if FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.removeItem(at: file)
            }
        }

        let result = try atlas.run(line)

        #expect(result.status == 3)
        #expect(result.output.isEmpty)
        #expect(result.talk.hasPrefix("error: "))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: atlas.folder.url.path).allSatisfy {
                !$0.hasPrefix("atlas")
            })
    }

    @Test(arguments: lines)
    func `an altered entry is never shown as if it were sound`(line: String) throws {
        let atlas = try AtlasStore()
        let file = atlas.folder.url.appending(path: "atlas.daybook")
        var bytes = try Data(contentsOf: file)
        // The note of entry 4 is only in the journal.
        let note = Data("A name that was missing".utf8)
        var altered = 0
        while let place = bytes.range(of: note) {
            bytes[place.lowerBound] = UInt8(ascii: "B")
            altered += 1
        }
        try #require(altered > 0)
        try bytes.write(to: file)

        let result = try atlas.run(line)

        #expect(result.status == 3)
        #expect(result.talk.contains("ntry 4"))
        #expect(!result.text.contains("B name that was missing"))
    }
}

/// The folder of golden files.
@Suite struct GoldenFileTests {
    @Test func `every golden file of the reading commands is named by a test`() throws {
        let tests = Fixture.folder.deletingLastPathComponent().appending(path: "Tests/ToolTests")
        var text = ""
        for name in [
            "Reading/ReadingCommandTests.swift", "Writing/MovingCommandTests.swift",
            "Reading/TravelCommandTests.swift",
        ] {
            text += try String(contentsOf: tests.appending(path: name), encoding: .utf8)
        }

        for command in [
            "log", "show", "history", "diff", "model", "export", "blame", "bisect", "document",
            "tag",
        ] {
            let folder = Fixture.folder.appending(path: "cli/\(command)")
            for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let name = file.replacing(".txt", with: "")
                #expect(
                    text.contains("\"\(name)\""),
                    "No test names 'cli/\(command)/\(file)'; delete it or test it.")
            }
        }
    }
}
