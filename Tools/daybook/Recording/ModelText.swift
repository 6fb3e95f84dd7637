import DaybookObjectModel
import Foundation

/// A model file that a command takes, or standard input.
struct ModelText {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Whether a file begins as JSON does, and so is not a store.
    static func isModel(_ path: String) -> Bool {
        guard let file = FileHandle(forReadingAtPath: path),
            let start = try? file.read(upToCount: 64)
        else { return false }
        return start.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
    }

    /// Reads the model.
    ///
    /// - Throws: `ToolError` with every mistake in the model, or why the file cannot be read.
    func read(_ console: Console) throws -> ManagedObjectModel {
        do {
            let model = try ManagedObjectModel(json: text(console))
            try model.validate()
            return model
        } catch let error as ModelError {
            let name = path == "-" ? "The model" : "The model in '\(path)'"
            throw ToolError(
                .usage, "\(name) cannot be used: \(error.problems.joined(separator: " "))")
        }
    }

    private func text(_ console: Console) throws -> String {
        var bytes: [UInt8] = []
        if path == "-" {
            while let line = try console.input.next() {
                bytes.append(contentsOf: line)
                bytes.append(UInt8(ascii: "\n"))
            }
        } else {
            guard FileManager.default.fileExists(atPath: path) else {
                throw ToolError.usage("There is no model file '\(path)'.")
            }
            bytes = Array(try TextFile.data(path, "model file"))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ToolError.usage("The model '\(path)' is not UTF-8 text.")
        }
        return text
    }
}
