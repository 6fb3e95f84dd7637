import DaybookObjectModel
import DaybookSQLite
import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookSnapshotStore

/// Groups of random people by random keys, worked out from rows and by SQLite.
///
/// `DAYBOOK_SEED` runs another seed only, and `DAYBOOK_GROUPINGS` as many groupings of each.
struct GroupingOpinionTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["DAYBOOK_SEED"].flatMap(UInt64.init)
    private static let seeds: [UInt64] = seed.map { [$0] } ?? [1_501, 1_502]
    private static let count = environment["DAYBOOK_GROUPINGS"].flatMap { Int($0) } ?? 150

    @Test(arguments: seeds)
    func `groups are those of SQLite, in the same order, now and then`(seed: UInt64) throws {
        let people = try RandomPeople(seed: seed)
        var questions = RandomGroupings(people, seed: seed &+ 1)
        var found = 0
        var refused = 0

        for number in 0..<Self.count {
            let question = try questions.next()
            for (sequence, database) in people.states {
                let place: Comment =
                    "seed \(seed), grouping \(number), entry \(sequence)\n\(question.sql)"
                let opinion = try database.statement(question.sql).rows()
                let grouping = question.grouping
                let groups = try people.store.read(at: sequence) { snapshot in
                    var table = grouping.table
                    try snapshot.group(
                        &table, by: grouping, Query(people.employee, filter: question.filter))
                    return Result { try grouping.groups(of: table) }
                }
                // A sum of 16 bits that does not fit is an error here.
                if question.isTooGreat(opinion) {
                    let error = #expect(throws: QueryError.self, place) { try groups.get() }
                    #expect(error?.message.contains("age' of 'Employee'") == true, place)
                    refused += 1
                    continue
                }
                var rows = try groups.get().map { group in grouping.columns.map { group[$0] } }
                if let having = question.having { rows = try rows.filter(having.matches(columns:)) }
                let own = rows.map { $0.map(\.inSQLite) }
                let theirs = opinion.map { row in
                    row.prefix(grouping.columns.count).map(\.bytewise)
                }
                #expect(own == theirs, place)
                found += opinion.count
            }
        }
        #expect(found > 0)
        #expect(refused > 0)
    }

    @Test(arguments: seeds)
    func `medians are those of SQLite, which numbers the rows`(seed: UInt64) throws {
        let people = try RandomPeople(seed: seed)
        var questions = RandomGroupings(people, seed: seed &+ 3)
        var found = 0

        for number in 0..<Self.count / 5 {
            let (grouping, filter, sql) = try questions.nextMedian()
            for (sequence, database) in people.states {
                var opinion: [SQLiteValue: SQLiteValue] = [:]
                for row in try database.statement(sql).rows() {
                    opinion[row[0].bytewise] = row[1]
                }
                let groups = try people.store.read(at: sequence) { snapshot in
                    var table = grouping.table
                    try snapshot.group(
                        &table, by: grouping, Query(people.employee, filter: filter))
                    return try grouping.groups(of: table)
                }
                let place: Comment = "seed \(seed), median \(number), entry \(sequence)\n\(sql)"
                for group in groups {
                    let row = grouping.columns.map { group[$0].inSQLite }
                    #expect(row[1] == opinion[row[0]] ?? .null, place)
                    found += opinion[row[0]] == nil ? 0 : 1
                }
            }
        }
        #expect(found > 0)
    }
}

extension Value {
    /// The value as SQLite gives it.
    fileprivate var inSQLite: SQLiteValue {
        switch self {
        case .null: .null
        case .bool(let flag): .integer(flag ? 1 : 0)
        case .int(let number): .integer(number)
        case .double(let number): number.isNaN ? .null : .real(number)
        case .string(let text): SQLiteValue.text(text).bytewise
        case .data(let data): .blob(Array(data))
        case .uuid(let id): .blob(withUnsafeBytes(of: id.uuid) { Array($0) })
        case .date(let date): .real(date.timeIntervalSinceReferenceDate)
        case .object(let object): .integer(Int64(object.number))
        default: .text("no value of SQLite")
        }
    }
}

extension SQLiteValue {
    /// The value with text as bytes: Swift's texts are equal where only Unicode says so.
    fileprivate var bytewise: SQLiteValue {
        if case .text(let text) = self { .blob(Array("text \(text)".utf8)) } else { self }
    }
}

/// Random groupings of the kinds that SQL can say.
private struct RandomGroupings {
    struct Question {
        let grouping: Grouping
        let filter: Filter
        let having: Filter?
        let sql: String
        /// The places of the sums of 16 bits, behind the columns.
        let sums: [Int]

        func isTooGreat(_ rows: [[SQLiteValue]]) -> Bool {
            rows.contains { row in
                sums.contains {
                    if case .integer(let sum) = row[$0] {
                        Int16(exactly: sum) == nil
                    } else {
                        false
                    }
                }
            }
        }
    }

    private let people: RandomPeople
    private var filters: SayableFilters
    private var random: SeededGenerator

    init(_ people: RandomPeople, seed: UInt64) {
        self.people = people
        filters = SayableFilters(people, random: SeededGenerator(seed: seed))
        random = SeededGenerator(seed: seed &+ 1)
    }

    mutating func next() throws -> Question {
        var grouping = Grouping(people.employee)
        let filter =
            random.chance(3) ? Filter.constant(true) : filters.filter(people.employee, depth: 2)
        let condition = SQLFilter.text(filter)
        var terms: [String] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let path = key()
            let column = try grouping.column(path)
            guard !grouping.columns.contains(column) else { continue }
            grouping.show(column)
            terms.append(SQLFilter.value(.path(path), "o"))
        }
        grouping.close()
        let keys = terms
        var sums: [String] = []
        for _ in 0..<Int.random(in: keys.isEmpty ? 1...4 : 0...4, using: &random) {
            let (function, path) = measure()
            let value = path.map { SQLFilter.value(.path($0), "o") }
            let column = try grouping.column(function, of: path)
            guard !grouping.columns.contains(column) else { continue }
            grouping.show(column)
            let isWhole = path?.steps.last?.attribute?.type == .int16
            terms.append(Self.sql(function, value, zero: isWhole ? "0" : "0.0"))
            if function == .sum, path?.steps.last?.name == "age" {
                sums.append("sum(\(value ?? ""))")
            }
        }
        let shown = grouping.columns.count
        let count = try grouping.column(.count, of: nil)
        var sql = "SELECT \((terms.isEmpty ? ["1"] : terms).joined(separator: ", "))"
        if !sums.isEmpty { sql += ", " + sums.joined(separator: ", ") }
        sql += " FROM Employee o WHERE \(condition)"
        if !keys.isEmpty { sql += " GROUP BY \(keys.joined(separator: ", "))" }
        var having: Filter?
        if grouping.columns.contains(count), !keys.isEmpty, random.chance(2) {
            let least = Int.random(in: 0...3, using: &random)
            having = try Filter(
                parsing: "count > \(least)", forColumnsOf: grouping, in: people.store.schema)
            if sums.isEmpty { sql += " HAVING count(*) > \(least)" } else { having = nil }
        }
        if random.chance(2) {
            let isAscending = random.chance(2)
            grouping.sort(by: count, isAscending: isAscending)
            let order = ["count(*) \(isAscending ? "ASC" : "DESC")"] + keys
            sql += " ORDER BY \(order.joined(separator: ", "))"
        } else if !keys.isEmpty {
            sql += " ORDER BY \(keys.joined(separator: ", "))"
        }
        return Question(
            grouping: grouping, filter: filter, having: having, sql: sql,
            sums: (0..<sums.count).map { max(1, shown) + $0 })
    }

    /// A median by one key, and the query for it.
    mutating func nextMedian() throws -> (Grouping, Filter, String) {
        let filter = filters.filter(people.employee, depth: 1)
        let (key, value) = (key(), attribute(of: random.chance(2) ? .int16 : .double))
        var grouping = Grouping(people.employee)
        grouping.show(try grouping.column(key))
        grouping.show(try grouping.column(.median, of: value))
        let (keyText, valueText) = (
            SQLFilter.value(.path(key), "o"), SQLFilter.value(.path(value), "o")
        )
        let sql = """
            SELECT k, avg(v) FROM (
                SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) r,
                    count(*) OVER (PARTITION BY k) c
                FROM (SELECT \(keyText) k, \(valueText) v FROM Employee o
                    WHERE \(SQLFilter.text(filter)) AND \(valueText) IS NOT NULL))
            WHERE r IN ((c + 1) / 2, (c + 2) / 2) GROUP BY k
            """
        return (grouping, filter, sql)
    }

    private mutating func key() -> FilterPath {
        if random.chance(5) { return filters.path(["department"], from: people.employee) }
        return attribute(of: nil)
    }

    private mutating func attribute(of type: AttributeType?) -> FilterPath {
        while true {
            let (steps, owner) = filters.way(from: people.employee)
            let attributes: [(String, AttributeType)] =
                owner.number == people.department.number
                ? [("name", .string), ("founded", .date)] : SQLTables.attributes
            let (name, own) = random.pick(attributes)
            if let type, type != own { continue }
            return filters.path(steps + [name], from: people.employee)
        }
    }

    private mutating func measure() -> (AggregateFunction, FilterPath?) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1: (.count, nil)
        case 2: (.count, attribute(of: nil))
        case 3: (.distinct, attribute(of: nil))
        case 4: (.sum, attribute(of: random.chance(2) ? .int16 : .double))
        case 5: (.average, attribute(of: .int16))
        case 6: (.minimum, attribute(of: nil))
        default: (.maximum, attribute(of: nil))
        }
    }

    private static func sql(
        _ function: AggregateFunction, _ value: String?, zero: String
    ) -> String {
        guard let value else { return "count(*)" }
        return switch function {
        case .count: "count(\(value))"
        case .distinct: "count(DISTINCT \(value))"
        // SQLite's sum of nothing is null, and so is what is not a number.
        case .sum: "CASE count(\(value)) WHEN 0 THEN \(zero) ELSE sum(\(value)) END"
        case .average: "avg(\(value))"
        case .minimum: "min(\(value))"
        case .maximum: "max(\(value))"
        case .median: "NULL"
        }
    }
}
