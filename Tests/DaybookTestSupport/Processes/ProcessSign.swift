import Foundation

/// A word that one process gives, for which a thread of another one waits without using the processor.
///
/// The other process of a test begins late when many tests run: an exit test waits for its turn behind all tests
/// that have not begun. A thread that asks again and again meanwhile takes the processor from those. The sign is a
/// named pipe, which the process that made it keeps open: a word stays in it until it is read.
package final class ProcessSign: Sendable {
    /// The longest word, in bytes.
    private static let bytesMaximum = 64
    /// The longest wait. Other tests may delay the process that gives the sign, and it may have ended without.
    private static let milliseconds: Int32 = 3_600_000

    private let path: String
    /// Nil in other processes than the one that made it.
    private let kept: FileHandle?

    private init(_ path: String, _ kept: FileHandle?) {
        self.path = path
        self.kept = kept
    }

    /// The sign that another process has made at that path, and keeps.
    package convenience init(at path: String) {
        self.init(path, nil)
    }

    /// Makes a sign, before any process gives it or waits for it.
    ///
    /// - Parameter path: Where nothing is yet.
    /// - Returns: The sign, to be kept until it has come.
    /// - Throws: The system's refusal.
    package static func make(at path: String) throws -> ProcessSign {
        guard mkfifo(path, 0o600) == 0 else { throw refusal() }
        return ProcessSign(path, try FileHandle(forUpdating: URL(fileURLWithPath: path)))
    }

    /// Gives the sign.
    ///
    /// - Parameter word: What who waits is told, in at most 64 bytes.
    /// - Throws: The system's refusal.
    package func give(_ word: String = "begun") throws {
        precondition((1...Self.bytesMaximum).contains(word.utf8.count))
        // Not only for writing: to open a pipe that nobody keeps any more would wait for a reader.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data(word.utf8))
        try file.close()
    }

    /// Waits for the sign, for at most an hour. The thread that calls it is blocked.
    ///
    /// - Returns: The word that was given.
    /// - Throws: The system's refusal, or an error when nobody has given the sign.
    @discardableResult
    package func wait() throws -> String {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Self.refusal() }
        defer { close(file) }
        var asked = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
        var ready = poll(&asked, 1, Self.milliseconds)
        while ready < 0 && errno == EINTR { ready = poll(&asked, 1, Self.milliseconds) }
        guard ready > 0 else { throw NoSign(path: path) }
        var bytes = [UInt8](repeating: 0, count: Self.bytesMaximum)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { throw NoSign(path: path) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func refusal() -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}

/// Nobody has given a sign.
private struct NoSign: Error {
    let path: String
}

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
