import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// What is recovered of files that end too early, and of what is no file.
struct CutFileTests {
    private let directory: TemporaryDirectory
    private let sound: String
    private let damaged: String
    private let new: String

    init() throws {
        directory = try TemporaryDirectory()
        sound = directory.path("sound.daybook")
        damaged = directory.path("damaged.daybook")
        new = directory.path("new.daybook")
    }

    @Test func `a store that was cut behind all that it has is recovered as it was`() throws {
        try DamageSample.make(at: sound, entries: 66)
        try DamagedFile.mark(sound)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        // Each state says at byte 136 which page is the last: one more than there are.
        let pages = bytes.count / 4_096
        for page in [0, 4_096] {
            bytes.replaceSubrange(page + 136..<page + 144, with: DamagedFile.little(pages, 8))
        }
        try bytes.write(to: URL(fileURLWithPath: damaged))
        let refusal = #expect(throws: StoreError.self) { try Store.open(at: damaged) }
        #expect(refusal?.code == .truncated)

        let recovery = try Store.recover(from: damaged, into: new)

        #expect(recovery.isComplete && recovery.said == SequenceNumber(66))
        #expect(try DamagedFile.entries(of: new) == DamagedFile.entries(of: sound))
        #expect(try DamagedFile.marks(new) == DamagedFile.marks(sound))
        #expect(
            try DamagedFile.reading(new) { [$0.uuid.uuidString, "\($0.createdAt)"] }
                == DamagedFile.reading(sound) { [$0.uuid.uuidString, "\($0.createdAt)"] })
    }

    @Test func `what is left of a store that was cut anywhere is told as it is`() throws {
        try DamageSample.make(at: sound, entries: 66)
        try DamagedFile.mark(sound)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
        let entries = try DamagedFile.entries(of: sound)
        let tags = Set(try DamagedFile.reading(sound) { try $0.tags() })
        var counts = (marked: 0, said: 0)

        for length in stride(from: bytes.count - 1, to: 2 * 4_096, by: -3_000) {
            try bytes.prefix(length).write(to: URL(fileURLWithPath: damaged))
            let recovery: Recovery
            do {
                recovery = try Store.recover(from: damaged, into: new)
            } catch let error as StoreError {
                #expect([.corrupt, .notAStore].contains(error.code), "\(length): \(error)")
                continue
            }
            let found = try DamagedFile.entries(of: new)
            let unchanged = Int(recovery.unchanged.rawValue)
            #expect(found.prefix(unchanged) == entries.prefix(unchanged), "\(length)")
            if let said = recovery.said {
                counts.said += 1
                #expect(said == SequenceNumber(66), "\(length)")
                #expect(recovery.last == said || !recovery.missing.isEmpty, "\(length)")
            }
            if recovery.hasMarks, recovery.lostMarks.isEmpty {
                counts.marked += 1
                let kept = Set(
                    try DamagedFile.reading(new) { try $0.tags() }.filter { $0.name != "recovered" }
                )
                #expect(
                    kept.isSuperset(of: tags.filter { $0.sequence <= recovery.unchanged }),
                    "\(length)")
                #expect(
                    try DamagedFile.reading(new) { try $0.userValues() } == ["a": .int(7)],
                    "\(length)")
            }
            #expect(try Store.verify(path: new).isSound, "\(length)")
            try Store.remove(at: new)
        }
        #expect(counts.marked > 0 && counts.said > 0)
    }

    @Test func `what has no end, and what is no file, is refused`() throws {
        for path in ["/dev/zero", "/dev/null", directory.url.path] {
            let error = #expect(throws: StoreError.self) {
                try Store.recover(from: path, into: new)
            }
            #expect(error?.code == .notAStore)
            #expect(error?.message.hasPrefix("'\(path)' is not a Daybook store") == true)
            #expect(!FileManager.default.fileExists(atPath: new))
        }
    }
}
