import CDaybookSQLite
import Foundation

/// SQLite with the same indexes and prepared statements; rows that are found become instances.
final class SQLiteStaff: Questioned {
    static let name = SQLiteContender.name

    private let staff: Staff
    private var database: OpaquePointer?
    private var statements: [Question: OpaquePointer] = [:]

    /// A person, as a program over a library without objects has it.
    private final class PlainWorker {
        let name: String
        let badge: String
        let number: Int
        let age: Int
        let salary: Double
        let remark: String
        let team: Int

        init(_ row: OpaquePointer) {
            name = SQLiteStaff.text(row, 0)
            badge = SQLiteStaff.text(row, 1)
            number = Int(sqlite3_column_int64(row, 2))
            age = Int(sqlite3_column_int64(row, 3))
            salary = sqlite3_column_double(row, 4)
            remark = SQLiteStaff.text(row, 5)
            team = Int(sqlite3_column_int64(row, 6))
        }
    }

    init(in folder: URL, _ staff: Staff) throws {
        self.staff = staff
        let path = folder.appendingPathComponent("staff.sqlite").path
        guard
            sqlite3_open_v2(
                path, &database,
                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK
        else { throw failure("sqlite3_open_v2") }
        try execute(Self.schema)
        try execute("BEGIN")
        for team in 0..<staff.teamCount {
            try execute(
                "INSERT INTO team VALUES (\(team), 'Team \(team)', '\(staff.city(ofTeam: team))')")
        }
        let insert = try prepare("INSERT INTO worker VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        for index in 0..<staff.count {
            sqlite3_bind_int64(insert, 1, Int64(index + 1))
            bind(staff.name(index), insert, 2)
            bind(staff.badge(index), insert, 3)
            sqlite3_bind_int64(insert, 4, Int64(index))
            sqlite3_bind_int64(insert, 5, Int64(staff.age(index)))
            sqlite3_bind_double(insert, 6, staff.salary(index))
            bind(staff.remark(index), insert, 7)
            sqlite3_bind_int64(insert, 8, Int64(staff.team(index)))
            guard sqlite3_step(insert) == SQLITE_DONE else { throw failure("sqlite3_step") }
            sqlite3_reset(insert)
        }
        sqlite3_finalize(insert)
        try execute("COMMIT; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
        for question in Question.allCases {
            statements[question] = try prepare(Self.text(of: question, staff))
        }
    }

    func answer(_ question: Question, turn: Int) throws -> Int {
        guard let statement = statements[question] else { return 0 }
        defer { sqlite3_reset(statement) }
        switch question {
        case .indexedEquality: bind(staff.badge(turn * 17), statement, 1)
        case .indexedRange:
            let first = (turn * 1_013) % (staff.count / 2)
            sqlite3_bind_int64(statement, 1, Int64(first))
            sqlite3_bind_int64(statement, 2, Int64(first + 1_000))
        case .scan:
            sqlite3_bind_int64(statement, 1, Int64(turn % 50))
            sqlite3_bind_double(statement, 2, Double(staff.count) / 8)
        case .throughToOne: bind(staff.city(ofTeam: turn), statement, 1)
        case .sum, .count: return try number(statement)
        case .members: return try members(statement, turn)
        case .groupedSum: return try groups(statement)
        case .compoundOrder:
            sqlite3_bind_int64(statement, 1, Int64(turn % staff.teamCount))
            sqlite3_bind_int64(statement, 2, Int64(staff.count / 4))
        case .scanText, .firstInIndexOrder, .topWithoutIndex, .offset: break
        }
        return try workers(statement).reduce(0) { $0 + $1.age + $1.name.utf8.count }
    }

    func close() throws {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        guard sqlite3_close(database) == SQLITE_OK else { throw failure("sqlite3_close") }
        database = nil
    }

    // MARK: - Parts

    private func workers(_ statement: OpaquePointer) throws -> [PlainWorker] {
        var workers: [PlainWorker] = []
        var status = sqlite3_step(statement)
        while status == SQLITE_ROW {
            workers.append(PlainWorker(statement))
            status = sqlite3_step(statement)
        }
        guard status == SQLITE_DONE else { throw failure("sqlite3_step") }
        return workers
    }

    private func number(_ statement: OpaquePointer) throws -> Int {
        guard sqlite3_step(statement) == SQLITE_ROW else { throw failure("sqlite3_step") }
        return Int(sqlite3_column_int64(statement, 0))
    }

    private func groups(_ statement: OpaquePointer) throws -> Int {
        var sum = 0
        var status = sqlite3_step(statement)
        while status == SQLITE_ROW {
            sum += Int(sqlite3_column_int64(statement, 0)) * Int(sqlite3_column_int64(statement, 1))
            status = sqlite3_step(statement)
        }
        guard status == SQLITE_DONE else { throw failure("sqlite3_step") }
        return sum
    }

    private func members(_ statement: OpaquePointer, _ turn: Int) throws -> Int {
        let first = turn % max(1, staff.teamCount - 50)
        var sum = 0
        for team in first..<min(first + 50, staff.teamCount) {
            sqlite3_bind_int64(statement, 1, Int64(team))
            sum += try workers(statement).reduce(0) { $0 + $1.age }
            sqlite3_reset(statement)
        }
        return sum
    }

    private static func text(of question: Question, _ staff: Staff) -> String {
        let all = "SELECT w.name, badge, number, age, salary, remark, team FROM worker w "
        return switch question {
        case .indexedEquality: all + "WHERE badge = ?"
        case .indexedRange: all + "WHERE number >= ? AND number < ?"
        case .scan: all + "WHERE age = ? AND salary >= ?"
        case .scanText: all + "WHERE instr(remark, 'amber')"
        case .firstInIndexOrder: all + "ORDER BY number LIMIT 50"
        case .compoundOrder:
            all + "WHERE team = ? AND number >= ? ORDER BY number DESC LIMIT 50"
        case .topWithoutIndex: all + "ORDER BY salary DESC, id LIMIT 50"
        case .throughToOne: all + "JOIN team t ON t.id = w.team WHERE t.city = ?"
        case .offset: all + "ORDER BY id LIMIT 50 OFFSET \(staff.count / 2)"
        case .sum: "SELECT sum(age) FROM worker"
        case .count: "SELECT count(*) FROM worker WHERE age < 30"
        case .members: all + "WHERE team = ?"
        case .groupedSum: "SELECT age, sum(number) FROM worker GROUP BY age"
        }
    }

    fileprivate static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let length = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
    }

    private func bind(_ text: String, _ statement: OpaquePointer, _ index: Int32) {
        // SQLite copies the text.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, index, text, -1, copies)
    }

    private func execute(_ text: String) throws {
        guard sqlite3_exec(database, text, nil, nil, nil) == SQLITE_OK else { throw failure(text) }
    }

    private func prepare(_ text: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard
            sqlite3_prepare_v3(
                database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
                == SQLITE_OK, let statement
        else { throw failure(text) }
        return statement
    }

    private func failure(_ call: String) -> PeerFailure {
        PeerFailure(call, String(cString: sqlite3_errmsg(database)))
    }

    private static let schema = """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144;
        PRAGMA mmap_size = 4294967296; PRAGMA temp_store = MEMORY;
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
        CREATE TABLE worker (id INTEGER PRIMARY KEY, name TEXT NOT NULL, badge TEXT NOT NULL,
            number INTEGER NOT NULL, age INTEGER NOT NULL, salary REAL NOT NULL,
            remark TEXT NOT NULL, team INTEGER REFERENCES team(id));
        CREATE INDEX worker_badge ON worker (badge);
        CREATE INDEX worker_number ON worker (number);
        CREATE INDEX worker_team ON worker (team);
        CREATE INDEX worker_team_number ON worker (team, number);
        """
}
