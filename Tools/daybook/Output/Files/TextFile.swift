import DaybookNewFiles
import Foundation

/// Small files that commands read or make: keys, checkpoints, proofs.
enum TextFile {
    /// More than any of them has; a larger file is something else.
    private static let textMaximum = 1 << 20
    /// More than any entry has.
    private static let dataMaximum = 1 << 30

    /// The text of a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - what: The expected content, as it reads in a message: "checkpoint".
    /// - Returns: The text.
    /// - Throws: ``ToolError`` when it cannot be read or is no text.
    static func read(_ path: String, _ what: String) throws -> String {
        let bytes = try bytes(path, what, upTo: textMaximum + 1)
        guard bytes.count <= textMaximum, let text = String(validating: bytes, as: UTF8.self)
        else { throw ToolError.usage("The \(what) '\(path)' is not text of a reasonable length.") }
        return text
    }

    /// The bytes of a file, which may be a pipe.
    static func data(_ path: String, _ what: String) throws -> Data {
        let bytes = try bytes(path, what, upTo: dataMaximum + 1)
        guard bytes.count <= dataMaximum else {
            throw ToolError.usage("The \(what) '\(path)' is longer than any \(what) can be.")
        }
        return Data(bytes)
    }

    private static func bytes(_ path: String, _ what: String, upTo limit: Int) throws -> [UInt8] {
        do {
            return try SystemCall.contents(of: path, upTo: limit)
        } catch {
            throw ToolError.system("The \(what) '\(path)' cannot be read", error.number)
        }
    }

    /// Makes a new file, and runs the work that depends on it.
    ///
    /// - Parameters:
    ///   - path: The file, which is synced when `work` begins.
    ///   - bytes: Its content.
    ///   - readers: The users who may read it.
    ///   - work: The work; if it fails, the file is removed again.
    /// - Throws: ``ToolError`` when the file exists already or cannot be written; errors of `work`.
    static func make(
        _ path: String, _ bytes: [UInt8], for readers: NewFile.Readers = .owner,
        with work: () throws -> Void
    ) throws {
        let file = try NewFile(path, for: readers)
        try file.write(bytes)
        try file.finish()
        do {
            try work()
        } catch {
            do {
                try file.takeBack()
            } catch let other {
                throw ToolError.usage("\(ToolError(error).message) \(other)")
            }
            throw error
        }
    }
}
