import DaybookJournalLog
import DaybookObjectModel
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Copies of a shared store that were not brought to the disk before the system ended.
@Suite struct RenewingTests {
    let server = ScriptedServer()
    let ada: SharedNode

    init() throws {
        ada = try SharedNode.first("ada", of: server)
    }

    private var mark: String { ada.path + "-unsynced" }

    /// Leaves the file as a crash of the system may: with some of its pages, and its mark.
    private func crash(origin: String = "scripted") throws {
        try ada.close()
        let handle = try FileHandle(forUpdating: URL(filePath: ada.path))
        let length = try handle.seekToEnd()
        for page in stride(from: UInt64(2 * 4_096), to: length, by: 3 * 4_096) {
            try handle.seek(toOffset: page)
            try handle.write(contentsOf: Data(count: 4_096))
        }
        try handle.close()
        try Data("daybook unsynced 1\nan earlier run\n\(origin)\n\(try inode())\n".utf8)
            .write(to: URL(filePath: mark))
    }

    private func inode() throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: ada.path)
        return try #require((attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }

    @Test func `a copy has its mark while it is written, and none after it was closed`() throws {
        try ada.close()
        #expect(!FileManager.default.fileExists(atPath: mark))
        try ada.add("Sailing")
        let text = try String(contentsOfFile: mark, encoding: .utf8)
        let run = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #expect(text == "daybook unsynced 1\n\(run)scripted\n\(try inode())\n")

        try ada.close()
        #expect(!FileManager.default.fileExists(atPath: mark))
        #expect(try ada.titles() == ["Sailing"])
    }

    @Test func `a copy that was being written when the system ended is cloned anew`() throws {
        try ada.add("Sailing")
        try ada.store.setTag("first")
        try ada.store.setCursor("mail", to: SequenceNumber(2))
        try crash()

        #expect(try ada.titles() == ["Sailing"])
        #expect(try ada.store.tags().map(\.name) == ["first"])
        #expect(try ada.store.position(ofCursor: "mail") == SequenceNumber(2))
        #expect(try ada.store.verify().findings.isEmpty)
        try ada.add("Rowing")
        try ada.close()
        #expect(!FileManager.default.fileExists(atPath: mark))
        #expect(try ada.titles() == ["Rowing", "Sailing"])
    }

    @Test func `the mark of a process that was ended is no reason to clone`() throws {
        try ada.add("Sailing")
        let node = try ada.store.link()?.node
        let text = try String(contentsOfFile: mark, encoding: .utf8)
        try ada.close()
        try text.write(toFile: mark, atomically: true, encoding: .utf8)

        #expect(try ada.store.link()?.node == node)
        #expect(try ada.titles() == ["Sailing"])
    }

    @Test func `a mark that is damaged is not believed`() throws {
        try ada.add("Sailing")
        let node = try ada.store.link()?.node
        try crash()
        try Data("daybook uns".utf8).write(to: URL(filePath: mark))

        #expect(try ada.titles() == ["Sailing"])
        #expect(try ada.store.link()?.node != node)
    }

    @Test func `without servers, or without its link, such a copy is refused and left alone`()
        throws
    {
        try ada.add("Sailing")
        try crash()
        let bytes = try Data(contentsOf: URL(filePath: ada.path))
        server.condition = .failing(.unreachable)

        #expect(throws: StoreError.self) { try ada.store }
        for isReadOnly in [true, false] {
            var options = ada.options(linked: false)
            options.isReadOnly = isReadOnly
            let refusal = #expect(throws: StoreError.self) {
                try TestStore.open(at: ada.path, options: options)
            }
            #expect(refusal?.code == .corrupt)
            #expect(refusal?.message.contains("'scripted'") == true)
        }
        #expect(try Data(contentsOf: URL(filePath: ada.path)) == bytes)

        server.condition = .serving
        #expect(try ada.titles() == ["Sailing"])
    }

    @Test func `a copy of another place is not cloned over`() throws {
        try ada.add("Sailing")
        try crash(origin: "elsewhere")

        let refusal = #expect(throws: StoreError.self) { try ada.store }
        #expect(refusal?.code == .unreachable)
        #expect(refusal?.message.contains("'elsewhere'") == true)
    }

    @Test func `a file that is taken away from its store is brought to the disk`() throws {
        try ada.add("Sailing")
        let text = try String(contentsOfFile: mark, encoding: .utf8)
        try ada.close()
        try text.write(toFile: mark, atomically: true, encoding: .utf8)

        let store = try TestStore.open(at: ada.path, options: ada.options(linked: false))
        try store.unlink()

        // While it is still open: what is saved now is nowhere else.
        #expect(!FileManager.default.fileExists(atPath: mark))
        try store.close()
    }

    @Test func `many that open such a copy at once make it anew once`() async throws {
        try ada.add("Sailing")
        try crash()

        let heads = try await withThrowingTaskGroup(of: SequenceNumber.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let store = try TestStore.open(at: ada.path, options: ada.options())
                    defer { store.closeQuietly() }
                    return try store.head()
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }

        #expect(heads == [SequenceNumber(2)])
        #expect(try ada.store.verify().findings.isEmpty)
    }
}
