package import DaybookObjectModel

/// Changes as statements of SQL, in SQLite's dialect.
///
/// Each entity has a table with a column for each property stored on the object's side; a to-one
/// relationship holds the number of an object. Each to-many relationship has its own table with
/// owner, member and position. Updates and deletes require the old values, so other rows stay as
/// they are. Names that are the same to SQLite get numbers, see ``DistinctNames``.
package struct SQLText {
    private let schema: Schema
    /// The names of the tables of each entity and of their columns.
    private let names: [EntityNumber: SQLNames]

    /// Prepares to write statements for the objects of a model.
    package init(_ schema: Schema) {
        self.schema = schema
        names = SQLNames.make(for: schema)
    }

    // MARK: - Schema

    /// The tables of the statements, as SQL comments.
    package func header() -> [String] {
        ["-- For these tables:"]
            + schema.entities.filter { !$0.isAbstract }.flatMap(tables).map { "-- " + $0 }
    }

    private func tables(of entity: SchemaEntity) -> [String] {
        guard let names = names[entity.number] else { return [] }
        let columns = entity.columns.map {
            "\(Self.quoted(names.column($0.name))) \(type(of: $0))"
        }
        let own = ["\(Self.quoted(names.key)) INTEGER PRIMARY KEY"] + columns
        return ["CREATE TABLE \(Self.quoted(names.table)) (\(own.joined(separator: ", ")));"]
            + entity.storedToMany.map { property in
                "CREATE TABLE \(Self.quoted(names.linkTable(property.name))) "
                    + "(owner INTEGER, member INTEGER, position REAL, PRIMARY KEY (owner, member));"
            }
    }

    private func type(of property: SchemaProperty) -> String {
        switch property.attribute?.type {
        case nil, .bool, .int16, .int32, .int64: "INTEGER"
        case .float, .double: "REAL"
        case .data: "BLOB"
        case .decimal, .string, .date, .uuid, .url, .codable: "TEXT"
        }
    }

    // MARK: - Statements

    /// The statements of a change, each on one line unless a text has several.
    package func statements(for change: AuditChange, of entity: SchemaEntity) -> [String] {
        guard let names = names[entity.number] else { return [] }
        let table = Self.quoted(names.table)
        let number = Self.number(of: change.object)
        let own = "\(Self.quoted(names.key)) = \(number)"
        let columns = change.fields.map { Self.quoted(names.column($0.name)) }
        func conditions() -> String {
            ([own] + zip(columns, change.fields).map { "\($0) IS \(literal($1.old))" })
                .joined(separator: " AND ")
        }
        let links = change.memberships.flatMap {
            self.links($0, number, Self.quoted(names.linkTable($0.name)))
        }
        switch change.operation {
        case .insert:
            let all = [Self.quoted(names.key)] + columns
            let values = [number] + change.fields.map { literal($0.new) }
            return [
                "INSERT INTO \(table) (\(all.joined(separator: ", "))) "
                    + "VALUES (\(values.joined(separator: ", ")));"
            ] + links
        case .delete:
            return links + ["DELETE FROM \(table) WHERE \(conditions());"]
        case .update:
            guard !change.fields.isEmpty else { return links }
            let values = zip(columns, change.fields).map { "\($0) = \(literal($1.new))" }
            return [
                "UPDATE \(table) SET \(values.joined(separator: ", ")) WHERE \(conditions());"
            ] + links
        }
    }

    private func links(
        _ membership: AuditMembership, _ owner: String, _ table: String
    ) -> [String] {
        membership.removed.map { member in
            "DELETE FROM \(table) WHERE owner = \(owner) AND member = "
                + "\(Self.number(of: member.object));"
        }
            + membership.added.map { member in
                "INSERT INTO \(table) (owner, member, position) VALUES (\(owner), "
                    + "\(Self.number(of: member.object)), \(member.order));"
            }
    }

    // MARK: - Names and values

    private func literal(_ value: AuditValue) -> String {
        switch value.value {
        case .null: return "NULL"
        case .bool(let value): return value ? "1" : "0"
        case .int(let number): return String(number)
        case .double(let number) where number.isFinite: return String(number)
        case .double(let number) where number.isInfinite: return number < 0 ? "-9e999" : "9e999"
        case .object(let object): return String(object.number)
        case .data(let data) where value.isBinary:
            let digits = data.map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            return "X'\(digits.joined())'"
        default: return Self.text(value.text)
        }
    }

    /// A text in quotes. Hidden characters are given by number, because a terminal would obey them.
    /// A text with a null character, which would end the statement, is given by its bytes, and so
    /// is one with more hidden characters than an expression can have parts.
    private static func text(_ text: String) -> String {
        let hidden = text.unicodeScalars.count { $0.isHidden && !Self.layout.contains($0) }
        guard hidden > 0 else { return quotedText(text) }
        guard hidden <= hiddenMaximum, !text.utf8.contains(0) else {
            let digits = text.utf8.map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
            return "CAST(X'\(digits.joined())' AS TEXT)"
        }
        var parts: [String] = []
        var plain = ""
        for scalar in text.unicodeScalars {
            guard scalar.isHidden, !Self.layout.contains(scalar) else {
                plain.unicodeScalars.append(scalar)
                continue
            }
            if !plain.isEmpty { parts.append(quotedText(plain)) }
            parts.append("char(\(scalar.value))")
            plain = ""
        }
        if !plain.isEmpty { parts.append(quotedText(plain)) }
        return parts.count == 1 ? parts[0] : "(\(parts.joined(separator: " || ")))"
    }

    /// Hidden characters that are harmless where text is shown.
    private static let layout: [Unicode.Scalar] = ["\n", "\t"]

    /// SQLite takes expressions of up to 1000 parts, two for each of these and one more.
    private static let hiddenMaximum = 100

    private static func quotedText(_ text: String) -> String {
        "'\(text.substituting(["'": "''"]))'"
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.substituting(["\"": "\"\""]))\""
    }

    /// `17`, from `Country/17`.
    private static func number(of object: String) -> String {
        String(object.split(separator: "/").last ?? "")
    }
}

extension SchemaEntity {
    /// The properties stored on the object's side.
    fileprivate var columns: [SchemaProperty] {
        properties.filter { $0.isPersistent && $0.slot != nil }
    }
}

/// The names of the tables of an entity and of their columns.
private struct SQLNames {
    let table: String
    /// The column of the object's number.
    let key: String
    private var columns: [String: String] = [:]
    private var linkTables: [String: String] = [:]

    /// The names for all entities: first those of the entities, then those of relationships, so that
    /// an entity keeps its own.
    static func make(for schema: Schema) -> [EntityNumber: SQLNames] {
        var tables = DistinctNames()
        var all: [EntityNumber: SQLNames] = [:]
        let entities = schema.entities.filter { !$0.isAbstract }
        for (entity, table) in zip(entities, tables.give(entities.map(\.name))) {
            all[entity.number] = SQLNames(entity, table: table)
        }
        let links = entities.flatMap { entity in entity.storedToMany.map { (entity, $0.name) } }
        let linkTables = tables.give(links.map { entity, name in "\(entity.name)_\(name)" })
        for ((entity, name), table) in zip(links, linkTables) {
            all[entity.number]?.linkTables[name] = table
        }
        return all
    }

    private init(_ entity: SchemaEntity, table: String) {
        self.table = table
        let names = Set(entity.properties.map { $0.name.lowercased() })
        key =
            ["id", "object", "object_id"].first { !names.contains($0) } ?? "daybook_object_id"
        var distinct = DistinctNames(reserved: [key])
        let properties = entity.columns.map(\.name)
        for (property, column) in zip(properties, distinct.give(properties)) {
            columns[property] = column
        }
    }

    func column(_ property: String) -> String { columns[property] ?? property }

    func linkTable(_ relationship: String) -> String {
        linkTables[relationship] ?? "\(table)_\(relationship)"
    }
}
