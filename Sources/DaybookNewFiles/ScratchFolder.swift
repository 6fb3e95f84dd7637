internal import Foundation

/// A folder for its owner alone that goes away, with the files in it, when this value does.
package final class ScratchFolder: Sendable {
    /// Where it is.
    package let path: String
    private let number: UInt64

    /// Makes a folder in the system's temporary folder.
    ///
    /// - Parameter purpose: What its name says that it is for: "replay".
    /// - Throws: ``NewFileError``.
    package convenience init(for purpose: String) throws(NewFileError) {
        try self.init(
            in: FileManager.default.temporaryDirectory.path, named: "daybook-\(purpose)")
    }

    /// Makes a folder beside the place of a file.
    convenience init(besides path: String) throws(NewFileError) {
        let folder = FilePlace.folder(of: path)
        guard access(folder, F_OK) == 0 else { throw .noFolder(path, folder) }
        try self.init(in: folder, named: FilePlace.name(of: path), for: path)
    }

    /// Makes a folder; `target` is what is told not to be made when that fails, nil for the folder itself.
    private init(
        in folder: String, named name: String, for target: String? = nil
    ) throws(NewFileError) {
        let digits = String(UInt64.random(in: 0..<1 << 48), radix: 16)
        let zeros = String(repeating: "0", count: 12 - digits.count)
        // The name of a file may be as long as a name can be.
        path = "\(folder)/\(name.prefix(Self.namePartMaximum)).\(zeros)\(digits)"
        number = try UnfinishedFolders.make(path, for: target ?? path)
    }

    deinit {
        discard()
    }

    /// The path of a file that is made in it.
    package func path(_ name: String) -> String {
        UnfinishedFolders.note(name, in: number)
        return "\(path)/\(name)"
    }

    /// Removes the folder and the files in it.
    func discard() {
        UnfinishedFolders.discard(number)
    }

    private static let namePartMaximum = 60
}
