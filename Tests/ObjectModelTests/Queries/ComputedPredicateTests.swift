import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Predicates about values that are worked out.
@Suite struct ComputedPredicateTests {
    @Test(
        arguments: [
            // Ada 36, Alan 41, Grace 85; Léa and Nobody have no age.
            ("age + 5 == 41", ["Ada"]),
            ("age -36 == 0", ["Ada"]),
            ("age - 36 == 0", ["Ada"]),
            ("-age == -41", ["Alan"]),
            ("- 41 == -age", ["Alan"]),
            ("age * 2 > 100", ["Grace"]),
            ("age / 10 == 3", ["Ada"]),
            ("age / 10.0 == 4.1", ["Alan"]),
            ("modulus:by:(age, 10) == 1", ["Alan"]),
            ("FUNCTION(age, 'modulus:by:', 10) == 5", ["Grace"]),
            ("age ** 2 == 1296", ["Ada"]),
            ("2 ** 3 ** 2 == 512 AND age == 36", ["Ada"]),
            ("-2 ** 2 == 4 AND age == 36", ["Ada"]),
            ("1 + 2 * 3 == 7 AND age == 36", ["Ada"]),
            ("(1 + 2) * 3 == 9 AND (age == 36)", ["Ada"]),
            ("((age) + 1) * 2 == (37 * 2)", ["Ada"]),
            ("abs(age - 41) == 5", ["Ada"]),
            ("abs:(age - 41) == 5", ["Ada"]),
            ("age BETWEEN {40 - 4, 40 + 1}", ["Ada", "Alan"]),
            ("age + 1 IN {37, 86}", ["Ada", "Grace"]),
            ("age + 1 NOT IN {37, 86}", ["Alan", "Léa", "Nobody"]),
            // Ada's salary is 100, Alan's 90, Grace's 120, in decimals.
            ("salary * 1.1 == 110", ["Ada"]),
            ("salary * 1.1 > 110.1", ["Grace"]),
            ("salary / age > 2.5", ["Ada"]),
            ("trunc(salary / age) == 2", ["Ada", "Alan"]),
            ("sqrt(salary) == 10", ["Ada"]),
            ("ceiling(rating) == 5 AND floor(rating) == 4", ["Ada"]),
            // Nothing is worked out of nothing.
            ("age + 1 == nil", ["Léa", "Nobody"]),
            ("age / 0 == nil", ["Ada", "Alan", "Grace", "Léa", "Nobody"]),
            ("age + 1 != 37", ["Alan", "Grace", "Léa", "Nobody"]),
            ("length(firstName) == 3", ["Ada", "Léa"]),
            ("FUNCTION(firstName, 'length') == 4", ["Alan"]),
            ("uppercase:(lastName) == 'LOVELACE'", ["Ada"]),
            ("canonical(firstName) == 'lea'", ["Léa"]),
            ("lowercase(firstName) BEGINSWITH 'a'", ["Ada", "Alan"]),
            ("TERNARY(isActive == TRUE, age, 0) == 0", ["Alan", "Grace", "Léa", "Nobody"]),
            ("TERNARY(age > 40, 'old', firstName) == 'old'", ["Alan", "Grace"]),
            ("CAST(age, 'string') == '41'", ["Alan"]),
            ("CAST('36', 'int64') == age", ["Ada"]),
            ("CAST(salary, 'double') == 90.0", ["Alan"]),
            ("CAST(firstName, 'int64') == nil AND age != nil", ["Ada", "Alan", "Grace"]),
            ("department.employees[SIZE] == 2", ["Ada", "Alan"]),
        ] as [(String, [String])])
    func `F57 a predicate works out values`(text: String, names: [String]) throws {
        let company = try Company.peopled()

        #expect(try company.found(text) == names)
    }

    @Test(
        arguments: [
            (
                "SUBQUERY(department.employees, $x, $x.age > 40).@count == 1",
                ["Ada", "Alan", "Grace"]
            ),
            (
                "SUBQUERY(department.employees, $x, $x.age > 40).@count > 0",
                ["Ada", "Alan", "Grace"]
            ),
            ("SUBQUERY(department.employees, $x, $x.age > age).@count == 1", ["Ada"]),
            (
                "SUBQUERY(department.employees, $x, $x.age > age).@count == 0",
                ["Alan", "Grace", "Léa", "Nobody"]
            ),
            ("SUBQUERY(department.employees, $x, $x != SELF).@count == 1", ["Ada", "Alan"]),
            (
                "SUBQUERY(department.employees, $x, $x.age > 30).@sum.salary == 190",
                ["Ada", "Alan"]
            ),
            ("SUBQUERY(department.employees, $x, $x.age > 40).@max.age == 41", ["Ada", "Alan"]),
            (
                "SUBQUERY(department.employees, $x, "
                    + "SUBQUERY($x.department.employees, $y, $y.age > $x.age AND $y != SELF).@count == 1)"
                    + ".@count == 1", ["Ada"]
            ),
        ] as [(String, [String])])
    func `F57 a subquery is about its members, and bare names about the object outside`(
        text: String, names: [String]
    ) throws {
        let company = try Company.peopled()
        let read = try company.filter(text).text(in: company.schema)

        #expect(try company.found(text) == names, "\(read)")
    }

    @Test func `a subquery that asks whether there are members stops at the first`() throws {
        let company = try Company()
        let some = try company.filter("ANY department.employees (age > 40)")
        let none = try company.filter("NONE department.employees (age > 40)")
        let subquery = "SUBQUERY(department.employees, $x, $x.age > 40).@count"

        for rest in ["> 0", ">= 1", "!= 0"] {
            #expect(try company.filter("\(subquery) \(rest)") == some)
        }
        for rest in ["== 0", "< 1", "<= 0"] {
            #expect(try company.filter("\(subquery) \(rest)") == none)
        }
    }

    @Test func `what is worked out of constants is a constant, for which an index can be used`()
        throws
    {
        let company = try Company()

        #expect(try company.filter("age > 2 * 10 + 1") == company.filter("age > 21"))
        #expect(
            try company.filter("salary == 1.1 * 3")
                == company.filter("salary == 3.3000000000000003"))
        #expect(
            try company.filter("year('2024-05-06T00:00:00Z') == age")
                == company.filter("2024 == age"))
        #expect(try company.filter("age == 20 + 1").servingIndexes.map(\.name) == ["age"])
    }

    @Test func `dates are moved by seconds and taken apart in UTC`() throws {
        var company = try Company.peopled()
        let moment = try #require(DateText.date("2024-02-29T23:59:58.5Z"))
        company.values[company.employees[0]]?["hired"] = .date(moment)
        for text in [
            "year(hired) == 2024", "month(hired) == 2", "day(hired) == 29", "hour(hired) == 23",
            "minute(hired) == 59", "second(hired) == 58", "weekday(hired) == 5",
            "hired + 86400 == '2024-03-01T23:59:58.5Z'", "hired - 0.5 == '2024-02-29T23:59:58Z'",
            "hired - '2024-02-29T23:59:57.5Z' == 1", "hired < now()", "now() - hired > 86400",
            "CAST(hired, 'double') - CAST(hired, 'NSNumber') == 0",
            "CAST(CAST(hired, 'double'), 'NSDate') == hired",
        ] {
            #expect(try company.found("hired != nil AND " + text) == ["Ada"], "\(text)")
        }
    }

    @Test(
        arguments: [
            ("1969-12-31T23:59:59.5Z", [1969, 12, 31, 23, 59, 59, 4]),
            ("1970-01-01", [1970, 1, 1, 0, 0, 0, 5]),
            ("1600-02-29", [1600, 2, 29, 0, 0, 0, 3]),
            ("0000-01-01", [0, 1, 1, 0, 0, 0, 7]),
            ("9999-12-31T12:34:56Z", [9999, 12, 31, 12, 34, 56, 6]),
        ] as [(String, [Int64])])
    func `a date has the parts that the Gregorian calendar gives it`(
        text: String, parts: [Int64]
    ) throws {
        let date = Value.date(try #require(DateText.date(text)))
        let functions: [FilterFunction] = [.year, .month, .day, .hour, .minute, .second, .weekday]
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt

        #expect(functions.map { $0.value(of: [date]) } == parts.map { .int($0) })
        guard case .date(let moment) = date, parts[0] > 1582 else { return }
        #expect(Int64(calendar.component(.weekday, from: moment)) == parts[6])
    }

    @Test func `a number that is too long goes on in a wider type`() {
        func value(_ function: FilterFunction, _ arguments: Value...) -> Value {
            function.value(of: arguments)
        }
        let decimal = Decimal(string: "9223372036854775808") ?? 0
        let longest = Decimal(string: "99999999999999999999999999999999999999") ?? 0

        #expect(value(.add, .int(.max), .int(1)) == .decimal(decimal))
        #expect(value(.negate, .int(.min)) == .decimal(decimal))
        #expect(value(.absolute, .int(.min)) == .decimal(decimal))
        #expect(value(.divide, .int(.min), .int(-1)) == .decimal(decimal))
        #expect(value(.modulus, .int(.min), .int(-1)) == .int(0))
        #expect(value(.multiply, .int(.max), .int(.max)) == .decimal((decimal - 1) * (decimal - 1)))
        #expect(value(.power, .int(2), .int(62)) == .int(1 << 62))
        #expect(value(.power, .int(2), .int(63)) == .decimal(decimal))
        #expect(value(.power, .int(-1), .int(.max)) == .int(-1))
        #expect(value(.power, .int(2), .int(-1)) == .double(0.5))
        #expect(value(.power, .int(10), .int(300)) == .double(1e300))
        #expect(value(.power, .int(10), .int(.max)) == .double(.infinity))
        #expect(value(.multiply, .decimal(longest), .decimal(longest)) != .null)
        #expect(
            value(.modulus, .decimal(Decimal(string: "7.5") ?? 0), .int(2))
                == .decimal(Decimal(string: "1.5") ?? 0))
        #expect(value(.modulus, .int(-7), .int(2)) == .int(-1))
        #expect(value(.subtract, .double(.infinity), .double(.infinity)) == .null)
        #expect(value(.squareRoot, .int(-1)) == .null)
        #expect(value(.naturalLogarithm, .int(0)) == .null)
        #expect(value(.add, .string("1"), .int(1)) == .null)
        #expect(value(.add, .date(.distantFuture), .double(.infinity)) == .null)
    }
}
