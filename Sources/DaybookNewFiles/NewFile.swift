internal import Foundation

/// A file that is written byte by byte and appears when it is complete.
///
/// Where the file system allows that, it has no name until then, and nothing is left of it however
/// the process ends. Elsewhere it has another name until then.
///
/// ```swift
/// let file = try NewFile(path)
/// try file.write(bytes)
/// try file.finish()
/// ```
package final class NewFile {
    /// Who may use a file.
    package enum Readers: Sendable {
        /// Only its owner: for files that may hold values of objects, or a secret.
        case owner
        /// Everyone allowed by the process's mask.
        case everybody

        fileprivate var mode: mode_t { self == .owner ? 0o600 : 0o666 }
    }

    private static let bufferSize = 64 * 1024

    private let path: String
    private let descriptor: Int32
    /// Its temporary location; nil while it has no name.
    private let draft: DraftFile?
    private let replaces: Bool
    private var buffer: [UInt8] = []

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: Its final name.
    ///   - readers: Who may use it.
    /// - Throws: ``NewFileError`` with reason `exists` when the path exists.
    package convenience init(
        _ path: String, for readers: Readers = .owner
    ) throws(NewFileError) {
        try FileNaming.checkFree(path)
        try self.init(path, for: readers, replaces: false)
    }

    private init(_ path: String, for readers: Readers, replaces: Bool) throws(NewFileError) {
        self.path = path
        self.replaces = replaces
        // A nameless file can only get a free name.
        if !replaces, let nameless = Self.openNameless(besides: path, readers.mode) {
            descriptor = nameless
            draft = nil
        } else {
            let draft = try DraftFile(replacing: path)
            descriptor = try draft.open(mode: readers.mode)
            self.draft = draft
        }
    }

    deinit {
        close(descriptor)
    }

    /// Adds bytes.
    package func write(_ bytes: some Sequence<UInt8>) throws(NewFileError) {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Ends the file and gives it its name. Then both are on the disk.
    ///
    /// - Throws: ``NewFileError`` with reason `exists` when another process was faster. Only if the
    ///   folder cannot be synced does the file have its name after an error.
    package func finish() throws(NewFileError) {
        try flush()
        if let draft {
            try replaces ? draft.placeReplacing() : draft.place()
            return
        }
        guard fsync(descriptor) == 0 else { throw .system(path, "written", errno) }
        try FileNaming.link(Self.handle(of: descriptor), to: path)
        try FileNaming.syncFolder(of: path)
    }

    /// Writes a file that everybody may read completely or not at all, replacing an existing one.
    ///
    /// - Throws: ``NewFileError``.
    package static func replace(_ path: String, with bytes: [UInt8]) throws(NewFileError) {
        let file = try NewFile(path, for: .everybody, replaces: true)
        try file.write(bytes)
        try file.finish()
    }

    /// Returns when all writes are on the disk, including the names of new folders.
    package static func syncAll() {
        FileNaming.syncAll()
    }

    /// Removes a finished file again, unless another process has replaced it.
    ///
    /// - Throws: ``NewFileError``.
    package func takeBack() throws(NewFileError) {
        var mine = stat()
        var found = stat()
        guard fstat(descriptor, &mine) == 0, lstat(path, &found) == 0,
            mine.st_dev == found.st_dev, mine.st_ino == found.st_ino
        else { return }
        guard unlink(path) == 0 else { throw .system(path, "taken away again", errno) }
    }

    private func flush() throws(NewFileError) {
        defer { buffer.removeAll(keepingCapacity: true) }
        var rest = buffer
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(path, "written", errno) }
            rest.removeFirst(count)
        }
    }

    // MARK: - Files without a name

    /// Opens a nameless file in the folder of a path; nil if that is impossible.
    private static func openNameless(besides path: String, _ mode: mode_t) -> Int32? {
        #if os(Linux)
        let nameless: Int32 = 0x40_0000 | O_DIRECTORY
        let descriptor = open(FileNaming.folder(of: path), nameless | O_WRONLY | O_CLOEXEC, mode)
        guard descriptor >= 0 else { return nil }
        // Without /proc it could never get a name.
        guard access(handle(of: descriptor), F_OK) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
        #else
        return nil
        #endif
    }

    private static func handle(of descriptor: Int32) -> String {
        "/proc/self/fd/\(descriptor)"
    }
}
