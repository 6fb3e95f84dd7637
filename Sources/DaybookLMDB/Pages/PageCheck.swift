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
            let source = PageSource(descriptor: descriptor)
            for _ in 0..<attemptsMaximum {
                let before = source.metaBytes
                let findings = run(source)
                // A failure to read is not damage.
                guard source.failure == 0 else {
                    throw .status(source.failure, "reading '\(path)'")
                }
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
        bytes.withUnsafeBytes { run(PageSource($0)) }
    }

    /// The number of attempts at a file that is being written to.
    private static let attemptsMaximum = 32

    /// What of a file is checked.
    enum Scope {
        /// Everything.
        case file
        /// The newest state, which is all that LMDB follows: the older meta page may be that of a write
        /// that failed at its last step.
        case newestState
    }

    /// Checks the bytes of a source.
    static func run(
        _ source: PageSource, _ scope: Scope = .file,
        _ handler: EnvironmentOptions.CheckHandler? = nil
    ) -> [PageFinding] {
        let head = source.metaBytes
        var metas: [MetaPage] = []
        guard let first = MetaPage(head, at: 0) else {
            return [.damage(0, nil, "the file ends before its first page does")]
        }
        let pageSize = Int(first.pageSize)
        guard FileFormat.isPageSize(pageSize) else {
            return [.damage(0, nil, "its page size of \(first.pageSize) is impossible")]
        }
        metas.append(first)
        guard let second = MetaPage(head, at: pageSize) else {
            return [.damage(1, nil, "the file ends before its second page does")]
        }
        metas.append(second)
        let newest = second.transaction > first.transaction ? second : first
        let older = second.transaction > first.transaction ? first : second
        var findings: [PageFinding]
        switch scope {
        case .file:
            findings = metas.enumerated().flatMap { MetaCheck.findings($1, number: UInt64($0)) }
            findings += MetaCheck.findings(first: first, second: second)
        case .newestState: findings = MetaCheck.findingsOfNewest(first: first, second: second)
        }
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
            source: source, pageSize: pageSize, pageCount: Int(pageCount.partialValue), handler)
        check.checkAll(newest: newest, older: scope == .file ? older : nil)
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
        if meta.transaction > UInt64(Int64.max) {
            problems.append("its transaction \(meta.transaction) is impossible")
        }
        if meta.mapSize > FileFormat.mapSizeMaximum {
            problems.append("its map of \(meta.mapSize) bytes is impossibly large")
        }
        return problems.map { .damage(number, nil, $0) }
    }

    /// The findings on the meta page of the newest state.
    static func findingsOfNewest(first: MetaPage, second: MetaPage) -> [PageFinding] {
        let isSecond = second.transaction > first.transaction
        let newest = isSecond ? second : first
        var findings = findings(newest, number: isSecond ? 1 : 0)
        if first.pageSize != second.pageSize {
            findings.append(.damage(1, nil, "its page size differs from that of page 0"))
        }
        if newest.transaction > 0, newest.transaction & 1 != (isSecond ? 1 : 0) {
            findings.append(
                .damage(
                    isSecond ? 1 : 0, nil,
                    "transaction \(newest.transaction) does not belong on this page"))
        }
        return findings
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
                        "it has tables, which a new file of transaction 0 does not have"))
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
