// The room of salvaging: what is left of a file whose trees cannot be followed any more. It trusts no page number, no
// count and no tree, and looks at every page of the file for records.

internal import CDaybookLMDB
internal import Foundation

/// A file of LMDB that is read without its trees: every page is looked at, also those that no tree leads to any more.
///
/// Nothing says that what it finds belongs together, or is the newest: pages that were freed still have what they had.
/// Only records that prove themselves, by a digest, can be used. The file is not changed, and no lock is taken.
package final class SalvagedFile {
    private let source: PageSource
    private let descriptor: Int32
    private let pageSize: Int
    /// How many bytes the file had at first.
    private let length: Int
    /// Whether the two newest states can be told from each other: where one of them cannot be read, or is not the next
    /// after the other, what is opened may be an older state than the newest.
    package let hasBothStates: Bool
    /// What the newest state leads to; nil where no state can be read.
    private lazy var state = readState()

    /// Where a value is in the file.
    package struct Place: Sendable, Hashable {
        /// Its first byte.
        package let offset: Int
        /// How many bytes it has.
        package let count: Int

        /// So many bytes from a byte on.
        package init(offset: Int, count: Int) {
            (self.offset, self.count) = (offset, count)
        }
    }

    /// Runs `body` with the file at a path.
    ///
    /// - Throws: ``LMDBError`` when the file cannot be read, or with ``LMDBError/Code/alreadyOpen`` when it is open in
    ///   this process; what `body` throws.
    package static func reading<R>(
        _ path: String, _ body: (SalvagedFile) throws -> R
    ) throws -> R {
        try EnvironmentRegistry.occupyStandardDescriptors()
        return try EnvironmentRegistry.keepingClosed(path) {
            // Without O_NONBLOCK, opening a pipe would wait for a writer.
            let descriptor = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { throw LMDBError.status(errno, "opening '\(path)'") }
            do throws(LMDBError) {
                try checkKind(descriptor, path)
            } catch {
                close(descriptor)
                throw error
            }
            let file = SalvagedFile(descriptor)
            let result = try body(file)
            // What could not be read may have been there.
            guard file.source.failure == 0 else {
                throw LMDBError.status(file.source.failure, "reading '\(path)'")
            }
            return result
        }
    }

    /// Refuses what has no end, or nothing that stays: only a file and a disk can be looked through.
    private static func checkKind(_ descriptor: Int32, _ path: String) throws(LMDBError) {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw .status(errno, "measuring '\(path)'") }
        switch found.st_mode & S_IFMT {
        case S_IFREG, S_IFBLK: return
        case S_IFDIR:
            throw LMDBError(.isDirectory, "'\(path)' is a folder, not a file.", osError: EISDIR)
        default: throw LMDBError(.notRegularFile, "'\(path)' is not a regular file.")
        }
    }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
        source = PageSource(descriptor: descriptor)
        length = Int(lseek(descriptor, 0, SEEK_END))
        let head = source.metaBytes
        pageSize =
            PageSize.said(in: head) ?? PageSize.counted(in: source) ?? PageSize.usual
        guard let first = MetaPage(head, at: 0), let second = MetaPage(head, at: pageSize) else {
            hasBothStates = false
            return
        }
        hasBothStates =
            MetaCheck.findings(first, number: 0).isEmpty
            && MetaCheck.findings(second, number: 1).isEmpty
            && MetaCheck.findings(first: first, second: second).isEmpty
    }

    deinit { close(descriptor) }

    /// The number of bytes of the check with which the value of a checked table ends.
    package static var checkSize: Int { RecordCheck.size }

    /// Passes on every record of every leaf page, in the order of the pages. One whose bounds are impossible is passed
    /// over, and so is the rest of a page whose header is.
    ///
    /// - Parameter body: Takes a key, and where its value is.
    /// - Throws: What `body` throws.
    /// - Complexity: O(*p*) page reads, *p* the number of the file's pages.
    package func forEachRecord(_ body: (_ key: RawSpan, _ value: Place) throws -> Void) rethrows {
        var number = 0
        // What is added meanwhile has no end.
        while number <= length / pageSize {
            let bytes = source.bytes(at: number * pageSize, count: pageSize, level: 0)
            guard !bytes.isEmpty else { return }
            if bytes.prefix(FileFormat.pageHeaderSize).allSatisfy({ $0 == 0 }) {
                // The file grows ahead of what is written, and damage may have made it long.
                guard let next = source.written(from: (number + 1) * pageSize) else { return }
                number = max(number + 1, next / pageSize)
                continue
            }
            if let page = leaf(bytes, number) {
                for index in 0..<page.nodeCount {
                    guard let node = node(index, of: page),
                        let place = place(of: node, of: page, bytes)
                    else { continue }
                    try body(RawSpan(_unsafeBytes: node.key), place)
                }
            }
            number += 1
        }
    }

    private func leaf(_ bytes: UnsafeRawBufferPointer, _ number: Int) -> PageView? {
        do {
            return try PageView(bytes, number: UInt64(number), .leaf)
        } catch {
            return nil
        }
    }

    private func node(_ index: Int, of page: PageView) -> PageView.Node? {
        do {
            return try page.node(index)
        } catch {
            return nil
        }
    }

    /// Where the value of a node is; nil when it cannot be anywhere, and for the record of a tree.
    private func place(
        of node: PageView.Node, of page: PageView, _ bytes: UnsafeRawBufferPointer
    ) -> Place? {
        guard node.flags & ~FileFormat.nodeOverflow == 0 else { return nil }
        do throws(PageFault) {
            guard node.flags & FileFormat.nodeOverflow != 0 else {
                let value = try page.valueInPage(node, count: node.valueSize)
                guard let start = bytes.baseAddress, let first = value.baseAddress else {
                    return nil
                }
                return Place(
                    offset: Int(page.number) * pageSize + (first - start), count: value.count)
            }
            return overflowPlace(try page.overflowPage(node), count: node.valueSize)
        } catch {
            return nil
        }
    }

    /// A value on pages of its own, the first of which says so.
    private func overflowPlace(_ number: UInt64, count: Int) -> Place? {
        guard number < UInt64(Int.max / pageSize) else { return nil }
        let begin = Int(number) * pageSize
        let header = source.bytes(at: begin, count: FileFormat.pageHeaderSize, level: 1)
        guard let start = header.baseAddress, header.count == FileFormat.pageHeaderSize,
            start.number(at: 0, as: UInt64.self) == number,
            start.number(at: FileFormat.pageFlagsOffset, as: UInt16.self) == FileFormat.overflowPage
        else { return nil }
        return Place(offset: begin + FileFormat.pageHeaderSize, count: count)
    }

    /// Whether the trees of the newest state that can be read lead to the page that a value begins on, and it is one that
    /// can stand there. What is on other pages was replaced or removed, belongs to another file, or cannot be reached any
    /// more.
    ///
    /// - Complexity: O(1) after the first time, which costs O(*p*) page reads, *p* the number of pages of the trees.
    package func isInUse(_ place: Place) -> Bool {
        guard let state else { return false }
        let page = place.offset / pageSize
        return state.uses[page] == .inTree && !state.damagedPages.contains(UInt64(page))
    }

    /// Whether the trees lead to every record that a table has.
    ///
    /// - Parameter table: The name of the table.
    /// - Returns: False also where no state can be read.
    /// - Complexity: As ``isInUse(_:)``.
    package func hasWhole(_ table: String) -> Bool {
        guard let state else { return false }
        return state.damagedTables.isDisjoint(with: [table, TreeKind.main.name])
    }

    /// What a state leads to, and where something is wrong with that.
    private struct State {
        let uses: PageUses
        let damagedPages: Set<UInt64>
        let damagedTables: Set<String>
    }

    private func readState() -> State? {
        // What is being looked at stays in the buffers of the other source.
        let source = PageSource(descriptor: descriptor)
        let head = source.metaBytes
        let metas = [0, 1].compactMap { number in
            MetaPage(head, at: number * pageSize).flatMap { meta in
                Int(meta.pageSize) == pageSize
                    && MetaCheck.findings(meta, number: UInt64(number)).isEmpty ? meta : nil
            }
        }
        guard let newest = metas.max(by: { $0.transaction < $1.transaction }) else { return nil }
        // The file may have been cut.
        let pageCount = Int(min(newest.lastPage, UInt64(max(0, length) / pageSize))) + 1
        var check = TreeCheck(source: source, pageSize: pageSize, pageCount: pageCount)
        check.checkAll(newest: newest, older: nil)
        let damage = check.findings.filter { $0.severity == .damage }
        return State(
            uses: check.uses, damagedPages: Set(damage.compactMap(\.page)),
            damagedTables: Set(damage.compactMap(\.table)))
    }

    /// The bytes of a value; nil when the file ends within it.
    package func bytes(at place: Place) -> [UInt8]? {
        // A count may be anything: no memory is taken for more than there is.
        guard place.count <= length, place.offset <= length - place.count else { return nil }
        let bytes = source.bytes(at: place.offset, count: place.count, level: 2)
        return bytes.count == place.count ? Array(bytes) : nil
    }
}
