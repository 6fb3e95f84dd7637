package import DaybookObjectModel

/// A value of a property, with the name of an object instead of its numbers.
///
/// ``content`` has it as a Swift type, for a `switch`; ``value(as:)`` returns one type; ``text``
/// and ``description`` are for files and screens.
public struct AuditValue: Sendable {
    /// The stored value.
    package let value: Value
    let type: AttributeType?
    let schema: Schema

    /// Makes a value readable; the type is nil for a relationship.
    package init(_ value: Value, type: AttributeType?, in schema: Schema) {
        self.value = value
        self.type = type
        self.schema = schema
    }

    /// Whether there is no value.
    public var isNull: Bool { value.isNull }

    /// Whether the value is text, and not a number, a date or another type written as text.
    public var isText: Bool {
        if case .string = value { true } else { false }
    }

    /// Whether the value is bytes, not text.
    var isBinary: Bool {
        if case .data = value { type != .codable } else { false }
    }

    /// Whether the value is the user's own JSON, kept as bytes.
    package var isCoded: Bool { type == .codable }

    /// The value as plain text, empty for null.
    ///
    /// Numbers and dates have their JSON form, data is base64, or `large:` with the number of bytes and
    /// the digest, a reference is `Country/17`, and a coded value is its JSON.
    public var text: String {
        switch value {
        case .null: return ""
        case .string(let text): return text
        case .object(let object): return schema.name(of: object)
        default:
            var writer = JSONWriter(capacity: 32)
            write(to: &writer)
            let json = writer.text
            // Dates, decimals, base64 and similar texts need no escapes in JSON.
            return json.hasPrefix("\"") && type != .codable
                ? String(json.dropFirst().dropLast()) : json
        }
    }

    /// Writes the value as JSON that reads back as the same value.
    package func write(to writer: inout JSONWriter) {
        writer.value(value, for: type, in: schema)
    }
}
