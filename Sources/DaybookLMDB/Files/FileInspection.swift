internal import CDaybookLMDB
internal import DaybookNewFiles
internal import Foundation

/// Checks of a file before LMDB opens it.
///
/// LMDB maps the file and follows its page numbers: a file shorter than its meta page says would
/// end the process with a bus error. So the first pages are checked beforehand. Runs under the
/// registry's lock and only for a file that is not open in this process, because closing a
/// descriptor releases LMDB's locks on it.
enum FileInspection {
    static func run(_ location: FilePath, _ options: EnvironmentOptions) throws(LMDBError) {
        let path = location.name
        try refuseNetwork(path)
        if let mark = try UnsyncedMark.beside(location), !mark.isOfThisRun {
            throw .lost(path, mark.origin)
        }
        var file = daybook_file()
        let number = daybook_look_up(path, &file)
        guard number == 0 else {
            if number == ENOENT, options.create, !options.readOnly { return }
            if number == ENOENT { throw .noSuchFile(path) }
            throw .status(number, "looking up '\(path)'")
        }
        if file.is_folder != 0 {
            throw LMDBError(.isDirectory, "'\(path)' is a folder, not a file.", osError: EISDIR)
        }
        if file.is_regular == 0 {
            throw LMDBError(.notRegularFile, "'\(path)' is not a regular file.")
        }
        if !options.readOnly, access(path, W_OK) != 0 {
            throw .noPermission(path, to: "write", osError: errno)
        }
        try checkHead(location, options)
    }

    // MARK: - The first pages

    private static func checkHead(
        _ location: FilePath, _ options: EnvironmentOptions
    ) throws(LMDBError) {
        let path = location.name
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let number = errno
            throw number == EACCES
                ? .noPermission(path, to: "read", osError: number)
                : .status(number, "opening '\(path)'")
        }
        defer { close(descriptor) }

        let head = try readHead(descriptor, path)
        if head.isEmpty {
            // Another process may be making the file, or was stopped while making it: then the lock
            // file exists, and LMDB finishes the work under its lock.
            let isBegun = access(location.lockPath, F_OK) == 0
            if isBegun, options.create, !options.readOnly { return }
            throw LMDBError(.emptyFile, "'\(path)' is empty, so it is not an LMDB file.")
        }
        guard let first = MetaPage(head, at: 0) else {
            throw LMDBError(.notLMDB, "'\(path)' is too short to be an LMDB file.")
        }
        guard first.magic == FileFormat.magic, first.pageFlags & FileFormat.metaPage != 0 else {
            throw LMDBError(.notLMDB, "'\(path)' is not an LMDB file.")
        }
        guard first.version == FileFormat.version else {
            throw LMDBError(
                .versionMismatch,
                "'\(path)' has version \(first.version) of LMDB's format; "
                    + "this program reads version \(FileFormat.version).")
        }
        var current = head
        for attempt in 1... {
            do throws(LMDBError) {
                return try checkMetaPages(descriptor, path, current)
            } catch {
                // Another process may have written a meta page while it was read.
                let again = try readHead(descriptor, path)
                guard again != current, attempt < attemptsMaximum else { throw error }
                current = again
            }
        }
    }

    private static func checkMetaPages(
        _ descriptor: Int32, _ path: String, _ head: [UInt8]
    ) throws(LMDBError) {
        guard let first = MetaPage(head, at: 0) else {
            throw LMDBError(.notLMDB, "'\(path)' is too short to be an LMDB file.")
        }
        let second = try checkLength(descriptor, path, head: head, first: first)
        guard let finding = MetaCheck.findingsOfNewest(first: first, second: second).first else {
            return
        }
        throw LMDBError(
            .corrupt, "'\(path)' is damaged. \(finding.message)" + LMDBError.verifyRemedy)
    }

    /// The number of attempts at a file that is being written to.
    private static let attemptsMaximum = 32

    private static func checkLength(
        _ descriptor: Int32, _ path: String, head: [UInt8], first: MetaPage
    ) throws(LMDBError) -> MetaPage {
        let pageSize = Int(first.pageSize)
        guard FileFormat.isPageSize(pageSize) else {
            throw LMDBError(
                .corrupt,
                "'\(path)' is damaged: its page size of \(pageSize) is impossible."
                    + LMDBError.verifyRemedy)
        }
        guard let second = MetaPage(head, at: pageSize), second.magic == FileFormat.magic else {
            throw LMDBError(
                .truncated,
                "'\(path)' is truncated: its second page is missing or damaged."
                    + LMDBError.verifyRemedy)
        }
        let newest = second.transaction > first.transaction ? second : first
        var file = daybook_file()
        let status = daybook_look_at(descriptor, &file)
        guard status == 0 else { throw .status(status, "measuring '\(path)'") }
        let pagesPresent = UInt64(file.size) / UInt64(pageSize)
        guard newest.lastPage < pagesPresent else {
            let needed = newest.lastPage.addingReportingOverflow(1).partialValue
            throw LMDBError(
                .truncated,
                "'\(path)' is truncated: it has \(pagesPresent) of the \(needed) pages it names."
                    + LMDBError.verifyRemedy)
        }
        return second
    }

    private static func readHead(_ descriptor: Int32, _ path: String) throws(LMDBError) -> [UInt8] {
        let wanted = FileFormat.pageSizeRange.upperBound + FileFormat.metaEnd
        var bytes = [UInt8](repeating: 0, count: wanted)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, wanted, 0) }
        guard count >= 0 else { throw .status(errno, "reading '\(path)'") }
        bytes.removeLast(wanted - count)
        return bytes
    }

    // MARK: - Surroundings

    private static func refuseNetwork(_ path: String) throws(LMDBError) {
        var type = daybook_file_system_type(path)
        if type == 0 { type = daybook_file_system_type(FileNaming.folder(of: path)) }
        guard let name = networkFileSystems[UInt64(type)] else { return }
        throw LMDBError(
            .networkFileSystem,
            "'\(path)' lies on a network file system (\(name)), where LMDB's locks and memory map "
                + "do not work. Move it to a local disk.")
    }

    /// Kernel numbers of `statfs(2)`.
    private static let networkFileSystems: [UInt64: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB",
        0x5346_414F: "AFS", 0x7375_7245: "Coda", 0x564C: "NCP",
    ]
}
