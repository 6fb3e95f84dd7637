internal import CDaybookLMDB
internal import Foundation

/// The path of a file: the caller's name for it, and the one path to which all symbolic links lead.
///
/// LMDB puts the lock file beside the path by which a file is opened. So a symbolic link must be
/// resolved first.
package struct FilePath: Sendable {
    /// The caller's name for it, which messages use.
    let name: String
    /// Without symbolic links.
    let path: String
    /// The path of its lock file.
    var lockPath: String { path + "-lock" }

    init(_ name: String) {
        self.name = name
        path = Self.resolved(name)
    }

    /// The path without links, from the root; the file need not exist yet.
    ///
    /// - Returns: The path unchanged when even its folder does not exist, or its name is not UTF-8.
    package static func resolved(_ path: String) -> String {
        var path = path
        for _ in 0..<linksMaximum {
            if let whole = canonical(path) { return whole }
            // A link to a file that does not exist yet is resolved, too.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            else { break }
            path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
        }
        guard let folder = canonical(folder(of: path)) else { return path }
        return (folder == "/" ? "" : folder) + "/" + (path.split(separator: "/").last ?? "")
    }

    /// The folder of a path.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        // A repaired name of a folder that is not UTF-8 would name another folder.
        return String(validatingCString: found)
    }

    /// As many as Linux follows.
    private static let linksMaximum = 40
}
