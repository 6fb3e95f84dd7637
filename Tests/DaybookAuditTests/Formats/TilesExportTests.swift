import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookAudit

@Suite struct TilesExportTests {
    private let key: SigningKey
    private let history: TemporaryStore
    private let folder: TemporaryDirectory

    init() throws {
        key = try SigningKey.random(name: "example.org/skills")
        history = try TemporaryStore(options: .counting(verification: .off))
        folder = try TemporaryDirectory()
    }

    private func grow(to size: UInt64, title: String = "Sailing") throws {
        while try history.store.head().rawValue < size {
            let skill = try history.store.newObject("Skill")
            try history.store.commit(
                SaveRequest(
                    header: EntryHeader(),
                    changes: [history.store.insert(skill, ["title": .string(title)])]))
        }
    }

    private func note(at size: UInt64? = nil) throws -> SignedNote {
        var note = try history.store.checkpoint(
            origin: key.verifierKey.name, at: size.map { SequenceNumber($0) }
        ).note
        try note.sign(with: key)
        return note
    }

    private func export(_ note: SignedNote) throws -> TilesExport {
        try TilesExport(AuditReader(history.store), into: folder.url, checkpoint: note)
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.url.appendingPathComponent(path)))
    }

    /// Every file with its bytes.
    private func files() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.url.path) {
            var isFolder: ObjCBool = false
            let place = folder.path(path)
            if FileManager.default.fileExists(atPath: place, isDirectory: &isFolder),
                !isFolder.boolValue
            {
                files[path] = try bytes(path)
            }
        }
        return files
    }

    /// The entries of a bundle.
    private func entries(_ path: String) throws -> [[UInt8]] {
        var rest = try bytes(path)[...]
        var entries: [[UInt8]] = []
        while let high = rest.popFirst(), let low = rest.popFirst() {
            let count = Int(high) << 8 | Int(low)
            entries.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return entries
    }

    @Test func `the folder holds the tiles that the standard asks for, and no others`() throws {
        try grow(to: 519)

        let summary = try export(note(at: 514)).write()

        #expect(
            try files().keys.sorted() == [
                "checkpoint", "tile/0/000", "tile/0/001", "tile/0/002.p/2", "tile/1/000.p/2",
                "tile/entries/000", "tile/entries/001", "tile/entries/002.p/2",
            ])
        #expect((summary.size, summary.previousSize) == (514, 0))
        #expect((summary.tiles, summary.bundles, summary.singleEntries) == (4, 3, 0))
    }

    @Test func `each hash is that of its entry, and a tile's root stands in the level above`()
        throws
    {
        try grow(to: 514)

        try export(note()).write()

        var sequence: UInt64 = 0
        for (tile, bundle) in [
            ("tile/0/000", "tile/entries/000"), ("tile/0/001", "tile/entries/001"),
            ("tile/0/002.p/2", "tile/entries/002.p/2"),
        ] {
            let hashes = try bytes(tile)
            for (index, entry) in try entries(bundle).enumerated() {
                sequence += 1
                let digest = Digest.of([0] + entry)
                #expect(Array(hashes[(32 * index)..<(32 * index + 32)]) == digest.bytes)
                #expect(try history.store.bytes(of: SequenceNumber(sequence)) == entry)
            }
        }
        #expect(sequence == 514)
        let above = try bytes("tile/1/000.p/2")
        for size: UInt64 in [256] {
            let root = try history.store.checkpoint(origin: "o", at: SequenceNumber(size)).root
            #expect(Array(above.prefix(32)) == root.bytes)
        }
    }

    @Test func `an export under a later checkpoint only adds`() throws {
        try grow(to: 300)
        try export(note()).write()
        let before = try files()
        try grow(to: 600)

        let summary = try export(note()).write()

        let after = try files()
        for (path, bytes) in before where path != "checkpoint" {
            #expect(after[path] == bytes, "\(path)")
        }
        #expect(after["checkpoint"] != before["checkpoint"])
        #expect(summary.previousSize == 300)
        // Of 0, 1 and 2: the first is unchanged.
        #expect(summary.bundles == 2)
        #expect(after["tile/entries/001"]?.isEmpty == false)
        #expect(after["tile/entries/002.p/88"]?.isEmpty == false)
    }

    @Test func `an export that was stopped before its checkpoint is made whole by another`() throws
    {
        try grow(to: 300)
        try export(note()).write()
        let whole = try files()
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent("checkpoint"))
        try Data([1]).write(to: folder.url.appendingPathComponent("tile/0/000"))

        try export(note()).write()

        #expect(try files() == whole)
    }

    @Test func `exporting the same checkpoint twice changes nothing`() throws {
        try grow(to: 260)
        let note = try note()
        try export(note).write()
        let before = try files()

        let summary = try export(note).write()

        #expect(try files() == before)
        #expect(summary.previousSize == 260)
    }

    @Test func `an entry too long for a bundle stands alone, and its neighbours too`() throws {
        try grow(to: 4)
        try grow(to: 5, title: String(repeating: "x", count: 70_000))
        try grow(to: 7)

        let summary = try export(note()).write()

        #expect(summary.singleEntries == 7)
        #expect(summary.bundles == 0)
        for number in 0..<7 {
            let entry = try bytes("entry/00\(number)")
            #expect(try history.store.bytes(of: SequenceNumber(UInt64(number + 1))) == entry)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("tile/entries")))
    }

    @Test func `numbers are written in groups of three digits`() throws {
        #expect(TilesExport.path(0) == "000")
        #expect(TilesExport.path(999) == "999")
        #expect(TilesExport.path(1_000) == "x001/000")
        #expect(TilesExport.path(1_234_067) == "x001/x234/067")
    }

    @Test func `a checkpoint of another journal is refused before anything is written`() throws {
        try grow(to: 3)
        var other = Checkpoint(origin: key.verifierKey.name, size: 3, root: .of([1])).note
        try other.sign(with: key)
        var later = Checkpoint(origin: key.verifierKey.name, size: 4, root: .of([1])).note
        try later.sign(with: key)

        for note in [other, later] {
            let error = #expect(throws: ProofError.self) { try export(note) }
            #expect(error?.code == .mismatch)
        }
        #expect(try files().isEmpty)
    }

    @Test func `a folder of more entries, of another name or of another journal is left alone`()
        throws
    {
        try grow(to: 9)
        try export(note()).write()
        let before = try files()
        let renamed = try SigningKey.random(name: "example.org/other")
        var other = try history.store.checkpoint(origin: renamed.verifierKey.name).note
        try other.sign(with: renamed)

        let smaller = #expect(throws: ProofError.self) { try export(note(at: 8)).write() }
        let foreign = #expect(throws: ProofError.self) { try export(other).write() }

        #expect(smaller?.message.contains("covers 9 entries, and the checkpoint 8") == true)
        #expect(foreign?.message.contains("belongs to the journal 'example.org/skills'") == true)
        #expect(try files() == before)
    }

    @Test func `a folder whose checkpoint is garbage is left alone`() throws {
        try grow(to: 3)
        try Data([0xFF, 0xFE]).write(to: folder.url.appendingPathComponent("checkpoint"))

        let error = #expect(throws: ProofError.self) { try export(note()).write() }

        #expect(error?.code == .malformed)
        #expect(try files() == ["checkpoint": [0xFF, 0xFE]])
    }
}
