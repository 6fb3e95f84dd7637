import Foundation
import TestSupport
import Testing

/// Bounds on what Daybook asks of memory, disk and digests, which no busy machine can spoil.
///
/// They are what the code needed when they were set and a little more. Who needs less lowers them; who
/// needs more says in the reason what for.
@Suite struct CountTests {
    /// A count, the most that it may be, and what makes it up.
    struct Bound: Sendable, CustomTestStringConvertible {
        let count: String
        let maximum: Double
        let reason: String

        init(_ count: String, _ maximum: Double, _ reason: String) {
            self.count = count
            self.maximum = maximum
            self.reason = reason
        }

        var testDescription: String { "\(count) ≤ \(maximum)" }
    }

    static let bounds: [Bound] = []

    @Test(arguments: bounds)
    func `a count stays within its bound`(bound: Bound) throws {
        let counts = try #require(try Self.counted.get(), "Nothing can be counted in this build.")

        let count = try #require(counts[bound.count], "'\(bound.count)' is not counted.")

        #expect(count <= bound.maximum, "\(bound.count): \(bound.reason)")
    }

    @Test func `every count has a bound`() throws {
        let counts = try #require(try Self.counted.get(), "Nothing can be counted in this build.")

        #expect(Set(counts.keys) == Set(Self.bounds.map(\.count)))
    }

    @Test func `a number or text of an object that has been read is read without allocating`()
        throws
    {
        let counts = try #require(try Self.counted.get(), "Nothing can be counted in this build.")

        #expect(counts["allocationsPerNumberRead"] == 0)
        #expect(counts["allocationsPerShortTextRead"] == 0)
    }

    @Test func `a save waits for the disk once`() throws {
        let counts = try #require(try Self.counted.get(), "Nothing can be counted in this build.")

        #expect(counts["syncsPerSavedInsert"] == 1)
        #expect(counts["syncsPerSavedUpdate"] == 1)
    }

    @Test(arguments: [["--objects", "none"], ["--objects"], ["--fast"]])
    func `a mistyped command line is refused`(words: [String]) throws {
        let ran = try ChildProcess.run(BuiltTool.url("daybook-counts"), words)

        #expect(ran.ending == .exited(2))
        #expect(ran.lines.isEmpty)
        #expect(ran.talk.hasPrefix("error: "))
    }

    /// Counted once for all tests; nil where nothing is counted.
    private static let counted = Result { () throws -> [String: Double]? in
        let ran = try ChildProcess.run(
            BuiltTool.url("daybook-counts"), ["--objects", "2000"])
        if ran.ending == .exited(3) { return nil }
        try #require(ran.ending == .exited(0), "\(ran.talk)")
        let text = ran.lines.joined(separator: "\n")
        return try JSONDecoder().decode([String: Double].self, from: Data(text.utf8))
    }
}
