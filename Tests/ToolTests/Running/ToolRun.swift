// The room of running: the tool as a process, at a terminal or not, and the stores on which the tests of the
// other rooms run it.

import DaybookTestSupport
import Foundation

/// The result of a run of the tool.
struct ToolResult: Sendable {
    let status: Int32
    let output: Data
    let talk: String

    /// Standard output as text.
    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// Runs the tool like people and scripts do: as a process.
enum Tool {
    /// The built tool.
    static let url = BuiltTool.daybook

    /// Runs the tool to its end.
    ///
    /// - Parameters:
    ///   - arguments: The command line after the tool's name.
    ///   - input: Its standard input; empty when nil.
    ///   - environment: Variables set in addition to those of the test.
    ///   - directory: The folder it runs in.
    /// - Returns: Its output and its exit code; a signal counts as 128 plus its number.
    /// - Throws: What Foundation throws when the tool cannot be started.
    static func run(
        _ arguments: [String], input: Data? = nil, environment: [String: String] = [:],
        in directory: URL? = nil
    ) throws -> ToolResult {
        try run(executable: url, arguments, input: input, environment: environment, in: directory)
    }

    /// Runs a line of shell in which `$DAYBOOK` is the tool.
    static func shell(_ line: String, environment: [String: String] = [:]) throws -> ToolResult {
        let variables = environment.merging(["DAYBOOK": url.path]) { own, _ in own }
        return try run(
            executable: URL(fileURLWithPath: "/bin/bash"), ["-c", line], input: nil,
            environment: variables, in: nil)
    }

    private static func run(
        executable: URL, _ arguments: [String], input: Data?, environment: [String: String],
        in directory: URL?
    ) throws -> ToolResult {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        var variables = ProcessInfo.processInfo.environment
        variables["NO_COLOR"] = nil
        process.environment = variables.merging(environment) { $1 }

        // Files, not pipes: neither side can block the other, however much is written.
        let scratch = try ScratchFolder()
        defer { withExtendedLifetime(scratch) {} }
        let source = scratch.url.appendingPathComponent("input")
        try (input ?? Data()).write(to: source)
        let output = try scratch.makeFile("output")
        let talk = try scratch.makeFile("talk")
        process.standardInput = try FileHandle(forReadingFrom: source)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: talk)
        try process.run()
        process.waitUntilExit()
        return ToolResult(
            status: process.terminationReason == .exit
                ? process.terminationStatus : 128 + process.terminationStatus,
            output: try Data(contentsOf: output),
            talk: String(decoding: try Data(contentsOf: talk), as: UTF8.self))
    }
}

/// A folder that is removed with its last user.
final class ScratchFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("daybook-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            FileHandle.standardError.write(Data("The folder \(url.path) stays: \(error)\n".utf8))
        }
    }

    /// Creates an empty file.
    func makeFile(_ name: String) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data().write(to: file)
        return file
    }
}
