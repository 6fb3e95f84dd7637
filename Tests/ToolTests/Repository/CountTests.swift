import DaybookTestSupport
import Foundation
import Testing

/// Counts of memory, disk and digest operations, which a busy machine cannot distort.
///
/// The bounds and their reasons are in one table, `Tools/daybook-counts/Bounds.swift`.
@Suite(.enabled("Nothing can be counted in this build.") { try CountingTool.canCount() })
struct CountTests {
    @Test func `every count stays within its bound`() throws {
        let ran = try CountingTool.run(["--objects", "2000", "--check"])

        #expect(ran.ending == .exited(0), "\(ran.talk)")
    }

    @Test func `a save waits for the disk once and digests its entry once`() throws {
        let ran = try CountingTool.run(["--objects", "2000"])

        let counts = try Self.counts(ran.lines)
        #expect(counts["syncsPerSavedInsert"] == 1)
        #expect(counts["syncsPerSavedUpdate"] == 1)
        // The object's values alone are over 90 bytes; the whole entry, hashed twice, would be over
        // 300.
        let digested = try #require(counts["digestedBytesPerSavedInsert"])
        #expect((100...300).contains(digested))
    }

    @Test func `what is counted is there to be counted`() throws {
        let ran = try CountingTool.run(["--objects", "2000"])

        // An interposed function that is never called would count nothing, and keep every bound.
        let counts = try Self.counts(ran.lines)
        for name in [
            "bytesOfFault", "bytesOfObject", "allocationsPerFault", "allocationsPerNewObject",
            "pagesPerSavedInsert", "writesPerSavedInsert", "digestsPerSavedInsert",
            "writtenBytesPerObjectOfALargeSave", "digestedBytesPerObjectOfALargeSave",
            "digestsPerLongSaveAtMost", "allocatedBytesPerEditAfterManySteps",
            "allocatedBytesPerUpdateAfterManySteps",
        ] {
            #expect(counts[name] ?? 0 > 0, "\(name) in \(counts)")
        }
    }

    @Test(arguments: [["--objects", "none"], ["--objects"], ["--fast"]])
    func `a mistyped command line is refused`(words: [String]) throws {
        let ran = try CountingTool.run(words)

        #expect(ran.ending == .exited(2))
        #expect(ran.lines.isEmpty)
        #expect(ran.talk.hasPrefix("error: "))
    }

    private static func counts(_ lines: [String]) throws -> [String: Double] {
        let text = lines.joined(separator: "\n")
        return try JSONDecoder().decode([String: Double].self, from: Data(text.utf8))
    }
}

/// The tool `daybook-counts`.
private enum CountingTool {
    /// Not with a C library other than glibc, nor under a sanitizer.
    static func canCount() throws -> Bool {
        try run(["--objects", "100"]).ending != .exited(3)
    }

    static func run(
        _ words: [String]
    ) throws -> (lines: [String], talk: String, ending: ChildProcess.Ending) {
        try ChildProcess.run(BuiltTool.url("daybook-counts"), words)
    }
}
