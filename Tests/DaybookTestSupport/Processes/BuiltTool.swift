package import Foundation

/// The executables of this package, which the build puts beside the test bundle.
package enum BuiltTool {
    /// The location of the executable with that name, in any scratch folder.
    package static func url(_ name: String) -> URL {
        let bundle = ProcessInfo.processInfo.arguments.first { $0.hasSuffix(".xctest") }
        let neighbours = [
            bundle.map { URL(fileURLWithPath: $0) }, Bundle.main.executableURL,
            Bundle.main.bundleURL,
        ]
        let candidates = neighbours.compactMap { neighbour in
            neighbour?.deletingLastPathComponent().appendingPathComponent(name)
        }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }
            ?? URL(fileURLWithPath: name)
    }

    /// The command `daybook`.
    package static let daybook = url("daybook")

    /// A program of the system; nil when it is not installed.
    package static func system(_ name: String) -> URL? {
        ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/"]
            .map { URL(fileURLWithPath: $0 + name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
