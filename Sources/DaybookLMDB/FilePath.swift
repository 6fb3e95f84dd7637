internal import CDaybookLMDB
internal import Foundation

/// Where a file is: what the caller calls it, and the one path to which all symbolic links lead.
///
/// LMDB's lock file stands beside the path by which a file is opened. So whoever comes by a link must
/// not keep that path.
package struct FilePath: Sendable {
    /// What the caller calls it, and so what messages say.
    let name: String
    /// Without symbolic links.
    let path: String
    /// Where its lock file is.
    var lockPath: String { path + "-lock" }

    init(_ name: String) {
        self.name = name
        path = Self.resolved(name)
    }

    /// The path without links, from the root; the file need not be there yet.
    ///
    /// - Returns: The path as it is when not even its folder is there, or its name is not UTF-8.
    package static func resolved(_ path: String) -> String {
        var path = path
        for _ in 0..<linksMaximum {
            if let whole = canonical(path) { return whole }
            // A link to a file that is yet to be made leads there all the same.
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
            else { break }
            path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
        }
        guard let folder = canonical(folder(of: path)) else { return path }
        return (folder == "/" ? "" : folder) + "/" + (path.split(separator: "/").last ?? "")
    }

    /// The folder that a path leads into.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func canonical(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        // Put right, the name of a folder that is not UTF-8 would be that of another.
        return String(validatingCString: found)
    }

    /// As many as Linux follows.
    private static let linksMaximum = 40
}
