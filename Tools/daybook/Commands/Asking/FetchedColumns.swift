import DaybookAudit
import DaybookObjectModel
import DaybookSnapshotStore

/// What is shown of each object: its name and its properties, or the columns that were asked for.
struct FetchedColumns: Sendable {
    private enum Source: Sendable {
        case name
        case property(SchemaProperty)
        /// The value at the end of a path.
        case path(Sorting)
    }

    /// The names of the columns.
    let titles: [String]
    private let sources: [Source]

    /// All columns of an entity.
    init(of entity: SchemaEntity) {
        let shown = entity.slots.prefix(entity.storedSlotCount).filter { !$0.isRemoved }
        titles = ["object"] + shown.map(\.name)
        sources = [.name] + shown.map { .property($0) }
    }

    /// Columns by the names of properties, paths such as `country.name`, and `object`.
    ///
    /// - Throws: ``ToolError`` for a name that is none.
    init(
        _ keys: [String], of entity: SchemaEntity, in schema: Schema, for option: String
    ) throws {
        titles = keys
        sources = try keys.map { key in
            if key == "object", entity.property(named: key) == nil { return .name }
            let path = try StoreReading.path(key, of: entity, in: schema, for: option)
            return .path(Sorting(path))
        }
    }

    /// The text of each column of an object; nil for no value.
    func texts(
        of object: ObjectID, _ snapshot: borrowing Snapshot
    ) throws -> [String?] {
        var texts: [String?] = []
        for source in sources {
            switch source {
            case .name: texts.append(snapshot.schema.name(of: object))
            case .property(let property):
                texts.append(
                    text(
                        try snapshot.value(of: property, in: object), property.attribute?.type,
                        snapshot))
            case .path(let sorting):
                let type = sorting.path.steps.last?.attribute?.type
                texts.append(text(try sorting.key(of: object, in: snapshot), type, snapshot))
            }
        }
        return texts
    }

    private func text(
        _ value: Value, _ type: AttributeType?, _ snapshot: borrowing Snapshot
    ) -> String? {
        let audit = AuditValue(value, type: type, in: snapshot.schema)
        return audit.isNull ? nil : audit.text
    }
}

/// The forms in which objects are printed for other programs.
enum FetchForm: String, CaseIterable, Sendable {
    case csv
    case markdown

    /// The lines above the objects.
    func head(_ titles: [String]) -> [UInt8] {
        switch self {
        case .csv: CSVRow().line(titles)
        case .markdown:
            Array((Self.row(titles) + "|" + titles.map { _ in "---|" }.joined() + "\n").utf8)
        }
    }

    /// The line of an object.
    func line(_ texts: [String?]) -> [UInt8] {
        switch self {
        case .csv: CSVRow().line(texts)
        case .markdown: Array(Self.row(texts.map { $0 ?? "" }).utf8)
        }
    }

    /// A row of a table in Markdown, in which no text can end its cell or begin markup.
    private static func row(_ texts: [String]) -> String {
        "| " + texts.map(cell).joined(separator: " | ") + " |\n"
    }

    private static func cell(_ text: String) -> String {
        text.replacing("\r\n", with: "\n").substituting(escapes)
    }

    private static let escapes: [Unicode.Scalar: String] = [
        "\n": "<br>", "\r": "<br>", "&": "&amp;", "<": "&lt;", "|": "\\|", "\\": "\\\\",
        "`": "\\`", "*": "\\*", "_": "\\_", "[": "\\[", "]": "\\]", "~": "\\~",
    ]
}

/// A text with the values of an object in it: `{name} ({country.name})`.
struct FetchTemplate: Sendable {
    private enum Part: Sendable {
        case text(String)
        case column(Int)
    }

    /// The columns that it names.
    let columns: FetchedColumns
    private let parts: [Part]

    /// - Throws: ``ToolError`` for a brace that is not closed, and a name that is none.
    init(_ text: String, of entity: SchemaEntity, in schema: Schema) throws {
        var parts: [Part] = []
        var keys: [String] = []
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
                parts.append(.text(String(character)))
                rest = rest.dropFirst(2)
            } else if character == "{" {
                guard let end = rest.firstIndex(of: "}") else {
                    throw ToolError.usage(
                        "'--template' has a '{' that is not closed. '{{' stands for the brace itself."
                    )
                }
                parts.append(.column(keys.count))
                keys.append(String(rest[rest.index(after: rest.startIndex)..<end]))
                rest = rest[rest.index(after: end)...]
            } else {
                let plain = rest.dropFirst().prefix { $0 != "{" && $0 != "}" }
                parts.append(.text(String(character) + plain))
                rest = rest.dropFirst(1 + plain.count)
            }
        }
        self.parts = parts
        columns = try FetchedColumns(keys, of: entity, in: schema, for: "--template")
    }

    /// The line of an object.
    func line(_ texts: [String?]) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .column(let index): DisplayText.escaped(texts[index] ?? "")
            }
        }.joined()
    }
}
