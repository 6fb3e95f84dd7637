/// The fields of one row of comma-separated values (RFC 4180).
package struct CSVRow {
    private var bytes: [UInt8] = []
    private var isEmpty = true

    /// A row without fields.
    package init() {}

    /// The row with its line end.
    package var line: [UInt8] { bytes + [0x0d, 0x0a] }

    /// The row with more fields and its line end.
    package func line(_ fields: [String?]) -> [UInt8] {
        var row = self
        for field in fields { row.append(field) }
        return row.line
    }

    /// Adds what stands in place of a value that is left out. It has no quotes, and a text that reads
    /// the same has them.
    package mutating func appendOmission() {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        bytes += Self.omission.utf8
    }

    fileprivate static let omission = "(confidential)"

    /// Adds a field; nil is null, which has no quotes, unlike empty text.
    package mutating func append(_ field: String?) {
        if !isEmpty { bytes.append(UInt8(ascii: ",")) }
        isEmpty = false
        guard let field else { return }
        guard field.needsQuotes else {
            bytes += Array(field.utf8)
            return
        }
        bytes.append(UInt8(ascii: "\""))
        for byte in field.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension String {
    /// Commas, quotes and line ends must be quoted; leading and trailing spaces are, too, because
    /// some readers drop them, and what would look like a value that is left out.
    fileprivate var needsQuotes: Bool {
        isEmpty || self == CSVRow.omission || utf8.first == UInt8(ascii: " ")
            || utf8.last == UInt8(ascii: " ")
            || utf8.contains {
                $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\"") || $0 == 0x0d || $0 == 0x0a
            }
    }
}
