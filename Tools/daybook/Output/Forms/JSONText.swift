import DaybookObjectModel

/// A JSON value that keeps the order of its keys, so that output is the same on every run.
indirect enum JSONText: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    /// A number already in JSON's form, such as a decimal, so that no digit is lost.
    case number(String)
    case string(String)
    case array([JSONText])
    case object([Member])

    /// One key and its value.
    struct Member: Sendable {
        let key: String
        let value: JSONText

        init(_ key: String, _ value: JSONText) {
            self.key = key
            self.value = value
        }
    }

    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(nilLiteral: ()) { self = .null }
    init(arrayLiteral elements: JSONText...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, JSONText)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }

    /// A string, or null for none.
    static func optional(_ text: String?) -> JSONText {
        text.map { .string($0) } ?? .null
    }

    /// The value on one line.
    var compact: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, depth: nil)
        return bytes
    }

    /// The value with a line for every member, its lines after the first indented by `depth` steps.
    func indented(depth: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, depth: depth)
        return bytes
    }

    private func append(to bytes: inout [UInt8], depth: Int?) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .unsigned(let value): bytes.append(contentsOf: String(value).utf8)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): Self.appendQuoted(text, to: &bytes)
        case .array(let elements):
            Self.appendList(elements, "[", "]", to: &bytes, depth: depth) { element, bytes, depth in
                element.append(to: &bytes, depth: depth)
            }
        case .object(let members):
            Self.appendList(members, "{", "}", to: &bytes, depth: depth) { member, bytes, depth in
                Self.appendQuoted(member.key, to: &bytes)
                bytes.append(contentsOf: (depth == nil ? ":" : ": ").utf8)
                member.value.append(to: &bytes, depth: depth)
            }
        }
    }

    private static func appendList<Element>(
        _ elements: [Element], _ open: String, _ close: String, to bytes: inout [UInt8],
        depth: Int?, _ body: (Element, inout [UInt8], Int?) -> Void
    ) {
        bytes.append(contentsOf: open.utf8)
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            appendNewline(to: &bytes, depth: depth.map { $0 + 1 })
            body(element, &bytes, depth.map { $0 + 1 })
        }
        if !elements.isEmpty { appendNewline(to: &bytes, depth: depth) }
        bytes.append(contentsOf: close.utf8)
    }

    private static func appendNewline(to bytes: inout [UInt8], depth: Int?) {
        guard let depth else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
    }

    private static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
        var writer = JSONWriter(capacity: text.utf8.count + 2)
        writer.string(text)
        bytes += writer.bytes
    }
}
