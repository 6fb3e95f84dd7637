import DaybookTestSupport
import Foundation
import Testing

/// The headers of the modules in C.
@Suite struct HeaderTests {
    /// Wherever the folder of such a header is searched, all that includes the system's gets it instead.
    @Test func `no header has the name of one of the system`() throws {
        let root = Fixture.folder.deletingLastPathComponent()
        var seen = 0
        for folder in ["Sources", "Tools"] {
            let files = try #require(
                FileManager.default.enumerator(
                    at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "h" {
                let name = file.lastPathComponent
                #expect(
                    !FileManager.default.fileExists(atPath: "/usr/include/\(name)"),
                    "Give \(folder)/…/\(name) another name.")
                seen += 1
            }
        }
        #expect(seen >= 12)
    }
}
