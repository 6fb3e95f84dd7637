/// Takes apart what a binary COPY sends, piece by piece.
///
/// | bytes | field |
/// |---|---|
/// | 11 | the signature |
/// | 4 | flags |
/// | 4 | length of an extension, which follows |
/// | 2 | for each row: how many fields follow; −1 ends it all |
/// | 4 | for each field: its length, −1 for no value; its bytes follow |
struct CopyParser {
    private var buffer: [UInt8] = []
    private var start = 0
    private var isInRows = false
    private var isAtEnd = false

    private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]

    /// Takes the next piece.
    ///
    /// - Parameters:
    ///   - piece: Bytes, however they were cut.
    ///   - rows: Takes the rows that are complete now.
    /// - Throws: ``PostgresError`` with ``PostgresError/Code/unexpected`` when it is not a binary COPY.
    mutating func take(
        _ piece: UnsafeRawBufferPointer, into rows: inout [PostgresRow]
    ) throws(PostgresError) {
        buffer.append(contentsOf: piece)
        if !isInRows {
            guard buffer.count >= 19 else { return }
            guard buffer.starts(with: Self.signature), integer(at: 15) == 0 else {
                throw PostgresRow.unexpected
            }
            start = 19
            isInRows = true
        }
        while let row = try nextRow() { rows.append(row) }
        buffer.removeFirst(start)
        start = 0
    }

    /// Whether its last row has come.
    var isComplete: Bool { isAtEnd && start == buffer.count }

    private mutating func nextRow() throws(PostgresError) -> PostgresRow? {
        guard !isAtEnd, buffer.count >= start + 2 else { return nil }
        let count = Int16(bitPattern: UInt16(buffer[start]) << 8 | UInt16(buffer[start + 1]))
        if count == -1 {
            isAtEnd = true
            start += 2
            return nil
        }
        guard count >= 0 else { throw PostgresRow.unexpected }
        let first = start + 2
        var end = first
        var fields: [Range<Int>?] = []
        fields.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard buffer.count >= end + 4 else { return nil }
            let length = Int(integer(at: end))
            end += 4
            guard length >= 0 else {
                guard length == -1 else { throw PostgresRow.unexpected }
                fields.append(nil)
                continue
            }
            guard buffer.count >= end + length else { return nil }
            fields.append(end - first..<end - first + length)
            end += length
        }
        start = end
        return PostgresRow(bytes: Array(buffer[first..<end]), fields: fields)
    }

    private func integer(at offset: Int) -> Int32 {
        buffer[offset..<offset + 4].reduce(0) { $0 << 8 | Int32($1) }
    }
}
