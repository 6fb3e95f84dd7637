package import Foundation

/// A folder for one test, removed with its content when it is no longer used.
package final class TemporaryDirectory: Sendable {
    /// The location of the folder.
    package let url: URL

    /// Makes an empty folder.
    package init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            print("The temporary folder \(url.path) could not be removed: \(error)")
        }
    }

    /// The path of a file of that name in the folder.
    package func path(_ name: String) -> String {
        url.appendingPathComponent(name).path
    }
}
