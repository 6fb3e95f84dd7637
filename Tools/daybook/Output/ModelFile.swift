import DaybookObjectModel
import Foundation

/// Reads a model from a file that the user names.
enum ModelFile {
    /// The model in a file; `-` is standard input.
    ///
    /// - Throws: ``ToolError`` when there is none, or when it does not hold together.
    static func read(_ path: String, _ console: Console) throws -> ManagedObjectModel {
        do {
            let model = try ManagedObjectModel(json: text(of: path, console))
            _ = try Schema(model)
            return model
        } catch let error as ModelError {
            let name = path == "-" ? "The model" : "The model in '\(path)'"
            throw ToolError(
                .usage, "\(name) cannot be used: \(error.problems.joined(separator: " "))")
        }
    }

    private static func text(of path: String, _ console: Console) throws -> String {
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
