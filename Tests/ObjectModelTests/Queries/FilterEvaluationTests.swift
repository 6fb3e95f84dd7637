import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct FilterEvaluationTests {
    @Test(
        arguments: [
            ("TRUEPREDICATE", ["Ada", "Alan", "Grace", "Léa", "Nobody"]),
            ("FALSEPREDICATE", []),
            ("firstName == 'Ada'", ["Ada"]),
            ("'Ada' = firstName", ["Ada"]),
            ("firstName != 'Ada'", ["Alan", "Grace", "Léa", "Nobody"]),
            ("salary > 90", ["Ada", "Grace"]),
            ("salary >= 90.00 AND salary <> 120", ["Ada", "Alan"]),
            ("age < 41", ["Ada"]),
            ("age < 36.5", ["Ada"]),
            ("rating == 3", ["Alan"]),
            ("rating BETWEEN {3, 4.5}", ["Ada", "Alan"]),
            ("isActive", ["Ada"]),
            ("isActive == NO", ["Alan"]),
            ("firstName IN {'Ada', 'Grace'}", ["Ada", "Grace"]),
            ("firstName NOT IN ('Ada', 'Grace')", ["Alan", "Léa", "Nobody"]),
            ("SELF IN {\"Employee/11\", 'Manager/13'}", ["Ada", "Grace"]),
            ("SELF == 'Employee/11' || SELF.age == 41", ["Ada", "Alan"]),
            ("department == 'Department/1'", ["Ada", "Alan"]),
            ("department.name == \"R&D\" && !(firstName == 'Ada')", ["Alan"]),
            ("department.name == firstName", ["Nobody"]),
            ("mentor.firstName == 'Ada'", ["Alan"]),
            ("pupil.firstName == 'Alan'", ["Ada"]),
        ] as [(String, [String])])
    func `F57 a predicate finds the objects it describes`(text: String, names: [String]) throws {
        let company = try Company.peopled()

        #expect(try company.found(text) == names)
    }

    @Test(
        arguments: [
            ("salary == nil", ["Léa", "Nobody"]),
            ("salary != NULL", ["Ada", "Alan", "Grace"]),
            ("salary < 1000", ["Ada", "Alan", "Grace"]),
            ("salary >= nil", []),
            ("NOT salary < 1000", ["Léa", "Nobody"]),
            ("department.name == nil", ["Léa", "Nobody"]),
            ("lastName BEGINSWITH nil", []),
            ("age == salary", ["Léa", "Nobody"]),
            ("firstName < age", []),
            ("firstName != age", ["Ada", "Alan", "Grace", "Léa"]),
        ] as [(String, [String])])
    func `null equals only null and different types are never an error`(
        text: String, names: [String]
    ) throws {
        let company = try Company.peopled()

        #expect(try company.found(text) == names)
    }

    @Test(
        arguments: [
            ("e\u{301}a", "e*", true), ("e\u{301}", "?", false), ("e\u{301}", "??", true),
            ("\u{E9}", "?", true), ("\u{E9}", "e\u{301}", false), ("a\r\nb", "a??b", true),
            ("xe\u{301}", "*\u{301}", true), ("x", "*\u{301}", false),
        ] as [(String, String, Bool)])
    func `LIKE compares scalars, whatever letters they make up`(
        text: String, pattern: String, fits: Bool
    ) throws {
        let prepared = try #require(TextPattern(pattern, for: .like, []))

        #expect(try prepared.matches(text) == fits)
    }

    @Test(
        arguments: [
            ("lastName BEGINSWITH 'L'", ["Ada"]),
            ("lastName BEGINSWITH[c] 'l'", ["Ada"]),
            ("lastName ENDSWITH 'ing'", ["Alan"]),
            ("lastName CONTAINS 'ove'", ["Ada"]),
            ("firstName CONTAINS ''", ["Ada", "Alan", "Grace", "Léa"]),
            ("firstName ==[d] 'Lea'", ["Léa"]),
            ("firstName ==[c] 'LÉA'", ["Léa"]),
            ("firstName CONTAINS[cd] 'EA'", ["Léa"]),
            ("lastName ==[c] 'STRASSE'", ["Léa"]),
            ("firstName IN[cd] {'lea', 'GRACE'}", ["Grace", "Léa"]),
            ("firstName LIKE 'A*'", ["Ada", "Alan"]),
            ("firstName LIKE 'A?a'", ["Ada"]),
            ("firstName LIKE '*a*'", ["Ada", "Alan", "Grace", "Léa"]),
            ("firstName LIKE '\\\\*a'", []),
            ("firstName LIKE[c] 'a??n'", ["Alan"]),
            ("firstName MATCHES 'A.*'", ["Ada", "Alan"]),
            ("firstName MATCHES 'A'", []),
            ("firstName MATCHES 'Ada|Gr'", ["Ada"]),
            ("firstName MATCHES[c] '[a-d]+'", ["Ada"]),
            ("lastName CONTAINS firstName", []),
        ] as [(String, [String])])
    func `F57 text is compared as the options say`(text: String, names: [String]) throws {
        let company = try Company.peopled()

        #expect(try company.found(text) == names)
    }

    @Test(
        arguments: [
            ("ANY employees.firstName == 'Ada'", ["R&D"]),
            ("SOME employees.age > 50", ["Sales"]),
            ("ALL employees.age < 50", ["R&D", "Empty"]),
            ("NONE employees.age < 50", ["Sales", "Empty"]),
            ("ANY employees == 'Employee/12'", ["R&D"]),
            ("employees CONTAINS 'Employee/12'", ["R&D"]),
            ("'Grace' IN employees.firstName", ["Sales"]),
            ("employees.@count == 2", ["R&D"]),
            ("employees.@count == 0", ["Empty"]),
            ("employees.@sum.salary == 190", ["R&D"]),
            ("employees.@sum.salary == 0", ["Empty"]),
            ("employees.@avg.salary == 95", ["R&D"]),
            ("employees.@avg.age == 38.5", ["R&D"]),
            ("employees.@min.age == 36", ["R&D"]),
            ("employees.@max.age > 41", ["Sales"]),
            ("employees.@max.age == nil", ["Empty"]),
            ("ANY employees (age > 40 AND isActive == FALSE)", ["R&D"]),
            ("ANY employees (firstName == 'Ada' AND age > 40)", []),
            ("ANY employees.department.name == name", ["R&D", "Sales"]),
            ("ANY employees (department.name == $1.name AND age > 50)", ["Sales"]),
        ] as [(String, [String])])
    func `F57 quantifiers and collection operators look at all members`(
        text: String, names: [String]
    ) throws {
        let company = try Company.peopled()

        #expect(try company.foundDepartments(text) == names)
    }

    @Test func `arguments stand for constants and key paths`() throws {
        let company = try Company.peopled()

        let found = try company.found(
            "%K == %@ AND age > %@", [.string("department.name"), .string("R&D"), .int(36)])

        #expect(found == ["Alan"])
    }

    @Test func `an argument may be a list`() throws {
        let company = try Company.peopled()
        let filter = try Filter(
            parsing: "age IN %@", for: company.employee, in: company.schema,
            predicateArguments: [.list([.int(36), .int(85)])])

        let found = try company.employees.filter { try filter.matches($0, in: company) }

        #expect(found.map(\.number) == [11, 13])
    }

    @Test func `F58 objects are sorted with nulls first and cut by offset and limit`() throws {
        let company = try Company.peopled()
        let salary = try #require(company.employee.property(named: "salary"))
        let ascending = Query(company.employee, sortings: [Sorting(FilterPath([salary]))])
        let cut = Query(
            company.employee, sortings: [Sorting(FilterPath([salary]), isAscending: false)],
            limit: 2, offset: 1)

        #expect(
            try ascending.arranged(company.employees, in: company).map(\.number)
                == [14, 15, 12, 11, 13])
        #expect(try cut.arranged(company.employees, in: company).map(\.number) == [11, 12])
    }

    @Test func `an offset past the end and a limit of zero give nothing`() throws {
        let company = try Company.peopled()

        let past = Query(company.employee, offset: 99)
        let none = Query(company.employee, limit: 0)

        #expect(try past.arranged(company.employees, in: company) == [])
        #expect(try none.arranged(company.employees, in: company) == [])
    }

    @Test func `sub-entities are found unless they are not wanted`() throws {
        let company = try Company.peopled()
        let grace = try #require(company.employees.first { $0.number == 13 })

        #expect(try Query(company.employee).matches(grace, in: company))
        #expect(
            try !Query(company.employee, includesSubentities: false).matches(grace, in: company))
    }

    @Test func `not a number is equal to itself and less than nothing`() {
        #expect(FilterOperator.equal.holds(.double(.nan), .double(.nan)))
        #expect(!FilterOperator.less.holds(.double(.nan), .double(1)))
        #expect(!FilterOperator.greater.holds(.double(1), .double(.nan)))
        #expect(!FilterOperator.lessOrEqual.holds(.decimal(.nan), .decimal(1)))
    }

    @Test func `numbers of different forms compare by size without loss`() {
        let large = Int64(1) << 53

        #expect(FilterOperator.greater.holds(.int(large + 1), .double(Double(large))))
        #expect(FilterOperator.less.holds(.int(.max), .double(0x1p63)))
        #expect(FilterOperator.equal.holds(.decimal(Decimal(string: "0.1") ?? 0), .double(0.1)))
        #expect(FilterOperator.less.holds(.decimal(1), .double(.infinity)))
        #expect(FilterOperator.greater.holds(.decimal(1), .double(-.infinity)))
        #expect(FilterOperator.less.holds(.decimal(1), .double(1e300)))
        #expect(FilterOperator.less.holds(.decimal(0), .double(1e-300)))
        #expect(FilterValues([.int(3)]).contains(.double(3)))
    }
}
