internal import Foundation
internal import Synchronization

/// Whether the pages of a file may be handed to LMDB for writing.
///
/// LMDB follows what it finds. Reads do not go through it, but writes do: so before the first write
/// of this process the structure must be known to be sound. That is so
/// - while another process writes to the file, because it has made sure;
/// - if the file was closed in order by the last process that wrote, which leaves a mark;
/// - and otherwise after a check of all pages.
enum Trust: Equatable {
    /// Nothing is known yet.
    case unknown
    /// Neither a mark nor another process is believed.
    case untrusted
    /// The structure is sound.
    case sound
    /// The structure is not sound, and the error says so.
    case damaged(message: String)
}

extension EnvironmentCore {
    /// Makes sure that the structure of the file is sound.
    ///
    /// Runs before the first write of this process, while no other process writes.
    ///
    /// - Throws: ``LMDBError`` with ``LMDBError/Code/corrupt`` when it is not; nothing is written then.
    func makeSure() throws(LMDBError) {
        let known = trust.withLock { $0 }
        switch known {
        case .sound: return
        case .damaged(let message): throw LMDBError(.corrupt, message)
        case .unknown:
            if try !pair.isVouchedFor(), try !pair.wasClosedInOrder() { try checkPages() }
        case .untrusted: try checkPages()
        }
        try pair.vouch()
        let isSettled = trust.withLock { now in
            // The file may have been opened as untrusted meanwhile.
            guard now == known else { return false }
            now = .sound
            return true
        }
        if !isSettled { try makeSure() }
    }

    private func checkPages() throws(LMDBError) {
        let findings = try pair.findings(checking.withLock { $0 })
        guard let first = findings.first(where: { $0.severity == .damage }) else { return }
        let message =
            "'\(pair.file.name)' is damaged, so nothing is written to it. \(first.message)"
            + LMDBError.verifyRemedy
        trust.withLock { $0 = .damaged(message: message) }
        throw LMDBError(.corrupt, message)
    }
}

extension FilePair {
    /// Whether another process that has the file open has made sure of it.
    func isVouchedFor() throws(LMDBError) -> Bool {
        try isLocked(LockOffset.vouching, "looking for other programs that write to '\(file.name)'")
    }

    /// Tells other processes, for as long as this one has the file open, that its structure is sound.
    func vouch() throws(LMDBError) {
        try lockShared(LockOffset.vouching, "telling other programs about '\(file.name)'")
    }

    /// Whether the last process that wrote has closed the file in order, and nothing was written since.
    func wasClosedInOrder() throws(LMDBError) -> Bool {
        try withSource { source throws(LMDBError) in
            guard let state = FileState(source) else { return false }
            // A file without tables has no pages for LMDB to follow.
            if state.newest.transaction == 0, state.newest.main.isEmpty { return true }
            let mark = source.bytes(at: state.markOffset, count: ClosingMark.size, level: 0)
            return ClosingMark(mark)?.transaction == state.newest.transaction
        }
    }

    /// Leaves a mark that the file was closed in order. No process writes meanwhile.
    ///
    /// The mark lies in the page of the older meta page, behind what LMDB uses of it: the page of the
    /// newest one is never written. It is not brought to the disk, and where it cannot be written, it
    /// is missing: then the next process checks the pages.
    func markClosedInOrder() throws(LMDBError) {
        try withSource { source throws(LMDBError) in
            guard let state = FileState(source) else { return }
            write(ClosingMark(transaction: state.newest.transaction).bytes, at: state.markOffset)
        }
    }

    /// The findings of a check of the newest state. No process writes meanwhile.
    fileprivate func findings(
        _ handler: EnvironmentOptions.CheckHandler?
    ) throws(LMDBError) -> [PageFinding] {
        try withSource { source throws(LMDBError) in
            PageCheck.run(source, .newestState, handler)
        }
    }

    private func withSource<R>(
        _ body: (PageSource) throws(LMDBError) -> R
    ) throws(LMDBError) -> R {
        let source = source
        let result = try body(source)
        guard source.failure == 0 else {
            throw .status(source.failure, "reading '\(file.name)'")
        }
        return result
    }
}

/// The two meta pages of a file.
private struct FileState {
    let newest: MetaPage
    /// The offset of the mark of a file that was closed in order.
    let markOffset: Int

    /// Nil when the meta pages are damaged.
    init?(_ source: PageSource) {
        let head = source.metaBytes
        guard let first = MetaPage(head, at: 0), FileFormat.isPageSize(Int(first.pageSize)),
            let second = MetaPage(head, at: Int(first.pageSize))
        else { return nil }
        let pageSize = Int(first.pageSize)
        let isSecondNewest = second.transaction > first.transaction
        newest = isSecondNewest ? second : first
        markOffset = (isSecondNewest ? pageSize : 2 * pageSize) - ClosingMark.size
    }
}

/// The mark of a file that was closed in order.
///
/// | bytes | content |
/// |---|---|
/// | 8 | the letters `daybook.` |
/// | 8 | the number of the last LMDB transaction, the highest byte first |
/// | 8 | the same with all bits inverted |
private struct ClosingMark {
    let transaction: UInt64

    init(transaction: UInt64) {
        self.transaction = transaction
    }

    /// Nil for other bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size, bytes.prefix(8).elementsEqual(Self.word) else { return nil }
        let numbers = bytes.dropFirst(8).reduce(into: [UInt64](repeating: 0, count: 2)) {
            $0 = [$0[0] << 8 | $0[1] >> 56, $0[1] << 8 | UInt64($1)]
        }
        guard numbers[0] == ~numbers[1] else { return nil }
        transaction = numbers[0]
    }

    var bytes: [UInt8] {
        var writer = KeyWriter()
        writer.append(transaction)
        writer.append(~transaction)
        return Self.word + writer.bytes
    }

    static let size = 24
    private static let word = Array("daybook.".utf8)
}
