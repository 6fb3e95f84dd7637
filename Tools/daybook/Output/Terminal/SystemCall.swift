import CDaybookTerminal

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The few system calls that the frame of the tool needs.
///
/// Foundation could do the same, at the price of loading it for every `--help`.
enum SystemCall {
    /// The standard descriptors of a process.
    enum Descriptor: Int32 {
        case input = 0
        case output = 1
        case errors = 2
    }

    /// The result of a write.
    enum WriteResult {
        case written
        case closed
        case failed(Int32)
    }

    /// The most bytes that one call writes: of what a reader does not take at once little is handed over twice.
    private static let pieceSize = 64 * 1024

    /// Writes all bytes, however many calls it takes.
    static func write(_ bytes: [UInt8], to descriptor: Descriptor) -> WriteResult {
        var written = 0
        while written < bytes.count {
            let rest = Array(bytes[written...].prefix(pieceSize))
            #if canImport(Glibc)
            let count = Glibc.write(descriptor.rawValue, rest, rest.count)
            #elseif canImport(Musl)
            let count = Musl.write(descriptor.rawValue, rest, rest.count)
            #else
            let count = Darwin.write(descriptor.rawValue, rest, rest.count)
            #endif
            if count >= 0 {
                written += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: wait(for: POLLOUT, on: descriptor.rawValue)
            case EPIPE: return .closed
            case let number: return .failed(number)
            }
        }
        return .written
    }

    /// The words of the command line after the name of the program.
    ///
    /// - Throws: ``ToolError`` for a word that is not UTF-8. If it were repaired, as Swift does,
    ///   two file names could become one.
    static func commandLine() throws -> [String] {
        let handedOut = Int(terminal_argument_count())
        return try (1..<max(1, handedOut > 0 ? handedOut : Int(CommandLine.argc))).map { index in
            let found =
                handedOut > 0
                ? terminal_argument(Int32(index)) : UnsafePointer(CommandLine.unsafeArgv[index])
            guard let word = found else { return "" }
            if let text = String(validatingCString: word) { return text }
            let bytes = (0..<strlen(word)).map { UInt8(bitPattern: word[$0]) }
            throw ToolError.usage(
                "Word \(index) of the command line, '\(spelled(bytes))', is not UTF-8 text. Rename "
                    + "the file, or name it by a link.")
        }
    }

    /// Bytes as a shell accepts them between `$'` and `'`; of many the first ones.
    private static func spelled(_ bytes: [UInt8]) -> String {
        let shown = bytes.prefix(spelledMaximum)
        return shown.map { byte in
            (0x20..<0x7F).contains(byte)
                ? String(UnicodeScalar(byte))
                : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined() + (shown.count < bytes.count ? "…" : "")
    }

    /// As many bytes as a file name has at most.
    private static let spelledMaximum = 255

    /// Opens the standard descriptors that are closed.
    ///
    /// Otherwise the next file opened would get such a number, and messages would be written into
    /// it: into a store. The replacement is open in the wrong direction, so reading or writing
    /// fails as on a closed descriptor.
    static func fillDescriptors() {
        for number in 0...Descriptor.errors.rawValue {
            guard fcntl(number, F_GETFD) < 0, errno == EBADF else { continue }
            let mode = number == Descriptor.input.rawValue ? O_WRONLY : O_RDONLY
            if open("/dev/null", mode) == number { continue }
            // A folder can be neither read nor written.
            guard open("/", O_RDONLY) == number else { end(.usage) }
        }
    }

    /// Opens a file for reading.
    ///
    /// - Throws: ``Failure`` with the number of the error.
    static func openFile(_ path: String) throws(Failure) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        return descriptor
    }

    /// Closes a file that was opened for reading, by which nothing can be lost.
    static func closeFile(_ descriptor: Int32) {
        close(descriptor)
    }

    /// Reads up to `buffer.count` bytes into the buffer; 0 at the end of the input. `name` is what is
    /// read, as the subject of a sentence; the descriptor tells if it is nil.
    static func read(
        into buffer: inout [UInt8], from descriptor: Int32, calledInMessages name: String? = nil
    ) throws -> Int {
        do {
            return try readOnce(into: &buffer, from: descriptor)
        } catch {
            let usual =
                descriptor == Descriptor.input.rawValue ? "Standard input" : "What was sent"
            throw ToolError.system("\(name ?? usual) cannot be read", error.number)
        }
    }

    /// Waits for a byte; nil at the end.
    static func nextByte(from descriptor: Int32) -> UInt8? {
        var buffer: [UInt8] = [0]
        do {
            return try readOnce(into: &buffer, from: descriptor) == 1 ? buffer[0] : nil
        } catch {
            return nil
        }
    }

    /// The reason why a system call failed.
    struct Failure: Error {
        let number: Int32
    }

    /// The bytes of a file, or of a pipe or a device up to its end.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - limit: The bytes needed; at most these and one buffer more are read.
    /// - Returns: The bytes; only the first of them if there are more than `limit`.
    /// - Throws: ``Failure`` with the number of the error.
    static func contents(of path: String, upTo limit: Int) throws(Failure) -> [UInt8] {
        let descriptor = try openFile(path)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count < limit {
            let count = try readOnce(into: &buffer, from: descriptor)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        return bytes
    }

    private static func readOnce(
        into buffer: inout [UInt8], from descriptor: Int32
    ) throws(Failure) -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            #elseif canImport(Musl)
            let count = Musl.read(descriptor, &buffer, buffer.count)
            #else
            let count = Darwin.read(descriptor, &buffer, buffer.count)
            #endif
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: wait(for: POLLIN, on: descriptor)
            case let number: throw Failure(number: number)
            }
        }
    }

    /// Waits as a blocking call would: who shares a pipe or a terminal with others may find it made non-blocking by
    /// them, and must lose neither output nor input by that.
    private static func wait(for events: Int32, on descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        poll(&request, 1, -1)
    }

    /// The system's own words for an error number.
    static func message(for number: Int32) -> String {
        String(cString: strerror(number))
    }

    static func isTerminal(_ descriptor: Descriptor) -> Bool {
        isatty(descriptor.rawValue) == 1
    }

    /// The width of the terminal in columns, nil when there is none.
    static func columns(of descriptor: Descriptor) -> Int? {
        var size = winsize()
        guard ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return Int(size.ws_col)
    }

    /// The value of an environment variable; an empty one counts as not set.
    static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The value of an environment variable that becomes a part of the store or names it; an empty one counts as not
    /// set.
    ///
    /// - Throws: ``ToolError`` for one that is not UTF-8. If it were repaired, two names could become one.
    static func environmentText(_ name: String) throws -> String? {
        guard let value = getenv(name) else { return nil }
        guard let text = String(validatingCString: value) else {
            throw ToolError.usage("The environment variable \(name) is not UTF-8 text.")
        }
        return text.isEmpty ? nil : text
    }

    /// Whether a program of that name is in one of the folders of `PATH`.
    static func isProgram(_ name: String) -> Bool {
        (environment("PATH") ?? "").split(separator: ":").contains { folder in
            access("\(folder)/\(name)", X_OK) == 0
        }
    }

    /// Makes a write to a closed pipe return an error instead of ending the process, so that a
    /// recording is never interrupted in the middle of a save.
    ///
    /// The same goes for a file that has reached the user's size limit.
    static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Lets the user end this process even if its parent had blocked the signals, which is
    /// inherited.
    static func heedSignals() {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        // A parent that ignores SIGCHLD passes that on, and then waiting for a child gives no exit
        // status.
        signal(SIGCHLD, SIG_DFL)
    }

    /// Sets the program that is started next, and its arguments.
    ///
    /// - Parameters:
    ///   - words: The program's file, and its arguments.
    ///   - failure: The message when there is no memory for that.
    /// - Throws: ``ToolError``.
    static func setProgram(_ words: [String], _ failure: String) throws(ToolError) {
        terminal_program_begin()
        for word in words {
            let number = terminal_program_add(word)
            guard number == 0 else { throw ToolError.system(failure, number) }
        }
    }

    /// Ends the process.
    static func end(_ code: ExitCode) -> Never {
        exit(code.rawValue)
    }
}
