extension JSONValue {
    /// Reads one JSON text (RFC 8259) strictly: no comments, no repeated names, no byte order mark.
    ///
    /// - Throws: ``JSONError`` with the line and column, in bytes, of the first mistake.
    package init(parsing text: String) throws(JSONError) {
        try self.init(parsing: Array(text.utf8))
    }

    /// Reads one JSON text from bytes that must be UTF-8.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        var parser = JSONParser(bytes)
        self = try parser.document()
    }
}

/// Reads JSON by recursive descent over bytes.
private struct JSONParser {
    /// Deeper than data is nested, and shallow enough for the stack.
    private static let depthMaximum = 256

    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        skipSpace()
        guard offset == bytes.count else { throw expected("the end") }
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        skipSpace()
        guard offset < bytes.count else { throw expected("a value") }
        switch bytes[offset] {
        case UInt8(ascii: "{"):
            return try nested { parser throws(JSONError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), 0x30...0x39: return .number(try number())
        default:
            if accept("null") { return .null }
            if accept("true") { return .bool(true) }
            if accept("false") { return .bool(false) }
            throw expected("a value")
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONError) -> JSONValue
    ) throws(JSONError) -> JSONValue {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMaximum else {
            throw failure("The value is nested deeper than \(Self.depthMaximum) levels.")
        }
        offset += 1
        return try body(&self)
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        var members: [JSONMember] = []
        var names: Set<String> = []
        if acceptAfterSpace(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            let start = offset
            guard offset < bytes.count, bytes[offset] == UInt8(ascii: "\"") else {
                throw expected("a name in quotation marks")
            }
            let name = try string()
            guard names.insert(name).inserted else {
                offset = start
                throw failure("The name '\(name)' stands twice in one object.")
            }
            guard acceptAfterSpace(UInt8(ascii: ":")) else { throw expected("':'") }
            members.append(JSONMember(name, try value()))
        } while acceptAfterSpace(UInt8(ascii: ","))
        guard acceptAfterSpace(UInt8(ascii: "}")) else { throw expected("',' or '}'") }
        return .object(members)
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        var values: [JSONValue] = []
        if acceptAfterSpace(UInt8(ascii: "]")) { return .array(values) }
        repeat {
            values.append(try value())
        } while acceptAfterSpace(UInt8(ascii: ","))
        guard acceptAfterSpace(UInt8(ascii: "]")) else { throw expected("',' or ']'") }
        return .array(values)
    }

    private mutating func number() throws(JSONError) -> String {
        let start = offset
        if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
        let whole = offset
        try digits()
        if bytes[whole] == 0x30, offset > whole + 1 {
            offset = whole
            throw failure("A number cannot begin with a zero.")
        }
        if offset < bytes.count, bytes[offset] == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if offset < bytes.count, bytes[offset] | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if offset < bytes.count,
                bytes[offset] == UInt8(ascii: "+") || bytes[offset] == UInt8(ascii: "-")
            {
                offset += 1
            }
            try digits()
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while offset < bytes.count, (0x30...0x39).contains(bytes[offset]) { offset += 1 }
        guard offset > start else { throw expected("a digit") }
    }

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        var text = ""
        while true {
            let start = offset
            while offset < bytes.count, bytes[offset] != UInt8(ascii: "\""),
                bytes[offset] != UInt8(ascii: "\\"), bytes[offset] >= 0x20
            {
                offset += 1
            }
            if offset > start {
                guard let piece = String(validating: bytes[start..<offset], as: UTF8.self) else {
                    offset = start
                    throw failure("The text that begins here is not UTF-8.")
                }
                text += piece
            }
            guard offset < bytes.count else { throw expected("a closing quotation mark") }
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                offset += 1
                return text
            case UInt8(ascii: "\\"): text.unicodeScalars.append(try escape())
            default:
                throw failure("A control character must be written as '\\u00\(hexadecimal)'.")
            }
        }
    }

    private var hexadecimal: String {
        let digits = String(bytes[offset], radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        guard offset < bytes.count else { throw expected("a character after the backslash") }
        offset += 1
        switch bytes[offset - 1] {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let high = try unit()
            if let scalar = Unicode.Scalar(high) { return scalar }
            if high < 0xdc00, accept("\\u") {
                let low = try unit()
                if (0xdc00...0xdfff).contains(low),
                    let scalar = Unicode.Scalar(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                {
                    return scalar
                }
            }
            offset = start
            throw failure("Half of a surrogate pair is not a character.")
        default:
            offset = start
            throw failure("This escape has no meaning; a backslash is written '\\\\'.")
        }
    }

    private mutating func unit() throws(JSONError) -> UInt32 {
        let end = offset + 4
        guard end <= bytes.count,
            bytes[offset..<end].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt32(String(decoding: bytes[offset..<end], as: UTF8.self), radix: 16)
        else { throw expected("four hexadecimal digits") }
        offset = end
        return unit
    }

    // MARK: - Bytes

    private mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    private mutating func acceptAfterSpace(_ byte: UInt8) -> Bool {
        skipSpace()
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    private mutating func accept(_ word: StaticString) -> Bool {
        let word = "\(word)".utf8
        guard bytes[offset...].starts(with: word) else { return false }
        offset += word.count
        return true
    }

    private func expected(_ what: String) -> JSONError {
        let found: String
        if offset >= bytes.count {
            found = "the end"
        } else if bytes[offset...].starts(with: [0xEF, 0xBB, 0xBF]) {
            found = "a byte order mark, which UTF-8 needs none of"
        } else if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            found = "UTF-16, where UTF-8 is read"
        } else {
            let rest = String(decoding: bytes[offset...].prefix(8), as: UTF8.self)
            found = rest.first.map { "'\(ReadableText.escaped(String($0)))'" } ?? "the end"
        }
        return failure("\(what) was expected, not \(found).")
    }

    private func failure(_ message: String) -> JSONError {
        let before = bytes[..<Swift.min(offset, bytes.count)]
        let line = before.count { $0 == 0x0a } + 1
        let column = offset - (before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0) + 1
        return JSONError(message, at: "line \(line), column \(column)")
    }
}
