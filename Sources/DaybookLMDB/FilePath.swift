internal import DaybookNewFiles

/// Where a file is: what the caller calls it, and the one path to which all symbolic links lead.
///
/// LMDB's lock file stands beside the path by which a file is opened. So whoever comes by a link must
/// not keep that path.
struct FilePath: Sendable {
    /// What the caller calls it, and so what messages say.
    let name: String
    /// Without symbolic links.
    let path: String
    /// Where its lock file is.
    var lockPath: String { path + "-lock" }

    init(_ name: String) {
        self.name = name
        path = FilePlace.resolved(name)
    }
}
