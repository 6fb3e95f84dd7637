/// Reads comma-separated values (RFC 4180), record by record.
///
/// A line ends with CR LF, LF or CR, and a file may mix them. A byte order mark at the beginning is
/// skipped, and so are empty lines, unless the first record has one field: then an empty line is a
/// record with an empty field, as null is written in a table of one column. Memory holds one record
/// and one buffer, whatever the size of the input.
///
/// ```swift
/// var reader = CSVReader { try input.read(into: &$0) }
/// while try reader.next() { print(reader.record.line, reader.record.count) }
/// ```
///
/// Invariants:
/// - `position` is the next byte to look at, `end` the end of the bytes in the buffer.
/// - `line` is the number of the line that the next byte is on.
package struct CSVReader {
    /// The record that ``next()`` has read.
    package private(set) var record = CSVRecord()

    private let fill: (inout [UInt8]) throws -> Int
    private var buffer = [UInt8](repeating: 0, count: 1 << 18)
    private var position = 0
    private var end = 0
    private var line = 1
    private var hasBegun = false
    /// The number of fields of the first record, once it has been read.
    private var columnCount: Int?
    /// Whether a line feed now belongs to the carriage return before it.
    private var isAfterReturn = false

    /// More bytes than a record of any table has: a longer one is a quoted field without an end, or no
    /// table at all.
    package static let recordBytesMaximum = 64 << 20

    private let bytesMaximum: Int

    /// - Parameters:
    ///   - bytesMaximum: The number of bytes that a record may have.
    ///   - fill: Fills the buffer with the next bytes and returns their number; 0 at the end.
    package init(
        recordBytesMaximum bytesMaximum: Int = Self.recordBytesMaximum,
        fill: @escaping (inout [UInt8]) throws -> Int
    ) {
        self.bytesMaximum = bytesMaximum
        self.fill = fill
    }

    /// Reads the next record.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``CSVError`` when the rest of the file cannot be read as a table; what the closure
    ///   throws.
    package mutating func next() throws -> Bool {
        if !hasBegun { try begin() }
        guard try read() else { return false }
        if columnCount == nil { columnCount = record.count }
        return true
    }

    private mutating func read() throws -> Bool {
        record.removeAll()
        var state = State.fieldStart
        while state != .recordEnd {
            if position == end, try !refill() {
                return try finish(state)
            }
            switch state {
            case .fieldStart: state = startField()
            case .plain: state = readPlain()
            case .quoted: readQuoted(&state)
            case .afterQuote: state = readAfterQuote()
            case .recordEnd: break
            }
            guard record.size <= bytesMaximum else {
                throw CSVError.tooLong(record, bytesMaximum, isQuoted: state == .quoted)
            }
        }
        return true
    }

    // MARK: - States

    private enum State {
        /// Nothing of the field has been read.
        case fieldStart
        /// In a field without quotation marks.
        case plain
        /// Between quotation marks.
        case quoted
        /// After a quotation mark that ends the field or is the first of two.
        case afterQuote
        case recordEnd
    }

    private mutating func startField() -> State {
        let byte = buffer[position]
        if isAfterReturn, byte == .lineFeed {
            isAfterReturn = false
            position += 1
            return .fieldStart
        }
        isAfterReturn = false
        if record.isEmpty {
            if byte == .lineFeed || byte == .carriageReturn, columnCount != 1 {
                endLine(byte)
                return .fieldStart
            }
            record.line = line
        }
        guard byte == .quote else { return .plain }
        position += 1
        record.openQuote(line: line)
        return .quoted
    }

    /// Reads up to the end of the field, of the buffer, or to a byte that has no place in a field.
    private mutating func readPlain() -> State {
        let start = position
        position = buffer.span.firstSpecial(from: position, to: end)
        record.append(buffer[start..<position])
        guard position < end else { return .plain }
        let byte = buffer[position]
        if let state = endField(at: byte) { return state }
        record.note(byte == 0 ? .nul : .strayQuote)
        record.append(buffer[position...position])
        position += 1
        return .plain
    }

    private mutating func readQuoted(_ state: inout State) {
        let start = position
        position = buffer.span.firstSpecial(from: position, to: end)
        record.append(buffer[start..<position])
        guard position < end else {
            if position > start { isAfterReturn = false }
            return
        }
        let byte = buffer[position]
        if position > start { isAfterReturn = false }
        position += 1
        switch byte {
        case .quote:
            isAfterReturn = false
            state = .afterQuote
            return
        case .lineFeed:
            if !isAfterReturn { line += 1 }
            isAfterReturn = false
        case .carriageReturn:
            line += 1
            isAfterReturn = true
        default:
            isAfterReturn = false
            if byte == 0 { record.note(.nul) }
        }
        record.append(CollectionOfOne(byte))
    }

    private mutating func readAfterQuote() -> State {
        let byte = buffer[position]
        if let state = endField(at: byte) { return state }
        guard byte == .quote else {
            record.note(.textAfterQuote)
            return .plain
        }
        record.append(CollectionOfOne(byte))
        position += 1
        return .quoted
    }

    /// Ends the field if that is what the next byte does.
    ///
    /// - Returns: What follows; nil when the field goes on.
    private mutating func endField(at byte: UInt8) -> State? {
        switch byte {
        case .comma:
            position += 1
            record.endField()
            return .fieldStart
        case .lineFeed, .carriageReturn:
            record.endField()
            endLine(byte)
            return .recordEnd
        default: return nil
        }
    }

    private mutating func endLine(_ byte: UInt8) {
        position += 1
        line += 1
        isAfterReturn = byte == .carriageReturn
    }

    private mutating func finish(_ state: State) throws -> Bool {
        if state == .quoted { throw CSVError.unterminated(record) }
        // A comma at the very end is followed by an empty field.
        guard state != .fieldStart || !record.isEmpty else { return false }
        record.endField()
        return true
    }

    // MARK: - Bytes

    private mutating func refill() throws -> Bool {
        position = 0
        end = try fill(&buffer)
        return end > 0
    }

    /// Skips the byte order mark, and refuses that of another encoding.
    private mutating func begin() throws {
        hasBegun = true
        var head: [UInt8] = []
        var part = [UInt8](repeating: 0, count: buffer.count)
        while head.count < 3 {
            let count = try fill(&part)
            guard count > 0 else { break }
            head += part.prefix(count)
        }
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
            throw CSVError.utf16
        }
        position = head.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        end = head.count
        if end > buffer.count {
            buffer = head
        } else {
            buffer.replaceSubrange(..<end, with: head)
        }
    }
}

extension UInt8 {
    fileprivate static let comma = UInt8(ascii: ",")
    fileprivate static let quote = UInt8(ascii: "\"")
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")
}

extension Span<UInt8> {
    /// The index of the first comma, quotation mark, line end or NUL; `end` when there is none.
    fileprivate func firstSpecial(from start: Int, to end: Int) -> Int {
        var index = start
        while index < end {
            let byte = self[index]
            if byte <= .comma,
                byte == .comma || byte == .quote || byte == .lineFeed || byte == .carriageReturn
                    || byte == 0
            {
                break
            }
            index += 1
        }
        return index
    }
}
