import DaybookJournalLog
import DaybookLMDB
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// A store kept as a fixture, and the reports on damage to it.
struct CorruptFixtureTests {
    private static let name = "corrupt/sample.daybook"
    private static let file = Fixture.folder.appending(path: name)

    private static func makeFixtureIfAsked() throws {
        guard ProcessInfo.processInfo.environment["RECORD_FIXTURES"] == "1" else { return }
        let directory = try TemporaryDirectory()
        let path = directory.path("sample.daybook")
        try DamageSample.make(at: path)
        let compact = directory.path("compact.daybook")
        try Environment.open(at: path, options: EnvironmentOptions(create: false))
            .copy(to: compact, compacting: true)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(contentsOf: URL(fileURLWithPath: compact)).write(to: file)
        Issue.record("'\(name)' was recorded.")
    }

    @Test func `a store written earlier reads as one written today, and damage to it is told`()
        throws
    {
        try Self.makeFixtureIfAsked()
        let directory = try TemporaryDirectory()
        let today = directory.path("today.daybook")
        try DamageSample.make(at: today)
        let path = directory.path("earlier.daybook")
        let bytes = try Fixture.data(Self.name)
        try bytes.write(to: URL(fileURLWithPath: path))

        let earlier = try DamageSample.readContent(path)

        #expect(try earlier == DamageSample.readContent(today))
        let sound = try ChildProcess.run(BuiltTool.daybook, ["verify", path])
        #expect(sound.ending == .exited(0), "\(sound)")
        var reports = ""
        for damage in Self.damages(of: bytes) {
            var flipped = bytes
            flipped[damage.offset] ^= 1
            try flipped.write(to: URL(fileURLWithPath: path))
            let ran = try ChildProcess.run(BuiltTool.daybook, ["verify", path])
            // Unused bytes may change: the older first page, and room left by deletes.
            if ran.ending == .exited(0) {
                #expect(try DamageSample.readContent(path) == earlier, "\(damage)")
            } else {
                #expect(ran.ending == .exited(3), "\(damage)")
            }
            reports += "\(damage.name), byte \(damage.offset)\n"
            let said = ran.lines.isEmpty ? [String(ran.talk.dropLast())] : ran.lines
            for line in said {
                reports += "    \(line.replacing(path, with: "STORE"))\n"
            }
        }
        try Fixture.expect(Data(reports.utf8), equals: "corrupt/reports.txt")
    }

    /// Offsets of every kind: first pages, page headers, and each copy of some texts.
    private static func damages(of bytes: Data) -> [(name: String, offset: Int)] {
        let fields = [
            ("magic number", 16), ("format version", 20), ("map size", 38), ("page size", 41),
            ("depth of the table of tables", 94), ("root of the table of tables", 128),
            ("last page", 136), ("transaction", 144),
        ]
        var damages = [0, 4_096].flatMap { page in
            fields.map { ("\($0.0) of page \(page / 4_096)", page + $0.1) }
        }
        for page in stride(from: 2, to: bytes.count / 4_096, by: 4) {
            damages.append(("flags of page \(page)", page * 4_096 + 10))
            damages.append(("number of page \(page)", page * 4_096))
        }
        for text in ["Augusta", "Sailing", "registrar", "createdAt"] {
            var rest = bytes.startIndex..<bytes.endIndex
            while let found = bytes.range(of: Data(text.utf8), in: rest) {
                damages.append(("text '\(text)'", found.lowerBound + 2))
                rest = found.upperBound..<bytes.endIndex
            }
        }
        return damages
    }
}
