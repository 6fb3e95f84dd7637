import DaybookTestSupport
import Foundation
import Testing

/// Asks the compiler about programs that use the library.
enum SwiftCompiler {
    /// How far the compiler looks.
    enum Examination {
        /// At types and what may be sent by its type.
        case types
        /// Also at what the code does with a value that was sent, which it only does to programs whose types are
        /// right.
        case sending

        fileprivate var flags: [String] {
            switch self {
            case .types: ["-typecheck"]
            case .sending: ["-emit-sil", "-o", "/dev/null"]
            }
        }
    }

    /// What the compiler says to a file of a program that uses the library.
    static func talk(
        about source: String, examining examination: Examination = .types
    ) throws -> String {
        let compiler = try #require(compiler, "swiftc is looked for where 'PATH' says.")
        let folder = try ScratchFolder()
        let file = folder.url.appendingPathComponent("Declarations.swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        // A module with sources of its own has its map where it was built; its folder must not be searched for headers.
        let sources = Fixture.folder.deletingLastPathComponent().appendingPathComponent("Sources")
        let headers = try FileManager.default.contentsOfDirectory(atPath: sources.path)
            .filter { $0.hasPrefix("C") }
        let built = Tool.url.deletingLastPathComponent()
        let maps = headers.flatMap {
            [sources.appendingPathComponent($0), built.appendingPathComponent("\($0).build")]
        }.filter {
            let map = $0.appendingPathComponent("module.modulemap")
            return FileManager.default.fileExists(atPath: map.path)
        }
        return try ChildProcess.run(
            compiler,
            examination.flags
                + [
                    "-swift-version", "6", "-diagnostic-style", "llvm",
                    "-I", built.appendingPathComponent("Modules").path,
                ]
                + maps.flatMap { ["-I", $0.path] }
                + [file.path]
        ).talk
    }

    /// Checks that each line of a program with `// error: TEXT` at its end is refused with that text, and no other.
    static func expectErrors(
        of source: String, examining examination: Examination,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let talk = try talk(about: source, examining: examination)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let said = talk.split(separator: "\n").filter {
                $0.contains("Declarations.swift:\(index + 1):") && $0.contains(" error: ")
            }
            guard let mark = line.range(of: "// error: ") else {
                #expect(said.isEmpty, "\(line)\n\(said)", sourceLocation: sourceLocation)
                continue
            }
            let sentence = line[mark.upperBound...]
            #expect(
                said.contains { $0.contains(sentence) }, "\(line)\n\(talk)",
                sourceLocation: sourceLocation)
        }
    }

    private static let compiler = (ProcessInfo.processInfo.environment["PATH"] ?? "")
        .split(separator: ":")
        .map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}
