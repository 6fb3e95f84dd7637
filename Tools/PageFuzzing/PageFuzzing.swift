// Compiled into one module with Sources/DaybookLMDB, by Tools/fuzz-pages: what reads pages is visible only
// there, and only there libFuzzer sees which ways are taken.
internal import DaybookStopping
internal import Foundation

/// One input of libFuzzer: pages of a sound file with other bytes in some places.
///
/// Whatever is in a page, reading ends, with records or with an error.
@_cdecl("LLVMFuzzerTestOneInput")
public func readFuzzedPages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = SoundFile.shared.damaged(by: UnsafeBufferPointer(start: start, count: count))
    _ = PageCheck.run(bytes: bytes)
    bytes.withUnsafeBytes {
        var reading = PageReading($0)
        reading?.readAll()
    }
    return 0
}

/// The file that inputs damage.
struct SoundFile {
    static let shared = SoundFile()
    static let names = ["long", "rows", "texts"]

    private let bytes: [UInt8]
    /// The keys that are looked up.
    let keys: [[UInt8]]
    let tables: [Table]

    private init() {
        do {
            let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.appending(path: "file").path
            var options = EnvironmentOptions(tables: Self.names, durability: .relaxed)
            options.checkedTables = Set(Self.names)
            let environment = try Environment.open(at: path, options: options)
            let tables = try Self.names.map { try environment.table($0) }
            let keys = (0..<120).map { number in
                var key = KeyWriter()
                key.append(UInt32(number % 3))
                key.append(UInt64(number &* 37))
                return key.bytes
            }
            for first in stride(from: 0, to: keys.count, by: 40) {
                try environment.write { transaction in
                    for (number, key) in keys[first..<first + 40].enumerated() {
                        let row = [UInt8](repeating: UInt8(number), count: 60 + number)
                        try transaction.put(tables[1], key.span.bytes, row.span.bytes, .upsert)
                        let text = [UInt8](repeating: UInt8(number), count: 300) + key
                        try transaction.put(tables[2], text.span.bytes, key.span.bytes, .upsert)
                        guard number % 20 == 0 else { continue }
                        let much = [UInt8](repeating: UInt8(number), count: 5_000)
                        try transaction.put(tables[0], key.span.bytes, much.span.bytes, .upsert)
                    }
                }
            }
            bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            self.keys = keys
            self.tables = tables
            try FileManager.default.removeItem(at: folder)
        } catch {
            stop("A sound file could not be made: \(error)")
        }
    }

    /// The file with other bytes: the input is a list of a page, an offset, a count and the bytes.
    func damaged(by input: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var bytes = bytes
        var rest = input[...]
        while rest.count > 4 {
            let head = Array(rest.prefix(4))
            let page = Int(head[0]) % (bytes.count / 4_096)
            let offset = page * 4_096 + (Int(head[1]) << 8 | Int(head[2])) % 4_096
            let new = rest.dropFirst(4).prefix(Int(head[3])).prefix(bytes.count - offset)
            bytes.replaceSubrange(offset..<offset + new.count, with: new)
            rest = rest.dropFirst(4 + new.count)
        }
        return bytes
    }
}

/// All that is read of the newest state of a file.
private struct PageReading {
    private let meta: MetaPage
    private let pages: Pages
    private var marks = PageMarks()

    /// Nil for a file that is not opened.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let size = 4_096
        guard let first = MetaPage(bytes), first.pageSize == UInt32(size),
            let second = MetaPage(UnsafeRawBufferPointer(rebasing: bytes[size...]))
        else { return nil }
        meta = second.transaction > first.transaction ? second : first
        let present = UInt64(bytes.count / size)
        let named = meta.lastPage.addingReportingOverflow(1)
        let count = min(named.overflow ? .max : named.partialValue, present)
        marks.begin(pageCount: Int(count))
        pages = Pages(bytes, pageSize: size, count: count, marks: marks)
    }

    mutating func readAll() {
        defer { marks.deallocate() }
        readFreeList()
        for table in SoundFile.shared.tables {
            guard let tree = tree(of: table) else { continue }
            // Twice: the second time the marks of the first are believed.
            for _ in 0..<2 {
                walk(tree, .ascending)
                walk(tree, .descending)
                lookUp(tree)
            }
        }
    }

    private func readFreeList() {
        guard meta.free.shapeFault == nil, meta.free.entries <= pages.recordsMaximum else { return }
        walk(Tree(freeList: meta.free, in: pages), .ascending)
    }

    /// The tree of a table, through the table of tables.
    private func tree(of table: Table) -> Tree? {
        let name = Array(table.name.utf8)
        return refused {
            let main = try Tree(meta.main, in: pages)
            let record = try name.withUnsafeBytes { name throws -> TreeRecord? in
                let key = SoughtKey(name)
                guard let (leaf, node) = try main.node(under: key) else {
                    try main.confirmAbsence(of: key)
                    return nil
                }
                try main.checkPages(on: key)
                return TreeRecord(try leaf.valueInPage(node, count: node.valueSize))
            }
            guard let record else { return nil }
            return Tree(checked: try Tree(record, in: pages).record, in: pages, of: table)
        }
    }

    private func walk(_ tree: Tree, _ order: ScanOrder) {
        refused {
            try tree.withCursor { cursor throws(PageFault) in
                var isThere = try cursor.move(order)
                while isThere {
                    let (key, value) = try cursor.record()
                    _ = Sum.of(key) &+ Sum.of(value)
                    isThere = try cursor.move(order)
                }
            }
        }
    }

    private func lookUp(_ tree: Tree) {
        refused {
            try tree.withFinger { finger throws in
                for key in SoundFile.shared.keys {
                    let found = try key.withUnsafeBytes { bytes throws in
                        try finger.value(under: SoughtKey(bytes))
                    }
                    if let found { _ = Sum.of(found) }
                }
            }
        }
        for key in SoundFile.shared.keys {
            key.withUnsafeBytes { bytes in
                let key = SoughtKey(bytes)
                refused { if let value = try tree.value(under: key) { _ = Sum.of(value) } }
                refused {
                    try tree.withCursor { cursor throws(PageFault) in
                        if try cursor.move(atOrAfter: key) { _ = try cursor.confirmedKey() }
                        if try cursor.move(before: key) { _ = try cursor.confirmedKey() }
                    }
                }
            }
        }
    }

    /// Runs `body`, which may say that a page is damaged, and may not do anything else.
    @discardableResult
    private func refused<R>(_ body: () throws -> R?) -> R? {
        do {
            return try body()
        } catch is PageFault {
            return nil
        } catch {
            stop("Another error than one of a page: \(error)")
        }
    }
}

/// Reads every byte, so that a span that leaves the file is noticed.
private enum Sum {
    @inline(never)
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt8 {
        bytes.reduce(0, &+)
    }
}
