import Foundation
import PackagePlugin

/// `swift package daybook-model --from FILE [--swift] [--output DIR]`: does what `daybook model --from`
/// does, and writes the result into the package.
@main struct DaybookModelPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let files = extractor.extractOption(named: "from")
        let folders = extractor.extractOption(named: "output")
        let isSwift = extractor.extractFlag(named: "swift") > 0
        guard let file = files.last, folders.count <= 1 else {
            throw PluginFailure(
                "Name the model with '--from FILE', and where to write with '--output DIR' if not to "
                    + "standard output.")
        }
        let tool = try command()
        let words =
            ["model", "--from", path(file, in: context)] + (isSwift ? ["--swift"] : [])
            + extractor.remainingArguments
        guard let folder = folders.last else {
            try run(tool, words, to: .standardOutput)
            return
        }
        let directory = URL(fileURLWithPath: path(folder, in: context))
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
        let written = directory.appendingPathComponent(name + (isSwift ? ".swift" : ".json"))
        let draft = context.pluginWorkDirectoryURL.appendingPathComponent("\(UUID()).draft")
        try Data().write(to: draft)
        defer { discard(draft) }
        let handle = try FileHandle(forWritingTo: draft)
        let failure = Result { try run(tool, words, to: handle) }
        try handle.close()
        // What was there stays unless there is something new.
        try failure.get()
        try Data(contentsOf: draft).write(to: written, options: .atomic)
        print("Wrote '\(written.path)'.")
    }

    /// The command, which is built if it is not there.
    private func command() throws -> URL {
        let result = try packageManager.build(.product("daybook"), parameters: .init())
        let programs = result.builtArtifacts.filter { $0.kind == .executable }
        guard result.succeeded,
            let program = programs.first(where: { $0.url.lastPathComponent == "daybook" })
        else { throw PluginFailure("The command 'daybook' cannot be built:\n\(result.logText)") }
        return program.url
    }

    /// A path as it is meant by somebody who works in the package.
    private func path(_ path: String, in context: PluginContext) -> String {
        path.hasPrefix("/") ? path : context.package.directoryURL.appendingPathComponent(path).path
    }

    private func run(_ tool: URL, _ words: [String], to output: FileHandle) throws {
        let process = Process()
        process.executableURL = tool
        process.arguments = words
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw PluginFailure("'daybook model' ended with \(process.terminationStatus).")
        }
    }

    private func discard(_ file: URL) {
        do {
            try FileManager.default.removeItem(at: file)
        } catch {
            Diagnostics.warning("'\(file.path)' stays: \(error)")
        }
    }
}

/// Why nothing was written.
struct PluginFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
