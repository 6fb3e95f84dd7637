import DaybookTestSupport
import Foundation
import Testing

/// Asks the compiler about programs that use the library.
enum SwiftCompiler {
    /// What the compiler says to a file of a program that uses the library.
    static func talk(about source: String) throws -> String {
        let compiler = try #require(compiler, "swiftc is looked for where 'PATH' says.")
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("Declarations.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        let root = Fixture.folder.deletingLastPathComponent()
        let headers = try FileManager.default.contentsOfDirectory(
            atPath: root.appendingPathComponent("Sources").path
        ).filter { $0.hasPrefix("C") }
        // A module with sources of its own has its map where it was built.
        let built = Tool.url.deletingLastPathComponent()
        let modules = built.appendingPathComponent("Modules")
        return try ChildProcess.run(
            compiler,
            ["-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm", "-I", modules.path]
                + headers.flatMap { ["-I", root.appendingPathComponent("Sources/\($0)").path] }
                + headers.flatMap { ["-I", built.appendingPathComponent("\($0).build").path] }
                + [file.path]
        ).talk
    }

    private static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}
