import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Flips bytes of a store and compares reading it with the result of `verify`.
///
/// All of it happens in another process, so that damage that ends a process is a failure of one
/// byte and not the end of the tests.
struct DamageTests {
    /// The number of bytes that each part tries; `DAYBOOK_FLIPS` sets another number, or `all`.
    private static let sampleCount = 500
    private static let parts = 2

    @Test(arguments: 0..<parts)
    func `a flipped byte that changes what is read is found and its place named`(
        part: Int
    ) async throws {
        let directory = try TemporaryDirectory()
        let sound = directory.path("sound.daybook")
        // Enough that some times are in a table, and some only in the journal.
        try DamageSample.make(at: sound, entries: 66)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let seed = TestSeed.value &+ UInt64(part)
        var flips = Self.flips(of: bytes, part: part, seed: seed)
        let count = flips.count
        var found = 0
        var problems: [String] = []

        // Each child continues after the byte that ended the one before.
        while !flips.isEmpty, problems.count < 20 {
            let task = DamageTask(folder: directory.url.path, sound: sound, flips: flips)
            try task.save()
            await #expect(processExitsWith: .success) { [folder = directory.url.path as String] in
                try DamageTask.load(folder).run()
            }
            let report = try task.report()
            problems += report.problems
            found += report.found
            if report.done < flips.count {
                problems.append("\(flips[report.done]) stops the program")
            }
            flips.removeFirst(min(report.done + 1, flips.count))
        }

        #expect(found > count / 20, "seed \(seed): of \(count) flips \(found) were found")
        #expect(problems.isEmpty, "seed \(seed), \(problems.count): \(problems.prefix(8))")
    }

    private static func flips(of bytes: Data, part: Int, seed: UInt64) -> [Flip] {
        var generator = SeededGenerator(seed: seed)
        let wish = ProcessInfo.processInfo.environment["DAYBOOK_FLIPS"]
        if wish == "all" {
            return stride(from: part, to: bytes.count, by: parts).map { Flip($0, &generator) }
        }
        let count = wish.flatMap { Int($0) } ?? sampleCount
        let sample = (0..<count).map { _ in
            // Unused room is mostly zeros, and of no interest.
            let places = (0..<3).map { _ in Int.random(in: bytes.indices, using: &generator) }
            return Flip(places.first { bytes[$0] != 0 } ?? places[0], &generator)
        }
        return sample + Flip.firstPages.filter { $0.offset % parts == part }
    }
}

/// One byte to change.
struct Flip: Codable, Sendable, CustomStringConvertible {
    let offset: Int
    let mask: UInt8

    /// A change of one bit, or of all, at an offset.
    init(_ offset: Int, _ generator: inout SeededGenerator) {
        self.offset = offset
        let kind = Int.random(in: 0...9, using: &generator)
        mask = kind < 8 ? 1 << UInt8(kind) : kind == 8 ? 0xff : 0x03
    }

    private init(offset: Int, mask: UInt8) {
        self.offset = offset
        self.mask = mask
    }

    /// Each byte of the two meta pages, in its lowest bits.
    static let firstPages: [Flip] = [0, 4_096].flatMap { page in
        (0..<152).map { Flip(offset: page + $0, mask: $0 % 3 == 0 ? 1 : 2) }
    }

    var description: String {
        "byte \(offset) (page \(offset / 4_096), \(offset % 4_096)) ^ \(mask)"
    }
}

/// The task of one child, passed in files.
struct DamageTask: Codable, Sendable {
    let folder: String
    let sound: String
    let flips: [Flip]

    /// The progress and the findings of a child.
    struct Report {
        var done = 0
        var found = 0
        var problems: [String] = []
    }

    private static let found = "found"

    func save() throws {
        try Data().write(to: URL(fileURLWithPath: folder + "/log"))
        try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: folder + "/task"))
    }

    static func load(_ folder: String) throws -> DamageTask {
        try JSONDecoder().decode(
            DamageTask.self, from: try Data(contentsOf: URL(fileURLWithPath: folder + "/task")))
    }

    /// The output of the child: a line for each finished byte.
    func report() throws -> Report {
        let text = try String(contentsOfFile: folder + "/log", encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return Report(
            done: lines.count, found: lines.count { $0 == Self.found },
            problems: lines.filter { !$0.isEmpty && $0 != Self.found }.map(String.init))
    }

    /// Flips byte after byte in a copy.
    func run() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let expected = try DamageSample.read(sound)
        let path = folder + "/flipped.daybook"
        try Data().write(to: URL(fileURLWithPath: folder + "/log"))
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: folder + "/log"))
        for flip in flips {
            var flipped = bytes
            flipped[flip.offset] ^= flip.mask
            try flipped.write(to: URL(fileURLWithPath: path))
            let problem = try problem(with: flip, at: path, expected)
            try log.write(contentsOf: Data((problem ?? "").utf8 + [UInt8(ascii: "\n")]))
        }
    }

    /// The fault in the treatment of a flipped byte; nil for none.
    private func problem(
        with flip: Flip, at path: String, _ expected: String
    ) throws -> String? {
        let report: VerifyReport
        do {
            report = try Store.verify(path: path)
        } catch let error as StoreError {
            return error.message.contains("\n") ? "\(flip): \(error)".oneLine : Self.found
        }
        if report.findings.contains(where: \.place.isEmpty) { return "\(flip): no place" }
        // A byte that is found need not be readable; one that is not found must read as before.
        if !report.findings.isEmpty { return Self.found }
        if !report.isSound { return "\(flip): only gaps" }
        do {
            let found = try DamageSample.read(path)
            if found == expected { return nil }
            let lines = zip(found.split(separator: "\n"), expected.split(separator: "\n"))
            let line = lines.first { $0 != $1 }.map { "\($0) instead of \($1)" }
            return "\(flip): reads differently, and verify is silent: \(line ?? "")".oneLine
        } catch {
            return "\(flip): cannot be read (\(error)), and verify is silent".oneLine
        }
    }
}

extension String {
    fileprivate var oneLine: String { replacing("\n", with: " ") }
}
