internal import Foundation

/// A file that comes to be in a folder of its own and gets its name when it is whole.
///
/// It is for files that are opened by their names while they grow, such as stores. Where bytes are
/// written one after the other, ``NewFile`` leaves less behind.
///
/// ```swift
/// let draft = try DraftFile(for: path)
/// defer { draft.discard() }
/// try fill(draft.path)
/// try draft.place()
/// ```
///
/// Invariants:
/// - What stands at the path that is wanted is somebody else's, or whole and on the disk.
/// - Nothing is removed but the folder that was made here, and what is in it.
package final class DraftFile {
    /// Where the file is meanwhile: under the same name in a folder beside it. Nothing stands there at
    /// first.
    package let path: String
    private let target: String
    private let folder: ScratchFolder

    /// Makes the folder for a file.
    ///
    /// - Throws: ``NewFileError`` with reason `exists` when something stands at `target`.
    package convenience init(for target: String) throws(NewFileError) {
        try FilePlace.checkFree(target)
        try self.init(replacing: target)
    }

    /// Makes the folder for a file that takes the place of one that may be there.
    package init(replacing target: String) throws(NewFileError) {
        self.target = target
        folder = try ScratchFolder(besides: target)
        path = folder.path(FilePlace.name(of: target))
    }

    /// Makes the file, without a byte, for libraries that open what is there.
    package func makeEmpty() throws(NewFileError) {
        close(try open(mode: 0o666))
    }

    /// Makes the file and opens it for writing.
    func open(mode: mode_t) throws(NewFileError) -> Int32 {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .system(target, "made", errno) }
        return descriptor
    }

    /// Gives the file, which nobody in this process has open, its name. Its bytes and its name are
    /// on the disk then.
    ///
    /// - Throws: ``NewFileError`` with reason `exists` when somebody was faster. Only when the folder
    ///   cannot be synced does the file have its name all the same.
    package func place() throws(NewFileError) {
        try place { () throws(NewFileError) in try FilePlace.link(path, to: target) }
    }

    /// The same in the place of a file that may be there.
    func placeReplacing() throws(NewFileError) {
        try place { () throws(NewFileError) in
            guard rename(path, target) == 0 else { throw .system(target, "made", errno) }
        }
    }

    /// Gives the file its name as ``place()`` does, in a way of the caller's.
    ///
    /// - Parameter naming: Gives the file its name.
    /// - Throws: ``NewFileError``; what `naming` throws.
    package func place(by naming: () throws -> Void) throws {
        try FilePlace.sync(path, for: target)
        try UnfinishedFolders.naming(naming)
        try finish()
    }

    private func place(_ naming: () throws(NewFileError) -> Void) throws(NewFileError) {
        try FilePlace.sync(path, for: target)
        try UnfinishedFolders.naming(naming)
        try finish()
    }

    private func finish() throws(NewFileError) {
        discard()
        try FilePlace.syncFolder(of: target)
    }

    /// Removes what has been made, unless it has its name.
    package func discard() {
        folder.discard()
    }
}
