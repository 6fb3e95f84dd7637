import Daybook
import Foundation

/// Checks in a release build what tests, which are built for debugging, cannot see: that key paths still mean
/// what they say when the optimizer has been over their getters, and that what stops a debug build warns once
/// here and goes on.
@main
struct Command {
    private static let help = """
        USAGE: daybook-release-checks key-paths|lost-context

        key-paths     asks conditions with stored, computed, inherited and generic key paths
        lost-context  reads objects whose context is gone: they read as empty, and standard error
                      is told once

        'Tools/check-release' builds it and looks at what it says. Ends with 0 when all is well, 1 when
        something is named, 2 when it is asked something else, 3 in a build for debugging.

        """

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 1, let word = words.first else { fail(help, status: 2) }
        if ["--help", "-h"].contains(word) { return print(help, terminator: "") }
        var isDebugBuild = false
        assert({ isDebugBuild = true }() == ())
        guard !isDebugBuild else { fail("error: This is no release build.\n", status: 3) }
        do {
            switch word {
            case "key-paths": try KeyPathCheck.run()
            case "lost-context": try LostContextCheck.run()
            default: fail("error: There is no check '\(word)'.\n", status: 2)
            }
        } catch {
            fail("error: \(error)\n", status: 1)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data(message.utf8))
        exit(status)
    }
}

/// Something is not as it should be.
struct Finding: Error, CustomStringConvertible {
    let description: String

    /// Throws unless what was found is what was expected.
    static func unless(_ condition: Bool, _ sentence: String) throws {
        if !condition { throw Finding(description: sentence) }
    }
}

/// Runs `body` with a container whose store is gone afterwards.
func withContainer<Result>(
    _ model: [ManagedObject.Type], _ body: (PersistentContainer) throws -> Result
) throws -> Result {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("daybook-release-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let result: Result
    do {
        result = try body(
            try PersistentContainer(folder.appendingPathComponent("checks.daybook"), model: model))
    } catch {
        try FileManager.default.removeItem(at: folder)
        throw error
    }
    try FileManager.default.removeItem(at: folder)
    return result
}
