internal import Foundation

/// A finding in the pages of a file.
package struct PageFinding: Sendable, Hashable {
    /// Whether it is damage or only a note.
    package let severity: Severity
    /// The page it was found on.
    package let page: UInt64?
    /// The table the page belongs to, if it belongs to one.
    package let table: String?
    /// A full sentence.
    package let message: String

    /// The weight of a finding.
    package enum Severity: Sendable, Hashable {
        /// Reads may be wrong, or may end the program.
        case damage
        /// Reads are not affected.
        case note
        /// The file could not be checked.
        case unchecked
    }
}

/// Checks the pages of an LMDB file without LMDB, so that no damage can end the program.
///
/// LMDB has no checksums and follows what it finds. This walks every tree of the newest state
/// itself, and checks each page number and each offset before following it. It does not detect
/// changed bytes inside keys and values that keep the order of the keys: digests over the records
/// are for those.
package enum PageCheck {
    /// Checks the file at `path` before it is opened.
    ///
    /// Another process may write to it meanwhile. Pages that looked damaged may then merely have
    /// been reused, so the check is repeated until the meta pages no longer change.
    ///
    /// - Returns: All findings; none, or only notes, when the file is sound.
    /// - Throws: ``LMDBError`` when the file cannot be read, or with
    ///   ``LMDBError/Code/alreadyOpen`` when it is open in this process: closing it after the
    ///   check would release LMDB's locks.
    /// - Complexity: O(*p*) page reads, *p* the number of the file's pages.
    package static func run(path: String) throws(LMDBError) -> [PageFinding] {
        try EnvironmentRegistry.occupyStandardDescriptors()
        return try EnvironmentRegistry.withFileClosed(path) {
            () throws(LMDBError) -> [PageFinding] in
            // Without O_NONBLOCK, opening a pipe would wait for a writer.
            let descriptor = Foundation.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else {
                let number = errno
                if number == ENOENT { throw .noSuchFile(path) }
                throw .status(number, "opening '\(path)'")
            }
            defer { close(descriptor) }
            var failure: Int32 = 0
            let source = PageSource { offset, count in
                let (bytes, number) = read(descriptor, offset, count)
                if number != 0 { failure = number }
                return bytes
            }
            for _ in 0..<attemptsMaximum {
                let before = source.metaBytes
                let findings = run(source)
                // A failure to read is not damage.
                guard failure == 0 else { throw .status(failure, "reading '\(path)'") }
                let isSound = !findings.contains { $0.severity == .damage }
                if isSound || source.metaBytes == before { return findings }
            }
            return [
                PageFinding(
                    severity: .unchecked, page: nil, table: nil,
                    message: "The pages were not checked, because the file was being written to.")
            ]
        }
    }

    /// Checks a file that was read into memory.
    package static func run(bytes: [UInt8]) -> [PageFinding] {
        run(
            PageSource { offset, count in
                guard offset >= 0, offset <= bytes.count else { return [] }
                return Array(bytes[offset..<min(offset + count, bytes.count)])
            })
    }

    /// The number of attempts at a file that is being written to.
    private static let attemptsMaximum = 32

    /// - Returns: The bytes that could be read, and the number of the error that prevented the
    ///   rest, if any.
    private static func read(
        _ descriptor: Int32, _ offset: Int, _ count: Int
    ) -> (bytes: [UInt8], error: Int32) {
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let start = buffer.baseAddress.map { $0 + filled }
                let more = pread(descriptor, start, count - filled, off_t(offset + filled))
                if more < 0, errno == EINTR { continue }
                if more < 0 { number = errno }
                if more <= 0 { return }
                filled += more
            }
        }
        // A folder, a pipe or a similar file has no bytes to read.
        return (bytes, number == EISDIR || number == ESPIPE || number == EINVAL ? 0 : number)
    }

    private static func run(_ source: PageSource) -> [PageFinding] {
        let head = source.bytes(at: 0, count: FileFormat.pageSizeRange.upperBound * 2)
        var metas: [MetaPage] = []
        guard let first = MetaPage(head, at: 0) else {
            return [.damage(0, nil, "the file ends before its first page does")]
        }
        let pageSize = Int(first.pageSize)
        guard FileFormat.pageSizeRange.contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            return [.damage(0, nil, "its page size of \(first.pageSize) is impossible")]
        }
        metas.append(first)
        guard let second = MetaPage(head, at: pageSize) else {
            return [.damage(1, nil, "the file ends before its second page does")]
        }
        metas.append(second)
        var findings = metas.enumerated().flatMap { MetaCheck.findings($1, number: UInt64($0)) }
        findings += MetaCheck.findings(first: first, second: second)
        let newest = second.transaction > first.transaction ? second : first
        let older = second.transaction > first.transaction ? first : second
        let pageCount = newest.lastPage.addingReportingOverflow(1)
        let isInFile =
            !pageCount.overflow && pageCount.partialValue < UInt64(Int.max) / UInt64(pageSize)
            && source.has(Int(pageCount.partialValue) * pageSize)
        guard isInFile else {
            let page: UInt64 = second.transaction > first.transaction ? 1 : 0
            findings.append(
                .damage(page, nil, "its last page, \(newest.lastPage), is not in the file"))
            return findings
        }
        var check = TreeCheck(
            source: source, pageSize: pageSize, pageCount: Int(pageCount.partialValue))
        check.checkAll(newest: newest, older: older)
        return findings + check.findings
    }
}

extension PageFinding {
    static func damage(_ page: UInt64?, _ table: String?, _ what: String) -> PageFinding {
        PageFinding(severity: .damage, page: page, table: table, message: text(page, table, what))
    }

    static func note(_ page: UInt64?, _ table: String?, _ what: String) -> PageFinding {
        PageFinding(severity: .note, page: page, table: table, message: text(page, table, what))
    }

    private static func text(_ page: UInt64?, _ table: String?, _ what: String) -> String {
        let location =
            switch (page, table) {
            case (let page?, let table?): "Page \(page) of '\(table)': "
            case (let page?, nil): "Page \(page): "
            case (nil, let table?): "Table '\(table)': "
            case (nil, nil): "File: "
            }
        return location + what + "."
    }
}

/// The source of the bytes.
struct PageSource {
    private let read: (_ offset: Int, _ count: Int) -> [UInt8]

    init(_ read: @escaping (_ offset: Int, _ count: Int) -> [UInt8]) {
        self.read = read
    }

    /// The first pages, one of which every commit changes.
    var metaBytes: [UInt8] { read(0, FileFormat.pageSizeRange.upperBound * 2) }

    /// Up to `count` bytes; fewer at the end of the file.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        read(offset, count)
    }

    /// Whether the file has at least `length` bytes.
    func has(_ length: Int) -> Bool {
        length <= 0 || read(length - 1, 1).count == 1
    }
}

/// The checks on the two meta pages.
enum MetaCheck {
    static func findings(_ meta: MetaPage, number: UInt64) -> [PageFinding] {
        var problems: [String] = []
        if meta.pageNumber != number { problems.append("it says it is page \(meta.pageNumber)") }
        if meta.pageFlags != FileFormat.metaPage {
            problems.append("its flags \(meta.pageFlags) are not those of a meta page")
        }
        if meta.magic != FileFormat.magic { problems.append("its magic number is wrong") }
        if meta.version != FileFormat.version {
            problems.append("its format version is \(meta.version)")
        }
        if meta.address != 0 { problems.append("it names a fixed address") }
        if meta.free.flags & ~FileFormat.fileFlagsAllowed != FileFormat.integerKeys {
            problems.append("the flags of the file are \(meta.free.flags)")
        }
        let length = meta.lastPage.addingReportingOverflow(1).partialValue
            .multipliedReportingOverflow(by: UInt64(meta.pageSize))
        if length.overflow || meta.mapSize < length.partialValue {
            problems.append("its map of \(meta.mapSize) bytes is smaller than its pages")
        }
        if meta.mapSize > FileFormat.mapSizeMaximum {
            problems.append("its map of \(meta.mapSize) bytes is impossibly large")
        }
        return problems.map { .damage(number, nil, $0) }
    }

    /// Transaction *n* writes meta page *n* mod 2, so the two numbers are consecutive.
    static func findings(first: MetaPage, second: MetaPage) -> [PageFinding] {
        var findings: [PageFinding] = []
        if first.pageSize != second.pageSize {
            findings.append(.damage(1, nil, "its page size differs from that of page 0"))
        }
        // A new file has 0 on both.
        if first.transaction == 0, second.transaction == 0 {
            for (number, meta) in [first, second].enumerated() where !meta.main.isEmpty {
                findings.append(
                    .damage(
                        UInt64(number), nil,
                        "it has tables, which a new file of transaction 0 has not"))
            }
            return findings
        }
        for (number, meta) in [first, second].enumerated()
        where meta.transaction & 1 != UInt64(number) {
            findings.append(
                .damage(
                    UInt64(number), nil,
                    "transaction \(meta.transaction) does not belong on this page"))
        }
        let (low, high) = (
            min(first.transaction, second.transaction), max(first.transaction, second.transaction)
        )
        if high - low != 1 {
            findings.append(
                .damage(nil, nil, "transactions \(low) and \(high) do not follow each other"))
        }
        return findings
    }
}
