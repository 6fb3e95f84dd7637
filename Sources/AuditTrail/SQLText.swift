package import ObjectModel

/// Changes as statements of SQL, in SQLite's dialect.
///
/// Each entity has a table with a column for each property that is kept on the object's own side; a
/// to-one relationship holds the number of an object. Each to-many relationship has a table of its
/// own with owner, member and position. Updates and deletes ask for the old values, so what stands
/// otherwise stays as it is.
package struct SQLText {
    private let schema: Schema

    /// Prepares to write statements for the objects of a model.
    package init(_ schema: Schema) {
        self.schema = schema
    }

    // MARK: - Schema

    /// The tables that the statements are for, as comments of SQL.
    package func header() -> [String] {
        ["-- For these tables:"]
            + schema.entities.filter { !$0.isAbstract }.flatMap(tables).map { "-- " + $0 }
    }

    private func tables(of entity: SchemaEntity) -> [String] {
        let columns = columns(of: entity).map { "\(Self.quoted($0.name)) \(type(of: $0))" }
        let own = ["\(Self.quoted(key(of: entity))) INTEGER PRIMARY KEY"] + columns
        return ["CREATE TABLE \(Self.quoted(entity.name)) (\(own.joined(separator: ", ")));"]
            + entity.storedToMany.map { property in
                "CREATE TABLE \(table(of: property.name, in: entity)) "
                    + "(owner INTEGER, member INTEGER, position REAL, PRIMARY KEY (owner, member));"
            }
    }

    private func columns(of entity: SchemaEntity) -> [SchemaProperty] {
        entity.properties.filter { $0.isPersistent && $0.slot != nil }
    }

    /// `id`, unless the entity has a property of that name. SQLite makes no difference between
    /// capitals and small letters.
    private func key(of entity: SchemaEntity) -> String {
        let names = Set(entity.properties.map { $0.name.lowercased() })
        return ["id", "object", "object_id"].first { !names.contains($0) } ?? "daybook_object_id"
    }

    private func table(of relationship: String, in entity: SchemaEntity) -> String {
        Self.quoted("\(entity.name)_\(relationship)")
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
        let table = Self.quoted(entity.name)
        let number = Self.number(of: change.object)
        let own = "\(Self.quoted(key(of: entity))) = \(number)"
        func conditions() -> String {
            ([own] + change.fields.map { "\(Self.quoted($0.name)) IS \(literal($0.old))" })
                .joined(separator: " AND ")
        }
        let links = change.memberships.flatMap { self.links($0, number, entity) }
        switch change.operation {
        case .insert:
            let names = [key(of: entity)] + change.fields.map(\.name)
            let values = [number] + change.fields.map { literal($0.new) }
            return [
                "INSERT INTO \(table) (\(names.map(Self.quoted).joined(separator: ", "))) "
                    + "VALUES (\(values.joined(separator: ", ")));"
            ] + links
        case .delete:
            return links + ["DELETE FROM \(table) WHERE \(conditions());"]
        case .update:
            guard !change.fields.isEmpty else { return links }
            let values = change.fields.map { "\(Self.quoted($0.name)) = \(literal($0.new))" }
            return [
                "UPDATE \(table) SET \(values.joined(separator: ", ")) WHERE \(conditions());"
            ] + links
        }
    }

    private func links(
        _ membership: AuditMembership, _ owner: String, _ entity: SchemaEntity
    ) -> [String] {
        let table = self.table(of: membership.name, in: entity)
        return membership.removed.map { member in
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

    /// A text in quotes. One with a zero character in it, which would end the statement, is given by
    /// its bytes.
    private static func text(_ text: String) -> String {
        guard text.utf8.contains(0) else { return "'\(text.replacing("'", with: "''"))'" }
        let digits = text.utf8.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "CAST(X'\(digits.joined())' AS TEXT)"
    }

    private static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }

    /// `17`, from `Country/17`.
    private static func number(of object: String) -> String {
        String(object.split(separator: "/").last ?? "")
    }
}
