import DaybookAudit
import DaybookObjectModel

extension Console {
    /// Prints a record as `export` writes it, in the layout of `--output`.
    func print(_ record: AuditRecord) throws {
        // A digest covers all changes of its entry.
        let bytes = try JSONLinesEncoder().bytes(of: record.whole)
        if format == .jsonl { return try write(bytes) }
        try print(JSONText(try JSONValue(parsing: bytes)))
    }
}

extension Listing {
    /// Adds a record as `export` writes it, or the output of `text`.
    mutating func append(_ record: AuditRecord, text: () throws -> Void) throws {
        let bytes = try JSONLinesEncoder().bytes(of: record.whole)
        try append(JSONText(try JSONValue(parsing: bytes)), text: text)
    }

    /// Adds a record that is JSON already.
    mutating func append(json bytes: [UInt8]) throws {
        try append(JSONText(try JSONValue(parsing: bytes)), text: {})
    }

    /// Adds an object whose members `body` writes, or the output of `text`.
    mutating func append(
        members body: (inout JSONWriter) -> Void, text: () throws -> Void
    ) throws {
        func document() throws -> JSONText {
            var writer = JSONWriter()
            writer.object { body(&$0) }
            return JSONText(try JSONValue(parsing: writer.bytes))
        }
        try append(try document(), text: text)
    }
}

extension JSONText {
    /// The same JSON, ready to be laid out.
    init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .number(let text): .number(text)
            case .string(let text): .string(text)
            case .array(let values): .array(values.map { JSONText($0) })
            case .object(let members):
                .object(members.map { Member($0.name, JSONText($0.value)) })
            }
    }
}
