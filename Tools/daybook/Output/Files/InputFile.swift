/// A file or standard input, read from its beginning to its end.
final class InputFile {
    private let descriptor: Int32
    /// The file as it reads in a message: `The file 'towns.csv'`.
    private let name: String
    private let isOwned: Bool

    /// - Parameter path: The file; nil or `-` for standard input.
    /// - Throws: ``ToolError`` when it cannot be opened.
    init(_ path: String?) throws {
        guard let path, path != "-" else {
            descriptor = SystemCall.Descriptor.input.rawValue
            name = "Standard input"
            isOwned = false
            return
        }
        name = "The file '\(path)'"
        isOwned = true
        do {
            descriptor = try SystemCall.openFile(path)
        } catch {
            throw ToolError.system("The file '\(path)' cannot be read", error.number)
        }
    }

    deinit {
        if isOwned { SystemCall.closeFile(descriptor) }
    }

    /// Fills the buffer with the next bytes; returns their number, 0 at the end.
    func read(into buffer: inout [UInt8]) throws -> Int {
        try SystemCall.read(into: &buffer, from: descriptor, calledInMessages: name)
    }

    /// The lines of the rest.
    var lines: LineReader { LineReader(descriptor, called: name) }
}
