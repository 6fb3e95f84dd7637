import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookLMDB

/// What uses the pages of a file, however long it says it is.
@Suite struct PageUsesTests {
    @Test func `pages far apart take little memory`() {
        var uses = PageUses()
        let pages = [0, 31, 32, 65_535, 65_536, 1 << 40, 1 << 54]
        for (index, page) in pages.enumerated() {
            uses.set(page, index % 2 == 0 ? .inTree : .free)
        }

        for (index, page) in pages.enumerated() {
            #expect(uses[page] == (index % 2 == 0 ? .inTree : .free))
            #expect(pages.contains(page + 1) || uses[page + 1] == .none)
        }
        #expect(uses.count == pages.count)
        #expect(uses.byteCount < 1 << 20)
    }

    /// A file of two first pages, whose newest state has a last page, and a free list of one leaf.
    private static func write(_ path: String, lastPage: UInt64, freeList leaf: [UInt8]) throws {
        var bytes = [UInt8](repeating: 0, count: 3 * 4_096)
        func put(_ number: UInt64, _ count: Int, at place: Int) {
            for index in 0..<count {
                bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
            }
        }
        for page in [0, 1] {
            let start = page * 4_096
            put(UInt64(page), 8, at: start)
            put(UInt64(FileFormat.metaPage), 2, at: start + FileFormat.pageFlagsOffset)
            put(UInt64(FileFormat.magic), 4, at: start + FileFormat.magicOffset)
            put(1, 4, at: start + FileFormat.versionOffset)
            put(FileFormat.mapSizeMaximum, 8, at: start + FileFormat.mapSizeOffset)
            let free = start + FileFormat.freeRecordOffset
            put(4_096, 4, at: free)
            put(UInt64(FileFormat.integerKeys), 2, at: free + 4)
            // Of depth 1, with one leaf and one record; the pages of its value are not counted here.
            put(1, 2, at: free + 6)
            put(1, 8, at: free + 16)
            put(1, 8, at: free + 32)
            put(2, 8, at: free + 40)
            put(FileFormat.noPage, 8, at: start + FileFormat.mainRecordOffset + 40)
            put(lastPage, 8, at: start + FileFormat.lastPageOffset)
            put(UInt64(page), 8, at: start + FileFormat.transactionOffset)
        }
        bytes.replaceSubrange(2 * 4_096..<3 * 4_096, with: leaf)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: (lastPage + 1) * 4_096)
        try file.close()
    }

    /// Page 2: a record of transaction 1 on pages of its own, from page 3 on.
    private static func freeList(valueSize: UInt64) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: 4_096)
        func put(_ number: UInt64, _ count: Int, at place: Int) {
            for index in 0..<count {
                page[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index))
            }
        }
        let node = 4_096 - 24
        put(2, 8, at: 0)
        put(UInt64(FileFormat.leafPage), 2, at: FileFormat.pageFlagsOffset)
        put(18, 2, at: FileFormat.pageLowerOffset)
        put(UInt64(node), 2, at: FileFormat.pageUpperOffset)
        put(UInt64(node), 2, at: FileFormat.pageHeaderSize)
        put(valueSize, 4, at: node)
        put(UInt64(FileFormat.nodeOverflow), 2, at: node + 4)
        put(8, 2, at: node + 6)
        put(1, 8, at: node + 8)
        put(3, 8, at: node + 16)
        return page
    }

    /// The whole file is a hole, and so is the record of its free list, which would be read as a whole.
    @Test func `a file that is a hole of eight terabytes is checked in little memory`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.path("file")
            let count: UInt64 = (1 << 29) - 2
            try Self.write(
                path, lastPage: 1 << 31, freeList: Self.freeList(valueSize: (count + 1) * 8))
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            // The header of the value: page 3, the first of 2²⁰ + 1; and how many numbers it has.
            try file.seek(toOffset: 3 * 4_096)
            try file.write(
                contentsOf: Data([3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 16, 0])
                    + withUnsafeBytes(of: count.littleEndian) { Data($0) })
            try file.close()
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let taken = try #require(pages.split(separator: " ").first.flatMap { UInt64($0) })
            var room = rlimit()
            getrlimit(addressSpace, &room)
            room.rlim_cur = rlim_t(taken * 4_096 + 1 << 29)
            setrlimit(addressSpace, &room)

            let findings = try PageCheck.run(path: path)

            // None of the numbers in the hole is that of a page.
            #expect(findings.filter { $0.message.contains("names page 0") }.count == 100)
            #expect(findings.contains { $0.message.contains("which were not looked at") })
            #expect(findings.count < 110)
        }
    }
}

#if canImport(Glibc)
private let addressSpace = __rlimit_resource_t(UInt32(RLIMIT_AS.rawValue))
#else
private let addressSpace = RLIMIT_AS
#endif
