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

    /// Makes a file that was not there.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - bytes: What goes into it.
    ///   - mode: Who may read and write it.
    ///   - work: What belongs to it: the file is taken away again when this fails.
    /// - Throws: ``ToolError`` when it is there already or cannot be written; what `work` throws.
    static func make(
        _ path: String, _ bytes: [UInt8], mode: mode_t, with work: () throws -> Void
    ) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw ToolError.system("'\(path)' cannot be made", errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            do {
                try file.write(contentsOf: bytes)
                try file.close()
            } catch {
                throw ToolError.usage(
                    "'\(path)' cannot be written: \(ToolError.words(for: error)).")
            }
            try work()
        } catch {
            guard unlink(path) == 0 else {
                throw ToolError.system(
                    "\(ToolError(error).message) '\(path)' could not be taken away again", errno)
            }
            throw error
        }
    }
}
