import CDaybookSQLite
import Foundation

/// SQLite's saves with triggers that keep history, and the same rules as triggers.
final class SQLiteOrders: CostlySaves {
    static let name = SQLiteContender.name

    private let sample: OrderSample
    private var file: SQLiteFile?
    private var statements: [Statement: OpaquePointer] = [:]

    private enum Statement: String, CaseIterable {
        case begin = "BEGIN IMMEDIATE"
        case commit = "COMMIT"
        case rollback = "ROLLBACK"
        case entry = "INSERT INTO entry(recorded_at) VALUES (julianday('now'))"
        case update = "UPDATE orders SET amount = ?, state = ? WHERE id = ?"
        case fall = "UPDATE orders SET amount = amount - 1 WHERE id = 1"
        case sum = "SELECT sum(amount) FROM orders"
    }

    init(in folder: URL, _ sample: OrderSample, _ cost: SaveCost) throws {
        self.sample = sample
        let file = try SQLiteFile(
            folder.appendingPathComponent("\(cost).sqlite"), flags: SQLITE_OPEN_CREATE)
        self.file = file
        try file.execute("PRAGMA synchronous = \(sample.isDurable ? "FULL" : "NORMAL")")
        try file.execute(String(decoding: PackageResources.orders_sql, as: UTF8.self))
        switch cost {
        case .nothing: break
        case .laws:
            try file.execute(String(decoding: PackageResources.laws_sql, as: UTF8.self))
        case .index:
            try file.execute("CREATE INDEX orders_customer ON orders(customer, state, amount)")
        }
        for statement in Statement.allCases {
            statements[statement] = try file.prepare(statement.rawValue)
        }
        try run(.begin)
        try run(.entry)
        try file.insert("orders", columns: 5, rows: sample.count) { statement, index in
            sqlite3_bind_int64(statement, 2, Int64(index))
            SQLiteFile.bind(sample.customer(index), statement, 3)
            sqlite3_bind_int64(statement, 4, Int64(sample.amount(0, index)))
            sqlite3_bind_int64(statement, 5, Int64(sample.state(0, index)))
        }
        try run(.commit)
        try file.settle()
    }

    func save(_ number: Int) throws {
        try run(.begin)
        try run(.entry)
        for place in 0..<OrderSample.saveLength {
            let index = sample.number(number, place)
            try run(.update) {
                sqlite3_bind_int64($0, 1, Int64(sample.amount(number, index)))
                sqlite3_bind_int64($0, 2, Int64(sample.state(number, index)))
                sqlite3_bind_int64($0, 3, Int64(index + 1))
            }
        }
        try run(.commit)
    }

    func sum() throws -> Int {
        guard let file, let statement = statements[.sum] else { return 0 }
        return try file.rows(statement) { Int(sqlite3_column_int64($0, 0)) }[0]
    }

    func refusesFalls() throws -> Bool {
        try run(.begin)
        try run(.entry)
        defer { statements[.rollback].map { _ = sqlite3_step($0) } }
        guard let statement = statements[.fall] else { return false }
        defer { sqlite3_reset(statement) }
        return sqlite3_step(statement) == SQLITE_CONSTRAINT
    }

    func close() throws {
        for statement in statements.values { sqlite3_finalize(statement) }
        (statements, file) = ([:], nil)
    }

    private func run(_ statement: Statement, _ bind: (OpaquePointer) -> Void = { _ in }) throws {
        guard let file, let statement = statements[statement] else { return }
        bind(statement)
        _ = try file.rows(statement) { _ in }
    }
}
