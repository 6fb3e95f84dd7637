import DaybookNewFiles
import Foundation

/// Small files that a command is given or makes: keys, checkpoints, proofs.
enum TextFile {
    /// More than any of them has; what is larger is something else.
    private static let textMaximum = 1 << 20
    /// More than any entry has.
    private static let dataMaximum = 1 << 30

    /// The text of a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - what: What it should be, as it reads in a message: "checkpoint".
    /// - Returns: The text.
    /// - Throws: ``ToolError`` when it cannot be read or is no text.
    static func read(_ path: String, _ what: String) throws -> String {
        let bytes = try bytes(path, what, upTo: textMaximum + 1)
        guard bytes.count <= textMaximum, let text = String(validating: bytes, as: UTF8.self)
        else { throw ToolError.usage("The \(what) '\(path)' is not a text of reasonable length.") }
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

    /// Makes a file that was not there, and does what only makes sense with it.
    ///
    /// - Parameters:
    ///   - path: The file, which is on the disk when `work` begins.
    ///   - bytes: What goes into it.
    ///   - readers: Whom it is for.
    ///   - work: What belongs to it: the file is taken away again when this fails.
    /// - Throws: ``ToolError`` when it is there already or cannot be written; what `work` throws.
    static func make(
        _ path: String, _ bytes: [UInt8], for readers: NewFile.Readers = .everybody,
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
