import DaybookAudit
import DaybookTestSupport
import Testing

/// Tables of comma-separated values, byte by byte.
@Suite struct CSVReaderTests {
    /// Reads a text, a few bytes at a time.
    private func records(_ bytes: [UInt8], by size: Int = .max) throws -> [[String]] {
        try lines(bytes, by: size).map(\.fields)
    }

    private func lines(
        _ bytes: [UInt8], by size: Int = .max
    ) throws -> [(line: Int, fields: [String])] {
        var rest = bytes[...]
        var reader = CSVReader { buffer in
            let part = rest.prefix(min(size, buffer.count))
            buffer.replaceSubrange(..<part.count, with: part)
            rest = rest.dropFirst(part.count)
            return part.count
        }
        var found: [(line: Int, fields: [String])] = []
        while try reader.next() {
            let record = reader.record
            let fields = (0..<record.count).map { String(decoding: record[$0], as: UTF8.self) }
            found.append((record.line, fields))
        }
        return found
    }

    @Test(arguments: [
        ("", []),
        ("a", [["a"]]),
        ("a,b\n", [["a", "b"]]),
        ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
        ("a\rb\nc\r\nd", [["a"], ["b"], ["c"], ["d"]]),
        ("a,\n,b\n,", [["a", ""], ["", "b"], ["", ""]]),
        ("\n\r\n\ra,b\n\n\nc,d\n\n", [["a", "b"], ["c", "d"]]),
        ("\n\r\n\ra\n\n\nb", [["a"], [""], [""], ["b"]]),
        ("a\r\n\r\n\"\"\r\n\r\n", [["a"], [""], [""], [""]]),
        ("a\r\rb\r\n", [["a"], [""], ["b"]]),
        ("\"\"\n\"a,b\"\n\"a\"\"b\"\n", [[""], ["a,b"], ["a\"b"]]),
        ("\"a\r\nb\nc\rd\",e\r\n", [["a\r\nb\nc\rd", "e"]]),
        ("\u{FEFF}a,b", [["a", "b"]]),
        ("\u{FEFF}\"a\",b", [["a", "b"]]),
        (" a , b ", [[" a ", " b "]]),
        ("\"\"\"\"", [["\""]]),
    ])
    func `a table is read however its bytes come`(
        text: String, expected: [[String]]
    ) throws {
        for size in [1, 2, 3, 5, .max] {
            #expect(try records(Array(text.utf8), by: size) == expected, "\(size) at a time")
        }
    }

    @Test func `a record knows the line that it begins on`() throws {
        let text = "a,x\r\n\r\n\"b\r\nb\",x\rc,x\n\"d\n\rd\",x\n\ne,x"

        for size in [1, 4, .max] {
            let lines = try lines(Array(text.utf8), by: size)
            #expect(lines.map(\.line) == [1, 3, 5, 6, 10])
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8] as [UInt64])
    func `what is written with every quotation mark comes back`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let letters = ["a", ",", "\"", "\n", "\r", "é", " ", "🇫🇷"]
        let table = (0..<40).map { _ in
            (0..<3).map { _ in
                (0..<Int.random(in: 0...6, using: &generator))
                    .map { _ in letters.randomElement(using: &generator) ?? "" }.joined()
            }
        }
        let text = table.map { record in
            record.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
        }.joined(separator: "\r\n")

        for size in [1, 7, .max] {
            // Compared as bytes: "\r" and "\n" side by side are one character.
            let found = try records(Array(text.utf8), by: size)
            #expect(
                found.map { $0.map { Array($0.utf8) } } == table.map { $0.map { Array($0.utf8) } })
        }
    }

    @Test(arguments: [
        ("a\"b,c", CSVRecord.Flaw.strayQuote, 0), ("c,\"a\"b", .textAfterQuote, 1),
        ("a,b\0", .nul, 1), ("\"a\0\"", .nul, 0), ("a,b\",\"c\"d", .strayQuote, 1),
    ])
    func `a flaw is told with its field, and reading goes on`(
        text: String, flaw: CSVRecord.Flaw, field: Int
    ) throws {
        var rest = Array((text + "\nnext").utf8)
        var reader = CSVReader { buffer in
            buffer.replaceSubrange(..<rest.count, with: rest)
            defer { rest = [] }
            return rest.count
        }

        try #require(try reader.next())
        #expect(reader.record.flaw?.0 == flaw)
        #expect(reader.record.flaw?.field == field)
        try #require(try reader.next())
        #expect(reader.record.flaw == nil)
        #expect(Array(reader.record[0]) == Array("next".utf8))
    }

    @Test func `a quoted field without an end is told with the line of its mark`() throws {
        let text = "a,b\n1,\"x\ny\nz\n"

        let error = #expect(throws: CSVError.self) { try records(Array(text.utf8)) }
        #expect(error?.line == 2)
    }

    @Test(arguments: [[0xFF, 0xFE, 0x61, 0x00], [0xFE, 0xFF, 0x00, 0x61]] as [[UInt8]])
    func `a table in UTF-16 is told to be one`(bytes: [UInt8]) throws {
        let error = #expect(throws: CSVError.self) { try records(bytes, by: 1) }
        #expect(error?.description.contains("UTF-16") == true)
    }

    @Test(arguments: [UInt8(ascii: "x"), UInt8(ascii: ",")], [true, false])
    func `a record without an end is refused before it fills the memory`(
        byte: UInt8, isQuoted: Bool
    ) throws {
        var given = 0
        var reader = CSVReader(recordBytesMaximum: 2 << 20) { buffer in
            buffer = [UInt8](repeating: byte, count: buffer.count)
            if given == 0 && isQuoted { buffer[0] = UInt8(ascii: "\"") }
            given += buffer.count
            return given > 1 << 25 ? 0 : buffer.count
        }

        let error = #expect(throws: CSVError.self) { try reader.next() }

        #expect(error?.message.contains("longer than 2 MiB") == true)
        #expect(given <= 3 << 20)
    }
}
