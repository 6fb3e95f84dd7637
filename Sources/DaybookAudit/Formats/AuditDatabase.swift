private import CDaybookAuditFiles
internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSQLite
internal import DaybookSnapshotStore
internal import Foundation

/// The tables of the format sqlite.
///
/// Everything is written as one unit, which ``finish(in:)`` ends: an unfinished file is empty.
final class AuditDatabase {
    private let connection: Connection
    private let entries: Statement
    private let changes: Statement
    private let values: Statement
    private let memberships: Statement
    private let versions: Statement
    private let textsWithNull: Statement
    /// The properties that have such a text in some version.
    private var propertiesWithNull: Set<String> = []

    /// Makes the tables in an empty file.
    init(path: String) throws {
        connection = try Connection(path: path)
        try connection.run(
            """
            PRAGMA application_id = \(SQLiteFormat.applicationIdentifier);
            PRAGMA user_version = \(SQLiteFormat.tablesVersion);
            """)
        try connection.run(String(cString: audit_sqlite_tables()))
        entries = try connection.statement(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        changes = try connection.statement("INSERT INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        values = try connection.statement("INSERT INTO value VALUES (?, ?, ?, ?, ?)")
        memberships = try connection.statement("INSERT INTO membership VALUES (?, ?, ?, ?, ?)")
        versions = try connection.statement(
            "INSERT INTO object_version VALUES (?, ?, ?, ?, NULL, ?)")
        textsWithNull = try connection.statement("INSERT INTO text_with_null VALUES (?, ?, ?, ?)")
    }

    /// Adds an entry.
    func append(_ record: AuditRecord) throws {
        let entry = record.entry
        let header = entry.header
        try entries.run(
            .integer(record.sequence), .text(DateText.text(microseconds: entry.time)),
            .integer(entry.time), .text(DateText.text(microseconds: entry.recordedAt)),
            .integer(entry.recordedAt), .text(record.kind.rawValue), .text(header.author),
            .text(header.note), .text(header.info.jsonText), .text(header.context),
            .integer(header.base),
            header.undoes.map { .integer($0.lowerBound) } ?? .null,
            header.undoes.map { .integer($0.upperBound) } ?? .null, .text(record.toldDigest))
    }

    /// Adds a change of an entry.
    func append(
        _ change: AuditChange, _ object: UInt64, number: Int64, position: Int,
        of record: AuditRecord
    ) throws {
        try changes.run(
            .integer(number), .integer(record.sequence), .integer(Int64(position)),
            .text(change.operation.rawValue), .text(change.object), .text(change.entity),
            .integer(Int64(clamping: object)), .text(change.cause))
        for field in change.fields {
            try values.run(
                .integer(number), .text(field.name), field.old.column, field.new.column,
                .integer(0))
        }
        for name in change.omitted {
            try values.run(.integer(number), .text(name), .null, .null, .integer(1))
        }
        for membership in change.memberships {
            for (action, members) in [
                ("removed", membership.removed), ("added", membership.added),
            ] {
                for member in members {
                    try memberships.run(
                        .integer(number), .text(membership.name), .text(action),
                        .text(member.object),
                        membership.isOrdered ? .real(member.order) : .null)
                }
            }
        }
    }

    /// Adds the state in which an entry left an object; nil marks the end of the one before.
    func append(
        version state: [StateProperty]?, _ entity: String, _ object: UInt64,
        at sequence: SequenceNumber
    ) throws {
        var writer = JSONWriter()
        writer.object { writer in
            for property in state ?? [] {
                writer.name(property.name)
                property.write(to: &writer)
            }
        }
        let name = "\(entity)/\(object)"
        try versions.run(
            .text(name), .text(entity), .integer(Int64(clamping: object)),
            .integer(sequence), state == nil ? .null : .text(writer.text))
        for property in state ?? [] {
            guard case .value(let value) = property.content, value.isText,
                value.text.utf8.contains(0)
            else { continue }
            propertiesWithNull.insert(property.name)
            try textsWithNull.run(
                .text(name), .integer(sequence), .text(property.name), .text(value.text))
        }
    }

    /// Adds indexes and views, and commits: then the file is on the disk.
    func finish(in schema: Schema) throws {
        try connection.run(String(cString: audit_sqlite_endings()))
        for view in views(of: schema) { try connection.run(view) }
        try connection.run("COMMIT; PRAGMA optimize;")
        try close()
    }

    /// Closes the file.
    func close() throws {
        try connection.close()
    }

    // MARK: - Views

    /// For each entity the current objects and all versions, those of its subentities included.
    private func views(of schema: Schema) -> [String] {
        var names = DistinctNames()
        let entityNames = names.give(schema.entities.map(\.name))
        return zip(schema.entities, entityNames).flatMap { entity, name -> [String] in
            var columnNames = DistinctNames(reserved: ["object", "valid_from", "valid_to"])
            let family = entity.family.compactMap { schema.entity($0)?.name.literal }
                .joined(separator: ", ")
            let properties = entity.properties
                .filter { $0.isPersistent && ($0.slot != nil || $0.isStoredToMany) }
                .map(\.name)
            let columns = zip(properties, columnNames.give(properties))
                .map { property, column in ", \(text(of: property)) AS \(column.identifier)" }
                .joined()
            let source = "FROM object_version WHERE entity IN (\(family))"
            return [
                "CREATE VIEW \("versions_\(name)".identifier) AS "
                    + "SELECT object, valid_from, valid_to\(columns) \(source)",
                "CREATE VIEW \("current_\(name)".identifier) AS "
                    + "SELECT object, valid_from\(columns) \(source) AND valid_to IS NULL",
            ]
        }
    }

    /// The expression for a property of a version. `json_extract` ends a text at U+0000.
    private func text(of property: String) -> String {
        let extract = "json_extract(state, \("$.\"\(property)\"".literal))"
        guard propertiesWithNull.contains(property) else { return extract }
        return """
            coalesce((SELECT value FROM text_with_null AS t
                WHERE t.object = object_version.object AND t.valid_from = object_version.valid_from
                    AND t.property = \(property.literal)), \(extract))
            """
    }
}

extension String {
    /// The text as a literal of SQL.
    fileprivate var literal: String {
        "'" + substituting(["'": "''"]) + "'"
    }

    /// The text as a name in SQL.
    fileprivate var identifier: String {
        "\"" + substituting(["\"": "\"\""]) + "\""
    }
}

extension SQLiteValue {
    fileprivate static func text(_ text: String?) -> SQLiteValue {
        guard let text else { return .null }
        return .text(text)
    }

    fileprivate static func integer(_ sequence: SequenceNumber) -> SQLiteValue {
        .integer(Int64(clamping: sequence.rawValue))
    }
}

extension AuditValue {
    /// The value for a column.
    fileprivate var column: SQLiteValue {
        switch value {
        case .null: .null
        case .bool(let value): .integer(value ? 1 : 0)
        case .int(let number): .integer(number)
        case .double(let number) where number.isFinite: .real(number)
        case .data(let data) where !isCoded: .blob(Array(data))
        default: .text(text)
        }
    }
}
