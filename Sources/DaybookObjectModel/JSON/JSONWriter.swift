/// Writes JSON as UTF-8 bytes, without spaces, names in the given order.
///
/// The same calls always give the same bytes.
package struct JSONWriter: Sendable {
    /// The characters of text that are written as escapes. The parsed text is the same either way.
    package enum Escaping: Sendable {
        /// As few as RFC 8259 allows: for JSON kept as the bytes of a value.
        case least
        /// Those and all hidden characters: for JSON that people may read.
        case hidden
    }

    /// What has been written.
    package private(set) var bytes: [UInt8]
    private let escaping: Escaping
    private var needsComma = false

    /// Starts empty, with a capacity of `capacity` bytes.
    package init(capacity: Int = 256, escaping: Escaping = .hidden) {
        bytes = []
        bytes.reserveCapacity(capacity)
        self.escaping = escaping
    }

    /// The written bytes as text.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Empties the bytes and keeps the storage.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: - Structure

    /// Writes an object whose members `body` writes, each as a name and a value.
    package mutating func object<Failure: Error>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginValue()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
        try body(&self)
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    /// Writes a list whose values `body` writes.
    package mutating func array<Failure: Error>(
        _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        beginValue()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
        try body(&self)
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes the name of a member; its value must follow.
    package mutating func name(_ name: String) {
        beginValue()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Ends a line of JSON Lines.
    package mutating func endLine() {
        bytes.append(0x0a)
        needsComma = false
    }

    // MARK: - Values

    /// Writes `null`.
    package mutating func null() {
        raw("null")
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        raw(value ? "true" : "false")
    }

    /// Writes an integer.
    package mutating func integer(_ value: some BinaryInteger) {
        raw(String(value))
    }

    /// Writes the shortest digits that read back as the number; text if it is not finite.
    package mutating func double(_ value: Double) {
        if let name = value.nonFiniteName { string(name) } else { raw(value.description) }
    }

    /// Writes text.
    package mutating func string(_ value: String) {
        beginValue()
        quote(value)
        needsComma = true
    }

    /// Writes the time of an entry, given in microseconds since 1970.
    package mutating func time(microseconds: Int64) {
        beginValue()
        bytes.append(UInt8(ascii: "\""))
        DateText.append(microseconds: microseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes a parsed value.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let value): bool(value)
        case .number(let text): raw(text)
        case .string(let text): string(text)
        case .array(let values):
            array { writer in for value in values { writer.value(value) } }
        case .object(let members):
            object { writer in
                for member in members {
                    writer.name(member.name)
                    writer.value(member.value)
                }
            }
        }
    }

    // MARK: - Bytes

    /// Writes a value that is already JSON.
    private mutating func raw(_ text: String) {
        beginValue()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    private mutating func beginValue() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            let isPlain =
                switch escaping {
                case .least: !utf8.contains(where: \.needsEscape)
                case .hidden: !utf8.contains(where: \.mayNeedEscape)
                }
            guard !isPlain else {
                bytes.append(contentsOf: utf8)
                return
            }
            guard escaping == .hidden, utf8.contains(where: Unicode.Scalar.mayBeginHidden) else {
                for byte in utf8 { append(escaped: byte) }
                return
            }
            for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
                append(escaped: scalar)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped scalar: Unicode.Scalar) {
        if scalar.isASCII { return append(escaped: UInt8(scalar.value)) }
        guard scalar.isHidden else {
            return bytes.append(contentsOf: UTF8.encode(scalar) ?? .init())
        }
        appendEscape(of: UInt16(scalar.value))
    }

    /// `\u202e`
    private mutating func appendEscape(of unit: UInt16) {
        bytes += Array("\\u".utf8)
        for shift in [12, 8, 4, 0] {
            bytes.append(Array("0123456789abcdef".utf8)[Int(unit >> shift & 15)])
        }
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x08: bytes += Array("\\b".utf8)
        case 0x09: bytes += Array("\\t".utf8)
        case 0x0a: bytes += Array("\\n".utf8)
        case 0x0c: bytes += Array("\\f".utf8)
        case 0x0d: bytes += Array("\\r".utf8)
        case 0x7F where escaping == .hidden, 0..<0x20: appendEscape(of: UInt16(byte))
        default: bytes.append(byte)
        }
    }
}

extension UInt8 {
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }

    /// Whether a hidden character may begin here, or this is one that must be escaped.
    fileprivate var mayNeedEscape: Bool {
        needsEscape || self == 0x7F || Unicode.Scalar.mayBeginHidden(self)
    }
}

extension JSONValue {
    /// The value in one line without spaces.
    package var text: String { text(escaping: .hidden) }

    /// The value in one line without spaces.
    package func text(escaping: JSONWriter.Escaping) -> String {
        var writer = JSONWriter(escaping: escaping)
        writer.value(self)
        return writer.text
    }

    /// The value on several lines, two spaces a level; a value that contains no non-empty lists or
    /// objects stays on one line.
    package var prettyText: String {
        pretty(indentation: "")
    }

    private func pretty(indentation: String) -> String {
        let inner = indentation + "  "
        switch self {
        case .array(let values) where !values.isEmpty && !isFlat:
            let lines = values.map { inner + $0.pretty(indentation: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indentation)]"
        case .object(let members) where !members.isEmpty && !isFlat:
            let lines = members.map {
                "\(inner)\(JSONValue.string($0.name).text): \($0.value.pretty(indentation: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indentation)}"
        case .array(let values):
            return "[" + values.map(\.text).joined(separator: ", ") + "]"
        case .object(let members):
            let parts = members.map { "\(JSONValue.string($0.name).text): \($0.value.text)" }
            return "{" + parts.joined(separator: ", ") + "}"
        default: return text
        }
    }

    /// Whether it contains no non-empty lists or objects.
    private var isFlat: Bool {
        let inner: [JSONValue]
        switch self {
        case .array(let values): inner = values
        case .object(let members): inner = members.map(\.value)
        default: return true
        }
        return inner.allSatisfy {
            switch $0 {
            case .array(let values): values.isEmpty
            case .object(let members): members.isEmpty
            default: true
            }
        }
    }
}
