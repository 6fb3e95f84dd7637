import DaybookJournalLog
import DaybookObjectModel
import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Conditions on the items of ``PlanTests``, and these as tables of SQLite.
enum SayableItems {
    /// A condition as a predicate, and as one of SQL on the row `o`.
    struct Condition {
        let predicate: String
        let sql: String
    }

    static func condition(_ depth: Int, _ random: inout SeededGenerator) -> Condition {
        if depth > 0, !random.chance(3) {
            let joint = random.chance(2) ? " AND " : " OR "
            let parts = (0..<Int.random(in: 2...3, using: &random)).map { _ in
                condition(depth - 1, &random)
            }
            func joined(_ texts: [String]) -> String { "(" + texts.joined(separator: joint) + ")" }
            return Condition(
                predicate: joined(parts.map(\.predicate)), sql: joined(parts.map(\.sql)))
        }
        let code = Int.random(in: 0..<90, using: &random)
        func said(_ predicate: String, _ sql: String) -> Condition {
            // Null meets no comparison, and what is not met is not unknown.
            Condition(predicate: predicate, sql: "coalesce(\(sql), 0)")
        }
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return said("code == \(code)", "code = \(code)")
        case 1: return said("code > \(code)", "code > \(code)")
        case 2:
            return said(
                "code >= \(code) AND code < \(code + 5)", "code >= \(code) AND code < \(code + 5)")
        case 3: return said("kind == 'k\(code % 25)'", "kind = 'k\(code % 25)'")
        case 4: return said("kind BEGINSWITH 'k1'", "substr(kind, 1, 2) = 'k1'")
        case 5: return said("price < \(code).5", "price < \(code * 100 + 50)")
        case 6:
            let least = code % 50
            return said(
                "price BETWEEN {\(least), \(least + 2)}",
                "price BETWEEN \(least * 100) AND \((least + 2) * 100)")
        case 7: return said("weight >= \(code)", "weight >= \(code)")
        case 8: return said("isSold == \(code % 2 == 0)", "isSold = \(code % 2 == 0 ? 1 : 0)")
        case 9:
            let list = "\(code), \(code * 11), \(code * 17)"
            return said("sku IN {\(list)}", "sku IN (\(list))")
        case 10:
            return said("code IN {\(code), nil, 3}", "code IS NULL OR code IN (\(code), 3)")
        case 11: return said("label == 'l\(code % 7)'", "label = 'l\(code % 7)'")
        case 12:
            return said(
                "shop.city == 'c\(code % 13)'",
                "shop IN (SELECT id FROM Shop WHERE city = 'c\(code % 13)')")
        case 13:
            return said(
                "code > \(code) AND code BETWEEN {\(code + 2), \(code + 6)}",
                "code > \(code) AND code BETWEEN \(code + 2) AND \(code + 6)")
        case 14:
            return said(
                "price < \(code) AND price BETWEEN {\(code / 2), \(code / 2 + 9)}",
                "price < \(code * 100) AND price BETWEEN \(code / 2 * 100) AND "
                    + "\((code / 2 + 9) * 100)")
        default: return said("code == nil", "code IS NULL")
        }
    }

    // MARK: - SQLite

    static let columns = ["code", "kind", "price", "weight", "isSold", "sku", "label"]

    /// The same items and shops as tables, as of an entry. A price is in hundredths, and null where it is not a
    /// number.
    static func tables(
        of store: Store, at sequence: SequenceNumber?, in folder: URL
    ) throws -> Connection {
        let path = folder.appending(path: "items-\(sequence?.rawValue ?? 0)").path
        try Data().write(to: URL(fileURLWithPath: path))
        let database = try Connection(path: path)
        try database.run(
            """
            PRAGMA synchronous = OFF;
            CREATE TABLE Shop (id INTEGER PRIMARY KEY, city);
            CREATE TABLE Item (id INTEGER PRIMARY KEY, isUsed, \(columns.joined(separator: ", ")), shop);
            BEGIN;
            """)
        let item = try #require(store.schema.entity(named: "Item"))
        let shop = try #require(store.schema.entity(named: "Shop"))
        try store.read(at: sequence) { snapshot in
            try snapshot.objects(of: shop.family) { object in
                let city = try #require(shop.property(named: "city"))
                let text = SQLFilter.literal(try snapshot.value(of: city, in: object))
                try database.run("INSERT INTO Shop VALUES (\(object.number), \(text))")
                return .proceed
            }
            try snapshot.objects(of: item.family) { object in
                var cells = ["\(object.number)", object.entity == item.number ? "0" : "1"]
                for name in columns + ["shop"] {
                    let property = try #require(item.property(named: name))
                    cells.append(literal(try snapshot.value(of: property, in: object)))
                }
                try database.run("INSERT INTO Item VALUES (\(cells.joined(separator: ", ")))")
                return .proceed
            }
        }
        try database.run("COMMIT")
        return database
    }

    private static func literal(_ value: Value) -> String {
        guard case .decimal(let price) = value else { return SQLFilter.literal(value) }
        return price.isNaN ? "NULL" : "\(price * 100)"
    }
}
