import DaybookJournalLog
import DaybookObjectModel
import DaybookSQLite
import DaybookTestSupport
import Foundation

@testable import DaybookSnapshotStore

/// People in departments, in a store at two entries and as tables of SQLite for each. Of each kind of
/// value there are few, so that filters find some.
struct RandomPeople {
    let temporary: TemporaryStore
    let employee: SchemaEntity
    let department: SchemaEntity
    private(set) var states: [(SequenceNumber, Connection)] = []
    private var rows: [ObjectID: [String: Value]] = [:]
    var store: Store { temporary.store }

    init(seed: UInt64) throws {
        var model = Company.model
        for index in model.entities.indices where model.entities[index].name == "Employee" {
            model.entities[index].indexes = [
                ["lastName", .descending("age"), "rating"], ["department", .descending("hired")],
                [.descending("isActive"), "badge", .descending("lastName")],
                ["rating", "age"], [.descending("photo"), .descending("firstName")],
            ]
        }
        temporary = try TemporaryStore(model)
        employee = try Company.entity("Employee", of: temporary.store.schema)
        department = try Company.entity("Department", of: temporary.store.schema)
        var random = SeededGenerator(seed: seed)
        try insert(&random)
        try keepState()
        try change(&random)
        try keepState()
    }

    /// The object of a number in a result.
    func object(_ number: SQLiteValue) -> ObjectID? {
        rows.keys.first { .integer(Int64($0.number)) == number }
    }

    private mutating func insert(_ random: inout SeededGenerator) throws {
        var departments: [ObjectID] = []
        for index in 0..<6 {
            let object = try store.newObject("Department")
            rows[object] = ["name": index == 0 ? .null : .string("D\(index)")]
            rows[object]?["founded"] = .few(.date, &random)
            departments.append(object)
        }
        var last: ObjectID?
        for _ in 0..<48 {
            let object = try store.newObject(random.chance(4) ? "Manager" : "Employee")
            var values: [String: Value] = [:]
            for (name, type) in SQLTables.attributes {
                values[name] = random.chance(4) ? .null : .few(type, &random)
            }
            values["department"] = random.chance(4) ? .null : .object(random.pick(departments))
            values["mentor"] = random.chance(2) ? last.map(Value.object) ?? .null : .null
            rows[object] = values
            last = object
        }
        let changes = rows.sorted { $0.key < $1.key }.map { object, values in
            store.insert(object, values.filter { $0.value != .null })
        }
        try store.commit(SaveRequest(changes: changes))
    }

    private mutating func change(_ random: inout SeededGenerator) throws {
        var changes: [Change] = []
        for object in rows.keys.sorted() where random.chance(3) {
            guard let old = rows[object]?["age"] else { continue }
            let new: Value = random.chance(4) ? .null : .few(.int16, &random)
            guard new != old else { continue }
            rows[object]?["age"] = new
            changes.append(store.update(object, "age", from: old, to: new))
        }
        try store.commit(SaveRequest(changes: changes))
    }

    private mutating func keepState() throws {
        let path = temporary.folder.appending(path: "opinion-\(states.count)").path
        try Data().write(to: URL(fileURLWithPath: path))
        states.append((try store.head(), try SQLTables.make(at: path, rows, department)))
    }
}

/// The tables of people and departments.
enum SQLTables {
    static let attributes: [(String, AttributeType)] = [
        ("firstName", .string), ("lastName", .string), ("rating", .double), ("age", .int16),
        ("isActive", .bool), ("badge", .uuid), ("hired", .date), ("photo", .data),
    ]

    static func make(
        at path: String, _ rows: [ObjectID: [String: Value]], _ department: SchemaEntity
    ) throws -> Connection {
        let database = try Connection(path: path)
        let columns = attributes.map(\.0) + ["department", "mentor"]
        try database.run(
            """
            PRAGMA synchronous = OFF;
            CREATE TABLE Department (id INTEGER PRIMARY KEY, name, founded);
            CREATE TABLE Employee (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")));
            """)
        for (object, values) in rows {
            let isDepartment = object.entity == department.number
            let names = isDepartment ? ["name", "founded"] : columns
            let literals = names.map { SQLFilter.literal(values[$0] ?? .null) }
            try database.run(
                "INSERT INTO \(isDepartment ? "Department" : "Employee") VALUES "
                    + "(\(object.number), \(literals.joined(separator: ", ")))")
        }
        return database
    }
}

extension Value {
    /// One of few values of a type that SQLite has as well.
    static func few(_ type: AttributeType, _ random: inout SeededGenerator) -> Value {
        switch type {
        case .bool: return .bool(random.chance(2))
        case .int16: return .int(random.pick([-32_768, -2, -1, 0, 1, 2, 3, 32_767]))
        case .double:
            return Value.double(random.pick([-.infinity, -1.5, -0.0, 0, 0.25, 1, 3, .infinity]))
                .normalized
        case .string:
            let pieces = ["a", "A", "b", "ä", "a\u{308}", "\u{0}", "\u{1F600}", "%", "_", "'"]
            return .string(
                (0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick(pieces) }
                    .joined())
        case .uuid:
            let byte = random.pick([0, 1, 0x7f, 0xff] as [UInt8])
            return .uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte)))
        case .date:
            let seconds = random.pick([-1e9, -0.5, 0, 0.25, 1, 6e8])
            return Value.date(Date(timeIntervalSinceReferenceDate: seconds)).normalized
        default: return .data(Data(random.pick([[], [0], [0, 1], [1], [0xff]] as [[UInt8]])))
        }
    }
}
