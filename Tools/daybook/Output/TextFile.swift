import Foundation

/// Small files that a command is given or makes: keys, checkpoints, proofs.
enum TextFile {
    /// More than any of them has; what is larger is something else.
    private static let bytesMaximum = 1 << 20

    /// The text of a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - what: What it should be, as it reads in a message: "checkpoint".
    /// - Returns: The text.
    /// - Throws: ``ToolError`` when it cannot be read or is no text.
    static func read(_ path: String, _ what: String) throws -> String {
        let bytes = try data(path, what)
        guard bytes.count <= bytesMaximum, let text = String(validating: bytes, as: UTF8.self)
        else { throw ToolError.usage("The \(what) '\(path)' is not a text of reasonable length.") }
        return text
    }

    /// The bytes of a file.
    static func data(_ path: String, _ what: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ToolError.usage(
                "The \(what) '\(path)' cannot be read: \(error.localizedDescription)")
        }
    }

    /// Makes a file that was not there.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - bytes: What goes into it.
    ///   - mode: Who may read and write it.
    /// - Throws: ``ToolError`` when it is there already or cannot be written.
    static func make(_ path: String, _ bytes: [UInt8], mode: mode_t) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw ToolError.system("'\(path)' cannot be made", errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: bytes)
            try file.close()
        } catch {
            throw ToolError.usage(
                "'\(path)' cannot be written: \(error.localizedDescription)")
        }
    }
}
