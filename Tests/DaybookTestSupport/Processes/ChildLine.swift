internal import Foundation

/// A script that runs until this process lets it go, and answers in lines.
package final class ChildLine: Sendable {
    private let output: FileHandle
    private let errors: FileHandle
    // Its end is the end of the script.
    private let input: FileHandle

    package init(script: String, arguments: [String]) throws {
        let process = Process()
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script, "postgres"] + arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        self.input = input.fileHandleForWriting
        self.output = output.fileHandleForReading
        self.errors = errors.fileHandleForReading
    }

    /// What it has complained of, when it has ended.
    package var complaints: String { String(decoding: errors.readDataToEndOfFile(), as: UTF8.self) }

    /// The next line that it writes; nil when it has ended.
    package func nextLine() throws -> String? {
        var line: [UInt8] = []
        while let byte = try output.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
