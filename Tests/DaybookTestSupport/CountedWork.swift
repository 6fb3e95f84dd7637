import Foundation

/// Adds up what long runs have tried, for the script that runs them.
package enum CountedWork {
    private static let file = ProcessInfo.processInfo.environment["DAYBOOK_TALLY"]

    /// Notes that so much was tried, in the file that `DAYBOOK_TALLY` names; without it nothing is noted.
    ///
    /// - Parameters:
    ///   - count: How much.
    ///   - what: Of what: "crash states".
    package static func add(_ count: Int, _ what: String) {
        guard let file else { return }
        // Other processes of the run add lines, too.
        let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let line = Array("\(count) \(what)\n".utf8)
        _ = write(descriptor, line, line.count)
        close(descriptor)
    }
}
