import CDaybookSQLite
import Foundation

/// SQLite with an audit table that triggers fill, indexes for what is asked of it, and prepared statements; rows become
/// structures.
final class SQLitePast: AskedAboutThePast {
    static let name = SQLiteContender.name

    private let sample: PastSample
    private var file: SQLiteFile?
    private var questions: [PastQuestion: OpaquePointer] = [:]
    private var statements: [Statement: OpaquePointer] = [:]
    /// The entry that made the accounts.
    private static let start = 1

    private enum Statement: String, CaseIterable {
        case begin = "BEGIN IMMEDIATE"
        case commit = "COMMIT"
        case entry = "INSERT INTO entry(recorded_at, author) VALUES (julianday('now'), ?)"
        case update = "UPDATE account SET amount = ?, kind = ? WHERE id = ?"
        case addSums = """
            INSERT INTO sums SELECT coalesce(e.author, ''), sum(a.new_amount)
            FROM entry e JOIN audit a ON a.entry = e.id
            WHERE e.id > (SELECT entry FROM summed) AND a.old_amount IS NOT a.new_amount
            GROUP BY e.author
            ON CONFLICT(author) DO UPDATE SET amount = amount + excluded.amount
            """
        case moveSums = "UPDATE summed SET entry = (SELECT max(id) FROM entry)"
        case sums = "SELECT author, amount FROM sums"
    }

    private struct Account {
        let number: Int
        let name: String
        let amount: Int
        let kind: Int

        init(_ row: OpaquePointer) {
            number = Int(sqlite3_column_int64(row, 0))
            name = SQLiteFile.text(row, 1)
            amount = Int(sqlite3_column_int64(row, 2))
            kind = Int(sqlite3_column_int64(row, 3))
        }
    }

    private struct Fall {
        let account: Int
        let entry: Int
        let author: String
        let old: Int
        let new: Int

        init(_ row: OpaquePointer) {
            account = Int(sqlite3_column_int64(row, 0))
            entry = Int(sqlite3_column_int64(row, 1))
            author = SQLiteFile.text(row, 2)
            old = Int(sqlite3_column_int64(row, 3))
            new = Int(sqlite3_column_int64(row, 4))
        }
    }

    init(in folder: URL, _ sample: PastSample) throws {
        self.sample = sample
        let file = try SQLiteFile(
            folder.appendingPathComponent("past.sqlite"), flags: SQLITE_OPEN_CREATE)
        self.file = file
        // Saves do not wait for the disk: here they only make the past.
        try file.execute("PRAGMA synchronous = NORMAL")
        try file.execute(String(decoding: PackageResources.past_sql, as: UTF8.self))
        for statement in Statement.allCases {
            statements[statement] = try file.prepare(statement.rawValue)
        }
        try file.execute("BEGIN; INSERT INTO entry(recorded_at) VALUES (julianday('now'))")
        try file.insert("account", columns: 5, rows: sample.accounts) { statement, account in
            sqlite3_bind_int64(statement, 2, Int64(account))
            SQLiteFile.bind(sample.name(account), statement, 3)
            sqlite3_bind_int64(statement, 4, Int64(sample.amount(0, account)))
            sqlite3_bind_int64(statement, 5, Int64(sample.kind(0, account)))
        }
        try file.execute("COMMIT")
        for number in 1...sample.saves { try save(number) }
        try file.settle()
        for question in PastQuestion.allCases {
            questions[question] = try file.prepare(Self.text(of: question))
        }
    }

    func save(_ number: Int) throws {
        try run(.begin)
        try run(.entry) { SQLiteFile.bind(sample.author(number), $0, 1) }
        for place in 0..<PastSample.saveLength {
            try run(.update) {
                sqlite3_bind_int64($0, 1, Int64(sample.amount(number, place)))
                sqlite3_bind_int64($0, 2, Int64(sample.kind(number, place)))
                sqlite3_bind_int64($0, 3, Int64(sample.account(number, place) + 1))
            }
        }
        try run(.commit)
    }

    func answer(_ question: PastQuestion, turn: Int) throws -> Int {
        guard let file, let statement = questions[question] else { return 0 }
        switch question {
        case .changedSince: bind(Self.start + sample.recent(turn), statement, 1)
        case .changedBy: SQLiteFile.bind(sample.author(asked: turn), statement, 1)
        case .ever: bind(sample.high(turn), statement, 1)
        case .asOf:
            bind(Self.start + sample.middle(turn), statement, 1)
            bind(turn % PastSample.kinds, statement, 2)
            bind(PastSample.amounts / 2, statement, 3)
        case .falls:
            bind(Self.start + sample.tenth(turn), statement, 1)
            return try file.rows(statement, Fall.init).reduce(0) {
                $0 + $1.old - $1.new + $1.author.utf8.count
            }
        }
        return try file.rows(statement, Account.init).reduce(0) {
            $0 + $1.amount + $1.name.utf8.count
        }
    }

    private static func text(of question: PastQuestion) -> String {
        switch question {
        case .changedSince:
            """
            SELECT number, name, amount, kind FROM account WHERE id IN (
                SELECT account FROM audit WHERE entry >= ? AND old_amount <> new_amount)
            """
        case .changedBy:
            """
            SELECT number, name, amount, kind FROM account WHERE id IN (
                SELECT a.account FROM entry e JOIN audit a ON a.entry = e.id
                WHERE e.author = ? AND a.old_amount <> a.new_amount)
            """
        case .ever:
            """
            SELECT number, name, amount, kind FROM account WHERE id IN (
                SELECT account FROM audit WHERE new_amount > ?)
            """
        case .asOf:
            """
            SELECT c.number, c.name, a.new_amount, a.new_kind FROM account c JOIN audit a
            ON a.account = c.id AND a.entry = (
                SELECT max(entry) FROM audit WHERE account = c.id AND entry <= ?)
            WHERE a.new_kind = ? AND a.new_amount >= ?
            """
        case .falls:
            """
            SELECT a.account, a.entry, e.author, a.old_amount, a.new_amount
            FROM audit a JOIN entry e ON e.id = a.entry
            WHERE a.entry >= ? AND a.new_amount < a.old_amount
            """
        }
    }

    // MARK: - Sums

    func catchUp() throws {
        try run(.begin)
        try run(.addSums)
        try run(.moveSums)
        try run(.commit)
    }

    func sums() throws -> Int {
        guard let file, let statement = statements[.sums] else { return 0 }
        let parts = try file.rows(statement) { row in
            (SQLiteFile.text(row, 0).utf8.count + 1) * Int(sqlite3_column_int64(row, 1))
        }
        return parts.reduce(0, +)
    }

    func forgetSums() throws {
        try file?.execute("DELETE FROM sums; UPDATE summed SET entry = 0")
    }

    func close() throws {
        for statement in questions.values { sqlite3_finalize(statement) }
        for statement in statements.values { sqlite3_finalize(statement) }
        (questions, statements, file) = ([:], [:], nil)
    }

    private func run(_ statement: Statement, _ bind: (OpaquePointer) -> Void = { _ in }) throws {
        guard let file, let statement = statements[statement] else { return }
        bind(statement)
        _ = try file.rows(statement) { _ in }
    }

    private func bind(_ number: Int, _ statement: OpaquePointer, _ index: Int32) {
        sqlite3_bind_int64(statement, index, Int64(number))
    }
}
