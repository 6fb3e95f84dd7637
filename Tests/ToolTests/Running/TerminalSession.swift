import DaybookTestSupport
import Foundation
import Testing

/// The tool at a terminal, provided by `script`, and its user's input.
final class TerminalSession {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var seen = 0
    private(set) var transcript = ""
    private var bytes = Data()

    /// Starts the tool.
    ///
    /// - Parameters:
    ///   - line: The command line after the tool's name, as a shell reads it.
    ///   - folder: Its working directory.
    ///   - environment: Variables set in addition to those of the test.
    /// - Throws: What Foundation throws when `script` cannot be started.
    init(_ line: String, in folder: URL, environment: [String: String] = [:]) throws {
        // In any case it ends after five minutes; a busy machine needs more than one. The tool
        // replaces the shell: a shell that waits for it, as dash does, would be ended by the
        // Control-C that the tool survives, and its exit code would hide the tool's.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments = [
            "-k", "1", "300", "script", "-qefc", "exec '\(Tool.url.path)' \(line)",
            "/dev/null",
        ]
        process.currentDirectoryURL = folder
        var variables = ProcessInfo.processInfo.environment
        for name in ["NO_COLOR", "LESS", "PAGER", "DAYBOOK_PAGER"] { variables[name] = nil }
        variables["TERM"] = "xterm"
        variables["LANG"] = "C.UTF-8"
        variables["XDG_STATE_HOME"] = folder.appending(path: "state").path
        process.environment = variables.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    /// Reads until a text appears after the one found last.
    func wait(for text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        while true {
            let rest = transcript.unicodeScalars.dropFirst(seen)
            if let range = String(rest).range(of: text) {
                let before = String(rest)[..<range.upperBound]
                seen += before.unicodeScalars.count
                return
            }
            guard readMore() else {
                Issue.record(
                    "'\(text)' did not appear: \(transcript.debugDescription)",
                    sourceLocation: sourceLocation)
                return
            }
        }
    }

    /// Types keys.
    func type(_ keys: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        // Writing without a reader would end the tests with a signal.
        guard process.isRunning else {
            Issue.record(
                "It is over: \(transcript.debugDescription)", sourceLocation: sourceLocation)
            return
        }
        try input.fileHandleForWriting.write(contentsOf: Data(keys.utf8))
    }

    /// Reads to the end.
    ///
    /// - Returns: The exit code of the tool.
    func end() -> Int32 {
        while readMore() {}
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func readMore() -> Bool {
        let more = output.fileHandleForReading.availableData
        bytes.append(more)
        transcript = String(decoding: bytes, as: UTF8.self)
        return !more.isEmpty
    }
}
