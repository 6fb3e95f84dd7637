import DaybookObjectModel
import DaybookTestSupport
import Foundation

/// A filter as a condition of SQL, by the rules that `Filter` states: two values of logic, null equals only
/// null, no other comparison with null holds, text is compared byte by byte.
enum SQLFilter {
    /// The condition on the row `o`.
    static func text(_ filter: Filter, on row: String = "o") -> String {
        switch filter {
        case .constant(let holds): return holds ? "1" : "0"
        case .and(let filters): return joined(filters, "AND", row)
        case .or(let filters): return joined(filters, "OR", row)
        case .not(let filter): return "(NOT \(text(filter, on: row)))"
        case .comparison(let comparison):
            return compared(
                value(comparison.left, row), comparison.operator, value(comparison.right, row))
        case .between(let middle, let least, let greatest):
            let middle = value(middle, row)
            return "(\(compared(value(least, row), .lessOrEqual, middle))"
                + " AND \(compared(middle, .lessOrEqual, value(greatest, row))))"
        case .membership(let member, let values, _):
            let member = value(member, row)
            return "("
                + values.values.map { "\(member) IS \(literal($0))" }.joined(separator: " OR ")
                + ")"
        case .quantified(let quantifier, let path, let filter):
            let member = row + "m"
            let condition = text(filter, on: member)
            let some =
                "EXISTS (SELECT 1 FROM Employee \(member) WHERE \(membership(path, row, member)) AND "
            return switch quantifier {
            case .any: "\(some)\(condition))"
            case .none: "(NOT \(some)\(condition)))"
            case .all: "(NOT \(some)(NOT \(condition))))"
            }
        case .past: return "no_past"
        }
    }

    static func literal(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .bool(let flag): flag ? "1" : "0"
        case .int(let number): "\(number)"
        case .double(let number):
            number.isInfinite ? (number < 0 ? "-9e999" : "9e999") : "\(number)"
        case .string(let text): "CAST(\(bytes(text.utf8)) AS TEXT)"
        case .data(let data): bytes(data)
        case .uuid(let id): bytes(withUnsafeBytes(of: id.uuid) { Array($0) })
        case .date(let date): "\(date.timeIntervalSinceReferenceDate)"
        case .object(let object): "\(object.number)"
        default: "'no literal'"
        }
    }

    private static func bytes(_ bytes: some Sequence<UInt8>) -> String {
        "X'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }

    private static func joined(_ filters: [Filter], _ word: String, _ row: String) -> String {
        "(" + filters.map { text($0, on: row) }.joined(separator: " \(word) ") + ")"
    }

    private static func compared(
        _ left: String, _ operator: FilterOperator, _ right: String
    ) -> String {
        let text = "CAST(\(left) AS BLOB)"
        let part = "CAST(\(right) AS BLOB)"
        return switch `operator` {
        case .equal: "(\(left) IS \(right))"
        case .notEqual: "(\(left) IS NOT \(right))"
        // SQLite's part of a text without bytes is null.
        case .beginsWith:
            "coalesce(length(\(part)) = 0 AND \(left) IS NOT NULL"
                + " OR substr(\(text), 1, length(\(part))) = \(part), 0)"
        case .endsWith:
            "coalesce(length(\(part)) = 0 AND \(left) IS NOT NULL"
                + " OR substr(\(text), -length(\(part))) = \(part), 0)"
        case .contains: "coalesce(instr(\(text), \(part)) > 0, 0)"
        default: "coalesce(\(left) \(`operator`.rawValue) \(right), 0)"
        }
    }

    static func value(_ expression: FilterExpression, _ row: String) -> String {
        switch expression {
        case .constant(let value): literal(value)
        case .path(let path): value(path.steps[...], of: "\(row).id")
        case .aggregate(_, let path):
            "(SELECT count(*) FROM Employee c WHERE \(membership(path, row, "c")))"
        case .subquery(let subquery): value(subquery, row)
        case .conditional(let condition, let first, let second):
            "(CASE WHEN \(text(condition, on: row)) THEN \(value(first, row)) ELSE "
                + "\(value(second, row)) END)"
        case .function(let function, let arguments):
            value(function, arguments.map { value($0, row) })
        case .cast: "'no cast'"
        }
    }

    private static func value(_ subquery: FilterSubquery, _ row: String) -> String {
        let member = row + "s"
        let age = "\(member).age"
        let result =
            switch subquery.aggregate {
            case .count: "count(*)"
            case .sum: "coalesce(sum(\(age)), 0)"
            case .average: "avg(\(age))"
            case .minimum: "min(\(age))"
            case .maximum: "max(\(age))"
            }
        return "(SELECT \(result) FROM Employee \(member) WHERE "
            + "\(membership(subquery.members, row, member)) AND "
            + "\(text(subquery.condition, on: member)))"
    }

    private static func value(_ function: FilterFunction, _ values: [String]) -> String {
        let date = "\(values[0]) + 978307200, 'unixepoch'"
        return switch function {
        case .negate: "(- (\(values[0])))"
        case .absolute: "abs(\(values[0]))"
        case .modulus: "(\(values[0]) % \(values[1]))"
        case .year: "CAST(strftime('%Y', \(date)) AS INTEGER)"
        case .month: "CAST(strftime('%m', \(date)) AS INTEGER)"
        case .day: "CAST(strftime('%d', \(date)) AS INTEGER)"
        case .hour: "CAST(strftime('%H', \(date)) AS INTEGER)"
        case .minute: "CAST(strftime('%M', \(date)) AS INTEGER)"
        case .second: "CAST(strftime('%S', \(date)) AS INTEGER)"
        case .weekday: "(CAST(strftime('%w', \(date)) AS INTEGER) + 1)"
        default: "(\(values[0]) \(function.rawValue) \(values[1]))"
        }
    }

    /// The value at the end of to-one steps from an object.
    private static func value(_ steps: ArraySlice<SchemaProperty>, of key: String) -> String {
        guard let step = steps.first else { return key }
        let table = ["name", "founded"].contains(step.name) ? "Department" : "Employee"
        let next =
            step.name == "pupil"
            ? "(SELECT id FROM Employee WHERE mentor = \(key))"
            : "(SELECT \(step.name) FROM \(table) WHERE id = \(key))"
        return value(steps.dropFirst(), of: next)
    }

    /// The condition for a member: a path that ends with the employees of a department.
    private static func membership(_ path: FilterPath, _ row: String, _ member: String) -> String {
        "\(member).department = \(value(path.steps.dropLast(), of: "\(row).id"))"
    }
}

/// Random filters of the kinds that SQL can say.
struct SayableFilters {
    private let employee: SchemaEntity
    private let department: SchemaEntity
    private var random: SeededGenerator

    init(_ people: RandomPeople, random: SeededGenerator) {
        employee = people.employee
        department = people.department
        self.random = random
    }

    mutating func next() -> (SchemaEntity, Filter) {
        let entity = random.chance(4) ? department : employee
        return (entity, filter(entity, depth: 3))
    }

    mutating func filter(_ entity: SchemaEntity, depth: Int) -> Filter {
        guard depth > 0 else { return condition(entity) }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return .and(filters(entity, depth: depth - 1))
        case 1: return .or(filters(entity, depth: depth - 1))
        case 2: return .not(filter(entity, depth: depth - 1))
        case 3:
            let quantifier = random.pick(FilterQuantifier.allCases)
            return .quantified(quantifier, staff(of: entity), filter(employee, depth: depth - 1))
        case 4:
            let count = FilterExpression.aggregate(.count, staff(of: entity))
            let number = Int64.random(in: 0...12, using: &random)
            return .comparison(FilterComparison(count, comparing(), .constant(.int(number))))
        case 5 where random.chance(6): return .constant(random.chance(2))
        case 8, 9: return computed(entity, depth: depth - 1)
        default: return condition(entity)
        }
    }

    /// A comparison of numbers that are worked out.
    private mutating func computed(_ entity: SchemaEntity, depth: Int) -> Filter {
        let left: FilterExpression
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let aggregate = random.pick(FilterAggregate.allCases)
            left = .subquery(
                FilterSubquery(
                    staff(of: entity), where: filter(employee, depth: depth), aggregate,
                    of: aggregate == .count ? FilterPath() : path(["age"], from: employee)))
        case 1:
            let (steps, owner) = way(from: entity)
            let name = owner.number == department.number ? "founded" : "hired"
            let parts: [FilterFunction] = [.year, .month, .day, .hour, .minute, .second, .weekday]
            let part = random.pick(parts)
            let number = random.pick([Int64(1), 2, 12, 23, 59, 1_969, 2_001])
            return .comparison(
                FilterComparison(
                    .function(part, [.path(path(steps + [name], from: entity))]), comparing(),
                    .constant(.int(number))))
        default: left = number(entity, depth: depth)
        }
        return .comparison(FilterComparison(left, comparing(), number(entity, depth: depth)))
    }

    private mutating func number(_ entity: SchemaEntity, depth: Int) -> FilterExpression {
        guard depth > 0 else {
            let type = random.pick([AttributeType.int16, .double])
            guard entity.number == employee.number, !random.chance(3) else {
                return .constant(value(type))
            }
            return .path(path([type == .int16 ? "age" : "rating"], from: entity))
        }
        let first = number(entity, depth: depth - 1)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .function(random.pick([.negate, .absolute]), [first])
        case 1:
            return .conditional(
                filter(entity, depth: depth - 1), first, number(entity, depth: depth - 1))
        case 2:
            // SQLite would make whole numbers of others.
            guard entity.number == employee.number else { return first }
            let age = FilterExpression.path(path(["age"], from: entity))
            return .function(.modulus, [age, .constant(value(.int16))])
        default:
            let function = random.pick([FilterFunction.add, .subtract, .multiply, .divide])
            return .function(function, [first, number(entity, depth: depth - 1)])
        }
    }

    private mutating func filters(_ entity: SchemaEntity, depth: Int) -> [Filter] {
        (0..<Int.random(in: 2...3, using: &random)).map { _ in filter(entity, depth: depth) }
    }

    private mutating func condition(_ entity: SchemaEntity) -> Filter {
        let (steps, owner) = way(from: entity)
        let attributes: [(String, AttributeType)] =
            owner.number == department.number
            ? [("name", .string), ("founded", .date)] : SQLTables.attributes
        let (name, type) = random.pick(attributes)
        let left = FilterExpression.path(path(steps + [name], from: entity))
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let values = (0..<Int.random(in: 1...4, using: &random)).map { _ in value(type) }
            return .membership(left, FilterValues(values), [])
        case 1: return .between(left, .constant(value(type)), .constant(value(type)))
        case 2 where owner.number == employee.number:
            let names = SQLTables.attributes.filter { $0.1 == type }.map(\.0)
            let other = FilterExpression.path(path(steps + [random.pick(names)], from: entity))
            return .comparison(FilterComparison(left, comparing(), other))
        case 3 where type == .string:
            let `operator` = random.pick([FilterOperator.beginsWith, .endsWith, .contains])
            return .comparison(FilterComparison(left, `operator`, .constant(value(.string))))
        case 4:
            let `operator` = random.pick([FilterOperator.equal, .notEqual])
            return .comparison(FilterComparison(left, `operator`, .constant(.null)))
        default:
            let constant = FilterExpression.constant(value(type))
            return .comparison(
                random.chance(4)
                    ? FilterComparison(constant, comparing(), left)
                    : FilterComparison(left, comparing(), constant))
        }
    }

    private mutating func comparing() -> FilterOperator {
        random.pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    }

    private mutating func value(_ type: AttributeType) -> Value {
        if type == .string, random.chance(4) { return .string("D\(random.next() % 6)") }
        return random.chance(8) ? .null : .few(type, &random)
    }

    /// Some steps along to-one relationships, mostly none, and where they lead.
    mutating func way(from entity: SchemaEntity) -> ([String], SchemaEntity) {
        guard entity.number == employee.number else { return ([], department) }
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: return (["department"], department)
        case 2: return (["mentor"], employee)
        case 3: return (["mentor", "department"], department)
        case 4: return (["pupil"], employee)
        default: return ([], employee)
        }
    }

    /// The way to all employees of a department.
    private func staff(of entity: SchemaEntity) -> FilterPath {
        path(
            entity.number == employee.number ? ["department", "employees"] : ["employees"],
            from: entity)
    }

    func path(_ names: [String], from entity: SchemaEntity) -> FilterPath {
        var entity = entity
        return FilterPath(
            names.compactMap { name in
                let property = entity.property(named: name)
                entity = name == "department" ? department : employee
                return property
            })
    }
}
