internal import Foundation

/// A file that is made in a folder of its own and gets its name when it is complete.
///
/// It is for files that are opened by their names while they grow, such as stores. For sequential
/// writes, ``NewFile`` leaves less behind.
///
/// ```swift
/// let draft = try DraftFile(for: path)
/// defer { draft.discard() }
/// try fill(draft.path)
/// try draft.place()
/// ```
///
/// Invariants:
/// - A file at the requested path belongs to another process, or is complete and on the disk.
/// - Only the folder that was made here is removed, with its content.
package final class DraftFile {
    /// The temporary path of the file: the same name in a folder beside it. At first no file is
    /// there.
    package let path: String
    private let target: String
    private let folder: ScratchFolder

    /// Makes the folder for a file.
    ///
    /// - Throws: ``NewFileError`` with reason `exists` when `target` exists.
    package convenience init(for target: String) throws(NewFileError) {
        try FileNaming.checkFree(target)
        try self.init(replacing: target)
    }

    /// Makes the folder for a file that replaces an existing one, if any.
    package init(replacing target: String) throws(NewFileError) {
        self.target = target
        folder = try ScratchFolder(besides: target)
        path = folder.path(FileNaming.name(of: target))
    }

    /// Makes the empty file, which is its owner's alone, for libraries that open an existing one.
    package func makeEmpty() throws(NewFileError) {
        close(try open(mode: 0o600))
    }

    /// Makes the file and opens it for writing.
    func open(mode: mode_t) throws(NewFileError) -> Int32 {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .system(target, "made", errno) }
        return descriptor
    }

    /// Gives the file, which must not be open in this process, its name. Then its bytes and its
    /// name are on the disk.
    ///
    /// - Throws: ``NewFileError`` with reason `exists` when another process was faster. Only if the
    ///   folder cannot be synced does the file have its name after an error.
    package func place() throws(NewFileError) {
        try place { () throws(NewFileError) in try FileNaming.link(path, to: target) }
    }

    /// The same, replacing an existing file, if any.
    func placeReplacing() throws(NewFileError) {
        try place { () throws(NewFileError) in
            guard rename(path, target) == 0 else { throw .system(target, "made", errno) }
        }
    }

    /// Gives the file its name as ``place()`` does, with the caller's method.
    ///
    /// - Parameter naming: Gives the file its name.
    /// - Throws: ``NewFileError``; errors of `naming`.
    package func place(by naming: () throws -> Void) throws {
        try FileNaming.sync(path, for: target)
        try UnfinishedFolders.naming(naming)
        try finish()
    }

    private func place(_ naming: () throws(NewFileError) -> Void) throws(NewFileError) {
        try FileNaming.sync(path, for: target)
        try UnfinishedFolders.naming(naming)
        try finish()
    }

    private func finish() throws(NewFileError) {
        discard()
        try FileNaming.syncFolder(of: target)
    }

    /// Removes the file, unless it has its name.
    package func discard() {
        folder.discard()
    }
}
