package import Foundation

/// A child process, whose output is read while it runs and which can be killed at any moment.
package final class ChildProcess {
    /// The end of a process.
    package enum Ending: Sendable, Hashable {
        /// It exited with a code.
        case exited(Int32)
        /// A signal ended it.
        case killed(Int32)
    }

    private let process = Process()
    private let output = Pipe()
    private let talkFile: URL
    private let scratch: TemporaryDirectory
    private var input: Pipe?
    private var buffer: [UInt8] = []
    private var isAtEnd = false

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its command line without its name.
    ///   - input: The file on its standard input; nil for a pipe that ``write(_:)`` fills.
    ///   - environment: Variables set in addition to those of the test.
    /// - Throws: Foundation's error when it cannot be started.
    package init(
        _ executable: URL, _ arguments: [String], input: URL? = nil,
        environment: [String: String] = [:]
    ) throws {
        scratch = try TemporaryDirectory()
        talkFile = scratch.url.appendingPathComponent("talk")
        try Data().write(to: talkFile)
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment
            .merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: talkFile)
        if let input {
            process.standardInput = try FileHandle(forReadingFrom: input)
        } else {
            let pipe = Pipe()
            self.input = pipe
            process.standardInput = pipe
        }
        try process.run()
    }

    /// Runs a program to its end.
    package static func run(
        _ executable: URL, _ arguments: [String], input: URL? = nil
    ) throws -> (lines: [String], talk: String, ending: Ending) {
        let child = try ChildProcess(
            executable, arguments, input: input ?? URL(fileURLWithPath: "/dev/null"))
        let lines = child.remainingLines()
        return (lines, try child.talk(), child.wait())
    }

    // MARK: - Input and output

    /// The next complete line of its output; nil at the end. A line cut off by a kill is left out.
    package func nextLine() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeSubrange(...end)
                return line
            }
            if isAtEnd { return nil }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { isAtEnd = true }
            buffer.append(contentsOf: more)
        }
    }

    /// Waits until it has written something, and keeps it for later.
    package func waitForOutput() {
        guard buffer.isEmpty, !isAtEnd else { return }
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { isAtEnd = true }
        buffer.append(contentsOf: more)
    }

    /// All complete lines up to the end of its output.
    package func remainingLines() -> [String] {
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        return lines
    }

    /// Writes to its standard input.
    package func write(_ text: String) throws {
        try input?.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    }

    /// Ends its standard input.
    package func endInput() throws {
        try input?.fileHandleForWriting.close()
    }

    /// Its standard error so far.
    package func talk() throws -> String {
        String(decoding: try Data(contentsOf: talkFile), as: UTF8.self)
    }

    // MARK: - Its end

    /// Its number.
    package var number: Int32 { process.processIdentifier }

    /// Sends it a signal.
    package func send(_ signal: Int32) {
        #if canImport(Glibc)
        Glibc.kill(process.processIdentifier, signal)
        #else
        Darwin.kill(process.processIdentifier, signal)
        #endif
    }

    /// Kills it immediately, whatever it is doing.
    package func kill() {
        send(SIGKILL)
    }

    /// Waits for its end.
    @discardableResult
    package func wait() -> Ending {
        process.waitUntilExit()
        return process.terminationReason == .exit
            ? .exited(process.terminationStatus) : .killed(process.terminationStatus)
    }
}

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
