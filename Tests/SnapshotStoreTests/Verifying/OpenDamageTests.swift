import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Open stores whose pages are damaged: what can be checked is checked.
struct OpenDamageTests {
    private static let pageSize = 4_096

    /// A copy of a file with one page overwritten.
    private func damage(page: Int, of bytes: Data, at path: String) throws {
        var bytes = bytes
        let place = page * Self.pageSize
        bytes.replaceSubrange(
            place..<place + Self.pageSize, with: Data(repeating: 0xA5, count: Self.pageSize))
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test func `whichever page is damaged, an open store tells it and checks the rest`() throws {
        let history = try RandomHistory(seed: 33, entries: 90)
        let head = try history.store.headDigest()
        try history.store.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: history.temporary.path))
        let directory = try TemporaryDirectory()
        let path = directory.path("damaged.daybook")
        var counts = (told: 0, whole: 0)

        for page in 2..<bytes.count / Self.pageSize {
            try damage(page: page, of: bytes, at: path)
            let isInUse = try Store.verify(path: path).findings.contains { $0.kind == .page }
            let store: Store
            do {
                store = try TestStore.open(at: path)
            } catch let error as StoreError where error.code == .corrupt {
                continue
            }
            let report = try store.verify()
            try store.close()
            guard isInUse else {
                #expect(report.isSound, "page \(page): \(report.findings)")
                continue
            }
            // The list of free pages is none that is read.
            if report.isSound { continue }
            counts.told += 1
            #expect(!report.findings.isEmpty, "page \(page)")
            #expect(
                Set(report.findings.map(\.message)).count == report.findings.count, "page \(page)")
            let isJournalSound = !report.findings.contains { $0.place == "journal" }
            if isJournalSound, report.headDigest == head { counts.whole += 1 }
        }

        #expect(counts.told > 10)
        #expect(counts.whole > 5)
    }

    @Test func `a damaged page of one table keeps no other table from being compared`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skills = try (0..<300).map { _ in try store.newObject("Skill") }
        try store.commit(
            SaveRequest(changes: skills.map { store.insert($0, ["title": .string("Sailing")]) }))
        let checkpoint = try store.checkpoint(origin: "example.org/skills")
        try store.close()
        let path = temporary.path
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        var messages: Set<String> = []
        for page in 2..<bytes.count / Self.pageSize {
            try damage(page: page, of: bytes, at: path)
            let findings = try Store.verify(path: path).findings
            guard findings.contains(where: { $0.message.contains("'rows'") }) else { continue }
            let open = try TestStore.open(at: path)
            let report = try open.verify(checkpoint: checkpoint)
            try open.close()
            let found = report.findings.filter { $0.kind == .page }
            #expect(!found.isEmpty)
            #expect(report.isCheckpointCompared && report.flaw == nil)
            #expect(report.recordsCompared > 0)
            #expect(report.gaps.contains { $0.contains("The table 'rows'") }, "\(report.gaps)")
            messages.formUnion(found.map(\.message))
        }
        #expect(messages.count > 1)
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
