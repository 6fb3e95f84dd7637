import DaybookAudit
import DaybookJournalLog
import DaybookObjectModel
import DaybookSQLite
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Testing

/// Database files, asked in SQL.
@Suite struct SQLiteFormatTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var path: String { directory.path("export.sqlite") }

    private func export(
        _ store: Store, _ prepare: (inout AuditExport) -> Void = { _ in }
    ) throws -> Connection {
        let format = try #require(AuditFormats.format(named: "sqlite"))
        var export = AuditExport(of: AuditReader(store))
        export.options.path = path
        prepare(&export)
        var byteCount = 0
        try export.write(format) { byteCount += $0.count }
        #expect(byteCount == 0, "everything is in the file")
        return try Connection(path: path)
    }

    private func rows(_ database: Connection, _ query: String) throws -> [String] {
        try database.statement(query).rows().map { row in
            row.map(\.text).joined(separator: "|")
        }
    }

    @Test(.ownStores("The server's clock is read more often."))
    func `the tables of an export are the same as ever`() throws {
        let story = try AtlasStory.write()

        let database = try export(story.store)

        var text = ""
        for table in [
            "entry", "change", "value", "membership", "object_version", "text_with_null",
        ] {
            text += "-- \(table)\n"
            text += try rows(database, "SELECT * FROM \(table)").joined(separator: "\n") + "\n"
        }
        for name in [
            "current_Country", "versions_Country", "current_Union", "versions_Subdivision",
        ] {
            text += "-- \(name)\n"
            text +=
                try rows(database, "SELECT * FROM \(name) ORDER BY object, valid_from")
                .joined(separator: "\n") + "\n"
        }
        text += "-- schema\n"
        text +=
            try rows(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
            .joined(separator: "\n") + "\n"
        try Fixture.expect(Data(text.utf8), equals: "exports/atlas.sqlite.txt")
    }

    @Test func `a text with U+0000 is whole in the views`() throws {
        let temporary = try TemporaryStore()
        let store = temporary.store
        let skill = try store.newObject("Skill")
        try store.commit(
            SaveRequest(changes: [store.insert(skill, ["title": .string("\u{0}b\\u0000'")])]))
        try store.commit(
            SaveRequest(
                header: EntryHeader(base: try store.head()),
                changes: [
                    store.update(
                        skill, "title", from: .string("\u{0}b\\u0000'"), to: .string("plain"))
                ]))

        let database = try export(store)

        #expect(
            try rows(database, "SELECT hex(title) FROM versions_Skill ORDER BY valid_from")
                == ["00625C7530303030" + "27", "706C61696E"])
        #expect(try rows(database, "SELECT title FROM current_Skill") == ["plain"])
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `the state after any entry is one query`(seed: UInt64) throws {
        let temporary = try RandomValues.write(seed: seed, entries: 40)
        let store = temporary.store

        let database = try export(store)

        let query = try database.statement(
            """
            SELECT object, state FROM object_version
            WHERE valid_from <= ?1 AND (valid_to > ?1 OR valid_to IS NULL)
            """)
        for number in 1...(try store.head()).rawValue {
            let sequence = SequenceNumber(number)
            var expected: [String: [String: JSONValue]] = [:]
            try store.read(at: sequence) { snapshot in
                try snapshot.objects(of: store.schema.entities.map(\.number)) { object in
                    expected[store.schema.name(of: object)] = try StateJSON.members(
                        of: object, at: sequence, in: store)
                    return .proceed
                }
            }
            var found: [String: [String: JSONValue]] = [:]
            for row in try query.rows(.integer(Int64(number))) {
                guard case .text(let name) = row[0], case .text(let state) = row[1],
                    case .object(let members) = try JSONValue(parsing: Array(state.utf8))
                else {
                    Issue.record("A row has another form, seed \(seed)")
                    continue
                }
                found[name] = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
            }
            #expect(found == expected, "entry \(number), seed \(seed)")
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `old and new values keep their type`(seed: UInt64) throws {
        let temporary = try RandomValues.write(seed: seed, entries: 40)

        let database = try export(temporary.store)

        var expected: [[SQLiteValue]] = []
        var number: Int64 = 0
        try AuditReader(temporary.store).records { record in
            for change in record.changes {
                number += 1
                for field in change.fields.sorted(by: { $0.name < $1.name }) {
                    expected.append([
                        .integer(number), .text(field.name), Self.column(field.old),
                        Self.column(field.new), .integer(0),
                    ])
                }
            }
            return .proceed
        }
        let found = try database.statement("SELECT * FROM value ORDER BY change, property").rows()
        #expect(found == expected, "seed \(seed)")
        #expect(found.count > 30, "seed \(seed)")
    }

    @Test func `the file says what it is and is sound`() throws {
        let story = try AtlasStory.write()

        let database = try export(story.store)

        #expect(try rows(database, "PRAGMA application_id") == ["1145133378"])
        #expect(try rows(database, "PRAGMA user_version") == ["1"])
        #expect(try rows(database, "PRAGMA integrity_check") == ["ok"])
        #expect(try rows(database, "PRAGMA foreign_key_check").isEmpty)
    }

    @Test func `a confidential value is in no page of the file`() throws {
        let story = try AtlasStory.write()

        let database = try export(story.store) { export in
            export.confidentiality = Confidentiality(.omit, properties: ["Country.name"])
        }

        let hidden = try rows(
            database, "SELECT count(*) FROM value WHERE is_confidential AND property = 'name'")
        #expect(hidden == ["5"])
        #expect(try rows(database, "SELECT name FROM current_Country") == ["null", "null"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for name in ["Türkiye", "Turkey", "Netherlands Antilles"] {
            #expect(bytes.range(of: Data(name.utf8)) == nil, "\(name)")
        }
    }

    @Test func `an export without a path is refused`() throws {
        let story = try AtlasStory.write()

        let error = #expect(throws: AuditFormatError.self) {
            _ = try export(story.store) { $0.options.path = nil }
        }

        #expect(error?.description.contains("--into") == true)
    }

    @Test func `a file that is there stays as it is`() throws {
        let story = try AtlasStory.write()
        let file = URL(fileURLWithPath: path)
        try Data("mine".utf8).write(to: file)

        let error = #expect(throws: AuditFormatError.self) { _ = try export(story.store) }

        #expect(error?.description.contains(path) == true)
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test func `nothing is left of an export that does not come to its end`() throws {
        let story = try AtlasStory.write()
        struct Stop: Error {}
        let format = try #require(AuditFormats.format(named: "sqlite"))
        var whole = AuditExport(of: AuditReader(story.store))
        whole.options.path = path
        let export = whole
        var pieces = 0

        #expect(throws: Stop.self) {
            try export.write(format) { _ in
                pieces += 1
                if pieces == 5 { throw Stop() }
            }
        }

        #expect(pieces == 5)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }

    @Test func `names that SQLite takes for one get numbers in views`() throws {
        let attributes = ["name", "Name", "object"].map {
            AttributeDescription(name: $0, type: .string)
        }
        let temporary = try TemporaryStore(
            ManagedObjectModel(
                entities: ["Item", "item", "item_2"].map {
                    EntityDescription(name: $0, attributes: attributes)
                }))
        let entities = temporary.store.schema.entities
        let changes = entities.map { entity in
            Change(
                object: ObjectID(entity: entity.number, number: 1),
                kind: .insert(
                    values: entity.slots.map { .string("\(entity.name).\($0.name)") }, members: []))
        }
        try temporary.store.commit(SaveRequest(header: EntryHeader(kind: .save), changes: changes))

        let database = try export(temporary.store)

        let views = try rows(
            database, "SELECT name FROM sqlite_schema WHERE name LIKE 'current%' ORDER BY rowid")
        #expect(views == ["current_Item", "current_item_3", "current_item_2"])
        var found: Set<String> = []
        for view in views {
            let row = try rows(
                database, "SELECT name, Name_2, object_2 FROM \"\(view)\" ORDER BY 1")
            found.formUnion(row)
        }
        let expected = ["Item", "item", "item_2"].map { entity in
            entities.first { $0.name == entity }?.slots.map { "\(entity).\($0.name)" } ?? []
        }
        #expect(found.count == 3)
        #expect(
            Set(found.flatMap { $0.split(separator: "|").map(String.init) })
                == Set(expected.joined()))
    }

    private static func column(_ value: AuditValue) -> SQLiteValue {
        switch value.value {
        case .null: .null
        case .bool(let value): .integer(value ? 1 : 0)
        case .int(let number): .integer(number)
        case .double(let number): number.isFinite ? .real(number) : .text(value.text)
        case .data(let data): value.isCoded ? .text(value.text) : .blob(Array(data))
        default: .text(value.text)
        }
    }
}

extension SQLiteValue {
    /// The value on a line of a golden file.
    fileprivate var text: String {
        switch self {
        case .null: "null"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let bytes): Data(bytes).base64EncodedString()
        }
    }
}
