import Foundation

/// A file that a command makes piece by piece; nothing is left of one that is not finished.
final class NewFile {
    private let path: String
    private let handle: FileHandle
    private var buffer: [UInt8] = []

    /// Makes a file that was not there.
    ///
    /// - Throws: ``ToolError`` when it is there already or cannot be made.
    init(_ path: String) throws {
        self.path = path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ToolError.system("'\(path)' cannot be made", errno) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Adds bytes.
    func write(_ bytes: [UInt8]) throws {
        buffer += bytes
        if buffer.count >= ByteWriter.bufferSize { try flush() }
    }

    /// Ends the file, which is on the disk then.
    func finish() throws {
        try flush()
        try telling { try handle.synchronize() }
        try telling { try handle.close() }
    }

    /// Takes the file away again.
    func abandon() throws {
        try telling { try FileManager.default.removeItem(atPath: path) }
    }

    private func flush() throws {
        try telling { try handle.write(contentsOf: buffer) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func telling(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            throw ToolError.usage(
                "'\(path)' cannot be written: \(ToolError.words(for: error)).")
        }
    }
}
