/// One record of a table: its fields as bytes, without quotation marks.
///
/// A reader uses the same one for all records, so that a record costs no memory of its own.
package struct CSVRecord: Sendable {
    /// What is wrong with the form of a field. The fields after it can still be read.
    package enum Flaw: Sendable, Hashable {
        /// A NUL byte, which no text has.
        case nul
        /// A quotation mark inside a field that does not begin with one.
        case strayQuote
        /// More text after the quotation mark that ends a field.
        case textAfterQuote
    }

    /// The line that the record begins on.
    package internal(set) var line = 0
    /// The first flaw, and the index of its field.
    package private(set) var flaw: (Flaw, field: Int)?
    /// The line with the last quotation mark that begins a field.
    private(set) var quoteLine = 0
    private var bytes: [UInt8] = []
    /// Where each field ends in `bytes`.
    private var ends: [Int] = []
    private var hasBegun = false

    /// The number of fields.
    package var count: Int { ends.count }

    /// The bytes of a field.
    package subscript(field: Int) -> ArraySlice<UInt8> {
        bytes[(field == 0 ? 0 : ends[field - 1])..<ends[field]]
    }

    // MARK: - Being read

    /// Whether nothing has been read.
    var isEmpty: Bool { !hasBegun }

    /// The bytes that it takes in memory, about.
    var size: Int { bytes.count + ends.count * MemoryLayout<Int>.size }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        flaw = nil
        hasBegun = false
    }

    mutating func openQuote(line: Int) {
        hasBegun = true
        quoteLine = line
    }

    mutating func append(_ part: some Collection<UInt8>) {
        hasBegun = true
        bytes.append(contentsOf: part)
    }

    mutating func endField() {
        hasBegun = true
        ends.append(bytes.count)
    }

    mutating func note(_ flaw: Flaw) {
        if self.flaw == nil { self.flaw = (flaw, ends.count) }
    }
}

/// Why the rest of a file cannot be read as a table.
package struct CSVError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, if there is one to tell.
    package let line: Int?
    /// The mistake and the remedy.
    package let message: String

    /// The message behind its line.
    package var description: String { line.map { "line \($0): \(message)" } ?? message }

    static let utf16 = CSVError(
        line: nil,
        message: "The file is UTF-16 text. Convert it to UTF-8, as 'iconv -f UTF-16 -t UTF-8' "
            + "does.")

    static func unterminated(_ record: CSVRecord) -> CSVError {
        CSVError(
            line: record.quoteLine,
            message: "The quotation mark that begins a field here is never closed.")
    }

    // `isQuoted`: whether a quotation mark has begun the field and none has ended it.
    static func tooLong(
        _ record: CSVRecord, _ bytesMaximum: Int, isQuoted: Bool
    ) -> CSVError {
        let limit = "\(bytesMaximum >> 20) MiB"
        return isQuoted
            ? CSVError(
                line: record.quoteLine,
                message:
                    "The quoted field that begins here is longer than \(limit). Is its closing "
                    + "quotation mark missing?")
            : CSVError(
                line: record.line,
                message: "The record is longer than \(limit). Is the file a table at all?")
    }
}
