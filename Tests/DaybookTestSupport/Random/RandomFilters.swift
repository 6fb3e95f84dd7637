package import DaybookObjectModel
internal import Foundation

extension SeededGenerator {
    /// One of the elements.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &self)]
    }

    /// True once in so many times.
    package mutating func chance(_ part: Int) -> Bool {
        Int.random(in: 0..<part, using: &self) == 0
    }
}

/// Filters over employees as the parser could have made them.
package struct RandomFilters {
    private let company: Company
    private var random: SeededGenerator

    /// Starts at a seed.
    package init(company: Company, random: SeededGenerator) {
        self.company = company
        self.random = random
    }

    /// A filter with so many levels of conditions in it.
    package mutating func filter(depth: Int) -> Filter {
        switch depth == 0 ? 3 : Int.random(in: 0..<8, using: &random) {
        case 0:
            return .and(
                (0..<Int.random(in: 2...3, using: &random)).map { _ in filter(depth: depth - 1) })
        case 1:
            return .or(
                (0..<Int.random(in: 2...3, using: &random)).map { _ in filter(depth: depth - 1) })
        case 2: return .not(filter(depth: depth - 1))
        case 4: return quantified(depth: depth - 1)
        case 5 where random.chance(6): return .constant(random.chance(2))
        case 6: return computed(depth: depth - 1)
        default: return condition(company.employee)
        }
    }

    // MARK: - Values that are worked out

    private mutating func computed(depth: Int) -> Filter {
        let `operator` = random.pick([FilterOperator.equal, .less, .greaterOrEqual])
        // Subqueries in subqueries would take a long time, and few of them say as much.
        switch Int.random(in: 0..<(depth > 0 ? 5 : 8), using: &random) {
        case 0:
            let text = FilterExpression.path(FilterPath([attribute("lastName")]))
            return .comparison(
                FilterComparison(
                    .function(.length, [text]), `operator`,
                    .constant(.int(Int64.random(in: 0...9, using: &random)))))
        case 1:
            let date = FilterExpression.path(FilterPath([attribute("hired")]))
            let part = random.pick([FilterFunction.year, .month, .day, .hour, .weekday])
            return .comparison(
                FilterComparison(.function(part, [date]), `operator`, .constant(.int(2_001))))
        case 2:
            let subquery = FilterSubquery(staff, where: filter(depth: 0), .count)
            let number = Int64.random(in: 2...4, using: &random)
            return .comparison(
                FilterComparison(.subquery(subquery), `operator`, .constant(.int(number))))
        case 3:
            let subquery = FilterSubquery(
                staff, where: filter(depth: 0), random.pick([.sum, .maximum]),
                of: FilterPath([attribute("salary")]))
            return .comparison(
                FilterComparison(.subquery(subquery), `operator`, .constant(.decimal(190))))
        default:
            let type = random.pick([AttributeType.int16, .double, .decimal])
            return .comparison(
                FilterComparison(
                    number(type, depth: depth), `operator`, .constant(number(type))))
        }
    }

    private mutating func number(_ type: AttributeType, depth: Int) -> FilterExpression {
        let names = [AttributeType.int16: "age", .double: "rating", .decimal: "salary"]
        let value = FilterExpression.path(FilterPath([attribute(names[type] ?? "age")]))
        guard depth > 0 else { return value }
        let constant = FilterExpression.constant(number(type))
        let other = number(type, depth: depth - 1)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .function(random.pick([.negate, .absolute]), [other])
        case 1: return .conditional(filter(depth: 0), other, constant)
        case 2: return .function(random.pick([.add, .multiply]), [constant, other])
        default:
            let functions = [FilterFunction.add, .subtract, .multiply, .divide, .modulus, .power]
            return .function(random.pick(functions), [other, constant])
        }
    }

    private mutating func number(_ type: AttributeType) -> Value {
        let number = Int.random(in: -4...9, using: &random)
        return switch type {
        case .decimal: .decimal(Decimal(number) / 4)
        case .double: .double(Double(number) / 4)
        default: .int(Int64(number))
        }
    }

    private func attribute(_ name: String) -> SchemaProperty {
        guard let property = company.employee.property(named: name) else {
            fatalError("The company has no '\(name)'.")
        }
        return property
    }

    /// The way to all employees of a department.
    private var staff: FilterPath {
        let employees = company.department.property(named: "employees")
        let department = company.employee.property(named: "department")
        return FilterPath([department, employees].compactMap { $0 })
    }

    private mutating func quantified(depth: Int) -> Filter {
        .quantified(random.pick(FilterQuantifier.allCases), staff, filter(depth: depth))
    }

    private mutating func condition(_ entity: SchemaEntity) -> Filter {
        let (steps, owner) = way(from: entity)
        let attributes = entity.properties.filter { $0.attribute != nil }
        let property = random.pick(owner.properties.filter { $0.attribute != nil })
        let left = FilterExpression.path(FilterPath(steps + [property]))
        let options = TextOptions(rawValue: UInt8.random(in: 0...3, using: &random))
        guard let type = property.attribute?.type else { return .constant(true) }
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return .membership(left, FilterValues([value(type), value(type)]), options)
        case 1: return .between(left, .constant(value(type)), .constant(value(type)))
        case 2:
            let other = FilterExpression.path(FilterPath([random.pick(attributes)]))
            return .comparison(FilterComparison(left, .lessOrEqual, other, options))
        case 3 where type == .string:
            let `operator` = random.pick([FilterOperator.beginsWith, .endsWith, .contains, .like])
            return .comparison(
                FilterComparison(left, `operator`, .constant(value(.string)), options))
        default:
            let `operator` = random.pick([
                FilterOperator.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
            ])
            return .comparison(FilterComparison(left, `operator`, .constant(value(type)), options))
        }
    }

    /// Some steps along to-one relationships, mostly none, and where they lead.
    private mutating func way(from entity: SchemaEntity) -> ([SchemaProperty], SchemaEntity) {
        let mentor = entity.property(named: "mentor")
        let department = entity.property(named: "department")
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return ([department].compactMap { $0 }, company.department)
        case 1: return ([mentor].compactMap { $0 }, entity)
        case 2: return ([mentor, department].compactMap { $0 }, company.department)
        case 3: return ([entity.property(named: "pupil")].compactMap { $0 }, entity)
        default: return ([], entity)
        }
    }

    private mutating func value(_ type: AttributeType) -> Value {
        random.chance(8) ? .null : Value.random(type, using: &random)
    }
}

extension Value {
    /// A value of the type, of any size, including awkward ones, in its stored form.
    package static func random(_ type: AttributeType, using random: inout SeededGenerator) -> Value
    {
        switch type {
        case .bool: return .bool(random.chance(2))
        case .int16: return .int(Int64(Int16.random(in: .min ... .max, using: &random)))
        case .int32: return .int(Int64(Int32.random(in: .min ... .max, using: &random)))
        case .int64:
            return .int(
                random.pick([.min, .max, 0, -1, Int64(truncatingIfNeeded: random.next())]))
        case .float:
            return Value.double(Double(Float(Double.random(in: -9...9, using: &random)))).normalized
        case .double:
            let anything = Double(bitPattern: random.next())
            return Value.double(
                random.pick([
                    0, -0.0, .nan, .infinity, -.infinity, 0.1, 1e300, .leastNonzeroMagnitude,
                    anything,
                    Double(Int.random(in: -1000...1000, using: &random)) / 8,
                ])
            ).normalized
        case .decimal:
            let digits = Int64.random(in: -99_999_999...99_999_999, using: &random)
            let exponent = Int.random(in: -20...20, using: &random)
            return .decimal(
                random.pick([
                    0, Decimal(digits),
                    Decimal(
                        sign: digits < 0 ? .minus : .plus, exponent: exponent,
                        significand: Decimal(abs(digits))),
                    Decimal(string: "99999999999999999999999999999999999999") ?? 0,
                ]))
        case .string:
            let pieces = [
                "", "a", "b", "ä", "a\u{308}", "\"", "'", "\\", "\n", "\u{0}", "\u{1F600}", "ß",
                "Z",
                "%@", "é", "\u{7f}",
            ]
            return .string(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(pieces) }
                    .joined())
        case .url: return .string("https://example.com/\(random.next() % 100)?a=%20")
        case .data:
            let count = Int.random(in: 0...5, using: &random)
            return .data(Data((0..<count).map { _ in random.pick([0, 1, 0xfe, 0xff]) }))
        case .codable: return .data(Data("{\"a\":\(random.next() % 100)}".utf8))
        case .date:
            let seconds = random.pick([
                0, -0.5, 1e-9, Double.random(in: -1e11...1e11, using: &random),
                Double.random(in: -1e9...1e9, using: &random),
                Double.random(in: -1...1, using: &random),
                Double(Int.random(in: -1_000_000_000...1_000_000_000, using: &random)),
            ])
            return Value.date(Date(timeIntervalSinceReferenceDate: seconds)).normalized
        case .uuid:
            let high = random.next()
            let low = random.next()
            func byte(_ word: UInt64, _ index: UInt64) -> UInt8 {
                UInt8(truncatingIfNeeded: word >> (8 * index))
            }
            return .uuid(
                UUID(
                    uuid: (
                        byte(high, 7), byte(high, 6), byte(high, 5), byte(high, 4), byte(high, 3),
                        byte(high, 2), byte(high, 1), byte(high, 0), byte(low, 7), byte(low, 6),
                        byte(low, 5), byte(low, 4), byte(low, 3), byte(low, 2), byte(low, 1),
                        byte(low, 0)
                    )))
        }
    }
}
