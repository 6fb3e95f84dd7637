import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// The number of the journal's root page in LMDB, changed to that of any other page.
struct WrongRootTests {
    private static func makeStore(at path: String) throws {
        let store = try Store.create(
            at: path, model: .sample, options: .counting(verification: .off))
        for number in 2...501 {
            let skill = try store.newObject("Skill")
            try store.commit(
                SaveRequest(changes: [store.insert(skill, ["title": .string("Skill \(number)")])]))
        }
        try store.close()
    }

    @Test func `with a wrong journal root log never prints fewer entries with status 0`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("store.daybook")
        try Self.makeStore(at: path)
        let whole = try ChildProcess.run(BuiltTool.daybook, ["log", path, "--oneline"])
        #expect(whole.ending == .exited(0) && whole.lines.count == 501)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let pages = Pages(bytes)
        let record = try #require(pages.journalRecord)
        let roots = pages.trees.filter { $0.root != record.root }
        try #require(roots.count > 20)

        var refused = 0
        for tree in roots {
            var changed = bytes
            changed.setNumber(tree.root, at: record.offset + 40)
            changed.setNumber(UInt16(tree.depth), at: record.offset + 6)
            try changed.write(to: URL(fileURLWithPath: path))
            let ran = try ChildProcess.run(BuiltTool.daybook, ["log", path, "--oneline"])
            if ran.ending == .exited(0) {
                #expect(ran.lines == whole.lines, "page \(tree.root)")
            } else {
                #expect(ran.ending == .exited(3), "page \(tree.root): \(ran.talk)")
                #expect(ran.talk.contains("'daybook verify'"), "page \(tree.root): \(ran.talk)")
                refused += 1
            }
        }

        #expect(refused == roots.count)
    }
}

/// The pages of an LMDB file that was read into memory (`mdb.c`: `MDB_page`, `MDB_meta`, `MDB_node`).
private struct Pages {
    private static let size = 4_096
    private let bytes: Data

    init(_ bytes: Data) {
        self.bytes = bytes
    }

    /// The offset of the record of the journal's table and its root.
    var journalRecord: (offset: Int, root: UInt64)? {
        let metas = [0, Self.size].map { (root: $0 + 128, transaction: $0 + 144) }
        let newest = metas.max {
            let left: UInt64 = bytes.number(at: $0.transaction)
            return left < bytes.number(at: $1.transaction)
        }
        guard let newest else { return nil }
        let root: UInt64 = bytes.number(at: newest.root)
        let page = Int(root) * Self.size
        let name = Data("journal".utf8)
        for node in nodes(of: page) {
            let keySize: UInt16 = bytes.number(at: node + 6)
            let key = bytes[(node + 8)..<(node + 8 + Int(keySize))]
            guard key == name else { continue }
            let offset = node + 8 + Int(keySize)
            return (offset, bytes.number(at: offset + 40))
        }
        return nil
    }

    /// Every page that could be the root of a small tree, and its depth.
    var trees: [(root: UInt64, depth: Int)] {
        stride(from: 2 * Self.size, to: bytes.count, by: Self.size).compactMap { page in
            let number: UInt64 = bytes.number(at: page)
            let flags: UInt16 = bytes.number(at: page + 10)
            guard number == UInt64(page / Self.size), !nodes(of: page).isEmpty else { return nil }
            switch flags {
            case 2: return (number, 1)
            case 1:
                let child = nodes(of: page).map { node -> Int in
                    let low: UInt32 = bytes.number(at: node)
                    return Int(low) * Self.size
                }
                let isOverLeaves = child.allSatisfy {
                    guard $0 + Self.size <= bytes.count else { return false }
                    let flags: UInt16 = bytes.number(at: $0 + 10)
                    return flags == 2
                }
                return isOverLeaves ? (number, 2) : nil
            default: return nil
            }
        }
    }

    private func nodes(of page: Int) -> [Int] {
        let lower: UInt16 = bytes.number(at: page + 12)
        guard (18...UInt16(Self.size)).contains(lower) else { return [] }
        return stride(from: 16, to: Int(lower), by: 2).map { place in
            let offset: UInt16 = bytes.number(at: page + place)
            return page + Int(offset)
        }
    }
}

extension Data {
    fileprivate func number<Value: FixedWidthInteger>(at offset: Int) -> Value {
        (0..<MemoryLayout<Value>.size).reversed().reduce(0) { $0 << 8 | Value(self[offset + $1]) }
    }

    fileprivate mutating func setNumber<Value: FixedWidthInteger>(_ number: Value, at offset: Int) {
        for byte in 0..<MemoryLayout<Value>.size {
            self[offset + byte] = UInt8(truncatingIfNeeded: number >> (8 * Value(byte)))
        }
    }
}
