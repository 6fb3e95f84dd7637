internal import Foundation

/// A private folder that is removed, with its files, together with this value.
package final class ScratchFolder: Sendable {
    /// Where it is.
    package let path: String
    private let number: UInt64

    /// Makes a folder in the system's temporary folder.
    ///
    /// - Parameter purpose: The purpose in its name: "replay".
    /// - Throws: ``NewFileError``.
    package convenience init(for purpose: String) throws(NewFileError) {
        try self.init(
            in: FileManager.default.temporaryDirectory.path, named: "daybook-\(purpose)")
    }

    /// Makes a folder in another one.
    ///
    /// - Parameters:
    ///   - folder: The other one.
    ///   - purpose: The purpose in its name.
    /// - Throws: ``NewFileError``.
    package convenience init(in folder: String, for purpose: String) throws(NewFileError) {
        try self.init(in: folder, named: "daybook-\(purpose)")
    }

    /// Makes a folder beside a file.
    convenience init(besides path: String) throws(NewFileError) {
        let folder = FileNaming.folder(of: path)
        guard access(folder, F_OK) == 0 else { throw .noFolder(path, folder) }
        try self.init(in: folder, named: FileNaming.name(of: path), for: path)
    }

    /// Makes a folder; `target` is the file that an error message names, nil for the folder itself.
    private init(
        in folder: String, named name: String, for target: String? = nil
    ) throws(NewFileError) {
        // The file's name may already have the maximal length.
        let prefix = String(name.prefix(Self.namePartMaximum))
        (path, number) = try UnfinishedFolders.make(in: folder, named: prefix, for: target)
    }

    deinit {
        discard()
    }

    /// The path of a file in it.
    package func path(_ name: String) -> String {
        UnfinishedFolders.remember(name, in: number)
        return "\(path)/\(name)"
    }

    /// Removes the folder and the files in it.
    func discard() {
        UnfinishedFolders.discard(number)
    }

    private static let namePartMaximum = 60
}
