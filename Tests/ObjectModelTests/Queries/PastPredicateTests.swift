import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Questions about the past as text and as a tree.
@Suite struct PastPredicateTests {
    @Test(
        arguments: [
            ("EVER age > 30", "EVER age > 30"),
            ("ever (age > 30 and isActive)", "EVER (age > 30 AND isActive == TRUE)"),
            ("EVER NOT age > 30 OR ALWAYS age < 9", "EVER NOT age > 30 OR ALWAYS age < 9"),
            ("NOT ALWAYS ANY tags.word == 'a'", "NOT ALWAYS ANY tags.word == \"a\""),
            ("WAS department.name == 'R&D' AT 17", "WAS department.name == \"R&D\" AT 17"),
            (
                "WAS isActive AT '2024-05-01' AND age == 1",
                "WAS isActive == TRUE AT \"2024-05-01T00:00:00Z\" AND age == 1"
            ),
            ("WAS age == 1 AT 'audit'", "WAS age == 1 AT \"audit\""),
            ("WAS age == 1 AT 'HEAD'", "WAS age == 1 AT \"head\""),
            ("salary CHANGED", "salary CHANGED"),
            ("NOT salary changed", "NOT salary CHANGED"),
            ("salary NOT CHANGED", "NOT salary CHANGED"),
            ("(salary) CHANGED BY 'ada'", "salary CHANGED BY \"ada\""),
            ("tags CHANGED BY nil", "tags CHANGED BY nil"),
            ("hired INCREASED SINCE 3 UNTIL 'v1'", "hired INCREASED SINCE 3 UNTIL \"v1\""),
            (
                "salary DECREASED SINCE '2024-01-01' UNTIL '2025-01-01' AND age > 30",
                "salary DECREASED SINCE \"2024-01-01T00:00:00Z\" UNTIL \"2025-01-01T00:00:00Z\" AND "
                    + "age > 30"
            ),
            ("department.name CHANGED", "department.name CHANGED"),
            ("#in CHANGED", "#in CHANGED"),
            (
                "ANY department.employees.salary DECREASED",
                "ANY department.employees (salary DECREASED)"
            ),
            (
                "ANY department.employees (EVER age > 3 AND $1.salary CHANGED)",
                "ANY department.employees (EVER age > 3 AND $1.salary CHANGED)"
            ),
            (
                "SUBQUERY(department.employees, $x, $x.salary CHANGED OR EVER $x.age > 3).@count > 1",
                "SUBQUERY(department.employees, $m1, $m1.salary CHANGED OR EVER $m1.age > 3).@count > 1"
            ),
            (
                "TERNARY(EVER age > 3, 1, 0) == 1",
                "TERNARY(EVER age > 3, 1, 0) == 1"
            ),
        ])
    func `what is asked about the past reads back as it was`(text: String, printed: String) throws {
        let company = try Company.peopled()

        let filter = try company.filter(text)

        #expect(filter.text(in: company.schema) == printed)
        #expect(try company.filter(printed) == filter)
        #expect(filter.asksForPast)
        #expect(filter.crossesRelationships)
        #expect(filter.ownProperties == nil)
    }

    @Test(
        arguments: [
            ("EVER", 5, "A property or a constant was expected, not the end."),
            (
                "WAS age > 1", 12,
                "AT and a moment must follow the condition of WAS, as in WAS salary > 5000 AT "
                    + "'2024-05-01', not the end."
            ),
            (
                "WAS age > 1 AT -3", 16,
                "A moment was expected: the number of an entry, a date such as '2024-05-01', a tag or "
                    + "'head', not an integer."
            ),
            (
                "WAS age > 1 AT age", 16,
                "A moment was expected: the number of an entry, a date such as '2024-05-01', a tag or "
                    + "'head', not age."
            ),
            (
                "EVER ALWAYS age > 1", 1,
                "One question about the past cannot stand within another. Join them with AND or OR."
            ),
            (
                "WAS (age > 1 AND salary CHANGED) AT 3", 1,
                "One question about the past cannot stand within another. Join them with AND or OR."
            ),
            (
                "ANY department.employees (EVER salary > $1.salary)", 27,
                "Within EVER, ALWAYS and WAS a condition is about one object and what that leads to. "
                    + "Ask about the object around it outside of them."
            ),
            (
                "firstName INCREASED", 11,
                "INCREASED compares numbers and dates, and 'firstName' is neither. CHANGED asks whether "
                    + "it became another."
            ),
            (
                "department DECREASED", 12,
                "DECREASED compares numbers and dates, and 'department' is neither. CHANGED asks whether "
                    + "it became another."
            ),
            ("5 CHANGED", 1, "CHANGED asks about a property, and the number 5 is none."),
            ("SELF CHANGED", 1, "CHANGED asks about a property, and SELF is none."),
            ("tags.@count CHANGED", 1, "CHANGED asks about a property, and tags.@count is none."),
            ("ANY tags CHANGED", 5, "'tags' changes as a whole: write it without ANY."),
            (
                "tags.word CHANGED", 1,
                "'tags.word' leads to many objects; write ANY, ALL or NONE before the comparison, or "
                    + "'@count' after the path."
            ),
            (
                "salary CHANGED BY 3", 19,
                "The name of an author must follow BY, not the number 3."
            ),
            (
                "salary CHANGED BY age", 19,
                "The name of an author must follow BY, not age."
            ),
            (
                "salary CHANGED UNTIL 3 SINCE 1", 24,
                "AND, OR or the end was expected, not 'SINCE'."
            ),
            (
                "salary CHANGD", 8,
                "An operator such as '==' or BEGINSWITH was expected, not 'CHANGD'; did you mean "
                    + "'CHANGED'?"
            ),
        ])
    func `a mistake is told with its place`(text: String, column: Int, message: String) throws {
        let company = try Company.peopled()

        let error = #expect(throws: QueryError.self) { try company.filter(text) }

        #expect(error == QueryError(message, at: column))
    }

    @Test func `moments and authors may be arguments`() throws {
        let company = try Company.peopled()
        let date = Date(timeIntervalSinceReferenceDate: 5)

        let filter = try company.filter(
            "salary CHANGED BY %@ SINCE %@ UNTIL %@", nil, [.string("ada"), .date(date), .int(7)])

        guard case .past(_, .change(let change)) = filter else {
            Issue.record("\(filter)")
            return
        }
        #expect(change.author == .named("ada"))
        #expect(change.since == .date(date))
        #expect(change.until == .entry(7))
    }

    @Test func `a group has no past`() throws {
        let company = try Company.peopled()
        var grouping = Grouping(company.employee)
        let age = try #require(company.employee.property(named: "age"))
        grouping.show(try grouping.column(FilterPath([age])))
        grouping.close()

        #expect(throws: QueryError("A group is no object, so EVER has no past to ask.", at: 1)) {
            try Filter(parsing: "EVER age > 3", forColumnsOf: grouping, in: company.schema)
        }
        #expect(throws: QueryError("A group is no object, so nothing of it has changed.", at: 5)) {
            try Filter(parsing: "age CHANGED", forColumnsOf: grouping, in: company.schema)
        }
    }

    @Test func `values alone do not tell the past`() throws {
        let company = try Company.peopled()
        let filter = try company.filter("EVER age > 3")

        #expect(throws: QueryError.self) { try filter.matches(columns: []) }
    }

    @Test func `the plan begins with the ordinary part, or with the entries since a moment`() throws
    {
        let company = try Company.peopled()
        func plan(_ text: String) throws -> String {
            try FilterPlan(
                company.filter(text), of: company.employee.family,
                FixedEstimates(company.schema, total: 5_000)
            ).explanation(in: company.schema)
        }

        #expect(
            try plan("salary DECREASED SINCE 3 AND age == 40")
                == "index of 'age', 1 range for age == 40; about 50 of 5000 objects; the past of each "
                + "object is read from its versions")
        #expect(
            try plan("salary DECREASED SINCE 3")
                == "the objects in the entries since then for salary DECREASED SINCE 3, or all objects "
                + "where these are many; about 50 of 5000 objects; the past of each object is read from "
                + "its versions")
        #expect(
            try plan("salary DECREASED OR age == 40")
                == "all objects are read: no index serves the filter; the past of each object is read "
                + "from its versions")
        #expect(
            try plan("department.name CHANGED SINCE 3")
                == "all objects are read: no index serves the filter; the past of each object is read "
                + "from its versions")
    }

    @Test func `the questions about changes are those that a found object answers`() throws {
        let company = try Company.peopled()
        let filter = try company.filter(
            "(salary CHANGED OR age INCREASED) AND NOT hired CHANGED AND department.name CHANGED "
                + "AND EVER age > 3")

        #expect(filter.changesAsked.map(\.property.name) == ["salary", "age"])
    }
}
