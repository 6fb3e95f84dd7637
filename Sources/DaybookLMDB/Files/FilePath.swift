internal import DaybookNewFiles

/// The path of a file: the caller's name for it, and the one path to which all symbolic links lead.
///
/// LMDB puts the lock file beside the path by which a file is opened. So a symbolic link must be
/// resolved first.
struct FilePath: Sendable {
    /// The caller's name for it, which messages use.
    let name: String
    /// Without symbolic links.
    let path: String
    /// The path of its lock file.
    var lockPath: String { path + "-lock" }

    init(_ name: String) {
        self.name = name
        path = FileNaming.resolved(name)
    }
}
