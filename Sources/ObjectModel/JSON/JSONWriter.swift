/// Writes JSON as UTF-8 bytes, without spaces, names in the order in which they are given.
///
/// Text is escaped as little as RFC 8259 allows. The same calls always give the same bytes.
package struct JSONWriter: Sendable {
    /// What has been written.
    package private(set) var bytes: [UInt8]
    private var needsComma = false

    /// Starts empty, with room for `capacity` bytes.
    package init(capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// What has been written, as text.
    package var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Forgets what was written and keeps the room.
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

    /// Writes the shortest digits that give back the number; one that is not finite as text.
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

    /// Writes a value as it was read.
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

    /// Writes a value that is JSON already.
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
            guard utf8.contains(where: \.needsEscape) else {
                bytes.append(contentsOf: utf8)
                return
            }
            for byte in utf8 { append(escaped: byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped byte: UInt8) {
        guard byte.needsEscape else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        default:
            let digits = Array("0123456789abcdef".utf8)
            bytes += Array("u00".utf8)
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }
}

extension UInt8 {
    fileprivate var needsEscape: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}

extension JSONValue {
    /// The value in one line without spaces.
    package var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }

    /// The value over several lines, two spaces a level; what holds no lists or objects that have
    /// something in them stays on one line.
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

    /// Whether nothing within has anything within.
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
