/// Standard input, or the output of another process, line by line, with line numbers.
///
/// Lines are bytes: the caller decides whether they are valid UTF-8 or JSON.
final class LineReader {
    /// The number of the line that ``next()`` returned last; 1 for the first.
    private(set) var lineNumber = 0

    private var chunk = [UInt8](repeating: 0, count: 256 * 1024)
    private var position = 0
    private var end = 0
    private var isAtEnd = false
    private let descriptor: Int32
    private let name: String?

    /// - Parameters:
    ///   - descriptor: What to read; standard input unless given.
    ///   - name: What that is, as the subject of a sentence; nil if the descriptor tells.
    init(
        _ descriptor: Int32 = SystemCall.Descriptor.input.rawValue, called name: String? = nil
    ) {
        self.descriptor = descriptor
        self.name = name
    }

    /// The next line without its line end (`\n` or `\r\n`), nil after the last.
    ///
    /// - Parameter limit: How many bytes of a line are kept. What is behind them is read and dropped.
    /// - Returns: The line, or its first `limit` bytes.
    /// - Throws: ``ToolError`` when the input cannot be read.
    func next(keeping limit: Int = .max) throws -> [UInt8]? {
        var line: [UInt8] = []
        func keep(_ bytes: ArraySlice<UInt8>) {
            line.append(contentsOf: bytes.prefix(limit - line.count))
        }
        while true {
            if position == end {
                if !isAtEnd { try refill() }
                if isAtEnd {
                    guard !line.isEmpty else { return nil }
                    return finished(line)
                }
            }
            if let newline = chunk[position..<end].firstIndex(of: UInt8(ascii: "\n")) {
                keep(chunk[position..<newline])
                position = newline + 1
                return finished(line)
            }
            keep(chunk[position..<end])
            position = end
        }
    }

    private func finished(_ line: [UInt8]) -> [UInt8] {
        lineNumber += 1
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    private func refill() throws {
        end = try SystemCall.read(into: &chunk, from: descriptor, calledInMessages: name)
        position = 0
        isAtEnd = end == 0
    }
}
