import CDaybookLMDB
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// Reads of a file that is not in memory; where the file system is memory, there are none.
@Suite(.enabled(if: SystemCache.canDrop)) struct ColdReadTests {
    private static let leaves = 3_000
    private let directory: TemporaryDirectory
    private let path: String
    private let options: EnvironmentOptions

    /// Three records fit on a leaf.
    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("file")
        var options = EnvironmentOptions(tables: ["rows"], durability: .relaxed)
        options.checkedTables = ["rows"]
        self.options = options
        let environment = try Environment.open(at: path, options: options)
        let table = try environment.table("rows")
        let value = [UInt8](repeating: 7, count: 1_200)
        try environment.write { transaction in
            for number in 0..<UInt32(3 * Self.leaves) {
                let key = withUnsafeBytes(of: number.bigEndian) { Array($0) }
                try transaction.put(table, key.span.bytes, value.span.bytes, .append)
            }
        }
    }

    /// Drops what the system keeps of the file, which is closed.
    private func drop() throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.synchronize()
        #expect(posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED) == 0)
        try file.close()
    }

    /// How often this thread waits for the disk while records are walked.
    private func waits(_ order: ScanOrder, of records: Int) throws -> Int {
        try drop()
        let environment = try Environment.open(at: path, options: options)
        let table = try environment.table("rows")
        let first: [UInt8] = []
        var found = 0
        var waits = 0
        try environment.read { transaction in
            let before = daybook_waits_of_thread()
            try transaction.scan(table, from: first.span.bytes, to: nil, order: order) { _, _ in
                found += 1
                return found < records ? .proceed : .stop
            }
            waits = daybook_waits_of_thread() - before
        }
        #expect(found == records)
        return waits
    }

    @Test(arguments: [ScanOrder.ascending, .descending])
    func `a walk asks for the leaves that it comes to`(order: ScanOrder) throws {
        let waits = try waits(order, of: 3 * Self.leaves)

        // The first leaves, the branch pages, and a leaf before each one hundred at most.
        #expect(waits >= 1, "Nothing was dropped: the test says nothing.")
        #expect(waits < Self.leaves / 20)
    }

    @Test func `a walk that soon ends reads no more than it looks at`() throws {
        let waits = try waits(.ascending, of: 1)

        #expect(waits <= 8)
        let resident = try SystemCache.residentPages(of: path)
        #expect(resident < Self.leaves / 4)
    }
}

/// What the system keeps of files.
enum SystemCache {
    /// Whether the system drops what it keeps of a file when it is asked to.
    static let canDrop: Bool = {
        do {
            let directory = try TemporaryDirectory()
            let file = try filled(directory.path("probe"))
            guard fsync(file.fileDescriptor) == 0,
                posix_fadvise(file.fileDescriptor, 0, 0, POSIX_FADV_DONTNEED) == 0
            else { return false }
            return try residentPages(of: directory.path("probe")) == 0
        } catch {
            return false
        }
    }()

    private static func filled(_ path: String) throws -> FileHandle {
        try Data(repeating: 1, count: 1 << 16).write(to: URL(fileURLWithPath: path))
        return try FileHandle(forUpdating: URL(fileURLWithPath: path))
    }

    /// The number of the file's pages that the system keeps.
    static func residentPages(of path: String) throws -> Int {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let length = Int(try file.seekToEnd())
        guard
            let start = mmap(nil, length, PROT_READ, MAP_SHARED, file.fileDescriptor, 0),
            start != MAP_FAILED
        else { throw PageFault(page: nil, what: "it cannot be mapped") }
        defer { munmap(start, length) }
        var pages = [UInt8](repeating: 0, count: (length + 4_095) / 4_096)
        #expect(mincore(start, length, &pages) == 0)
        return pages.count { $0 & 1 == 1 }
    }
}
