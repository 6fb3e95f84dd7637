import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

@Suite struct FilterPlanTests {
    private let company: Company

    init() throws {
        company = try Company()
    }

    private func plan(
        _ text: String, total: Int = 5_000, records: [String: Int] = [:], missing: Set<String> = []
    ) throws -> FilterPlan {
        try FilterPlan(
            company.filter(text), of: company.employee.family,
            FixedEstimates(company.schema, total: total, records: records, missing: missing))
    }

    private func query(
        _ text: String, by key: String, ascending isAscending: Bool = true, limit: Int? = 10
    ) throws -> Query {
        let property = try #require(company.employee.property(named: key))
        return Query(
            company.employee, filter: try company.filter(text),
            sortings: [Sorting(FilterPath([property]), isAscending: isAscending)], limit: limit)
    }

    @Test(
        arguments: [
            (
                "age > 3 AND email == 'a@b'",
                "index of 'email', 1 range for email == \"a@b\"; about 1 of 5000 objects"
            ),
            (
                "age > 3 AND lastName == 'a'",
                "index of 'lastName', 1 range for lastName == \"a\"; about 50 of 5000 objects"
            ),
            (
                "age > 3 AND age <= 9 AND firstName == 'a'",
                "index of 'age', 1 range for age > 3 AND age <= 9; about 200 of 5000 objects"
            ),
            ("3 < age", "index of 'age', 1 range for 3 < age; about 200 of 5000 objects"),
            (
                "age BETWEEN {1, 5}",
                "index of 'age', 1 range for age BETWEEN {1, 5}; about 200 of 5000 objects"
            ),
            (
                "age IN {3, 1, 3}",
                "index of 'age', 2 ranges for age IN {3, 1, 3}; about 200 of 5000 objects"
            ),
            (
                "lastName BEGINSWITH 'L'",
                "index of 'lastName', 1 range for lastName BEGINSWITH \"L\"; about 50 of 5000 objects"
            ),
            (
                "age == nil",
                "index of 'age', 1 range for age == nil; about 200 of 5000 objects"
            ),
            (
                "department == 'Department/1' AND age > 1",
                "references through 'department' for department == \"Department/1\"; about 50 of "
                    + "5000 objects"
            ),
            (
                "tags CONTAINS 'Tag/4'",
                "references through 'tags' for ANY tags == \"Tag/4\"; about 50 of 5000 objects"
            ),
            (
                "'a' == department.name AND firstName == 'b'",
                "references through 'department' of the objects for name == \"a\", or all "
                    + "objects where those are many for \"a\" == department.name; about 1 of 5000 "
                    + "objects"
            ),
            (
                "ANY tags.word == 'a'",
                "references through 'tags' of the objects for word == \"a\", or all objects where "
                    + "those are many for ANY tags.word == \"a\"; about 500 of 5000 objects"
            ),
            (
                "SELF == 'Employee/1' AND email == 'a'",
                "1 named object for SELF == \"Employee/1\""
            ),
            ("FALSEPREDICATE", "nothing is read: no object can match for FALSEPREDICATE"),
            ("FALSEPREDICATE OR FALSEPREDICATE", "nothing is read: no object can match"),
        ])
    func `the access that finds the fewest is chosen`(text: String, explanation: String) throws {
        let plan = try plan(text, records: ["age": 200])

        #expect(plan.explanation(in: company.schema) == explanation)
    }

    @Test func `of alternatives each is found by its own index`() throws {
        let plan = try plan(
            "lastName == 'a' OR (age == 3 AND firstName == 'b') OR email IN {'x', 'y'}")

        #expect(
            plan.explanation(in: company.schema)
                == "index of 'lastName', 1 range for lastName == \"a\", or index of 'age', 1 range for "
                + "age == 3, or index of 'email', 2 ranges for email IN {\"x\", \"y\"}; about 102 of "
                + "5000 objects")
    }

    @Test func `records of two indexes are compared where that spares more rows than it costs`()
        throws
    {
        let text = "lastName == 'a' AND age == 3"

        let both = try plan(text, records: ["lastName": 400, "age": 600])
        #expect(
            both.explanation(in: company.schema)
                == "index of 'lastName', 1 range for lastName == \"a\", and index of 'age', 1 range for "
                + "age == 3; about 48 of 5000 objects")
        let one = try plan(text, records: ["lastName": 20, "age": 600])
        #expect(
            one.explanation(in: company.schema)
                == "index of 'lastName', 1 range for lastName == \"a\"; about 20 of 5000 objects")
    }

    @Test func `an index that finds much of all is passed over, unless there are few`() throws {
        let text = "age > 3"

        #expect(
            try plan(text, records: ["age": 2_000]).explanation(in: company.schema)
                == "all objects are read: of 5000 about 2000 would be looked up by index of 'age', 1 "
                + "range for age > 3")
        #expect(
            try plan(text, total: 1_000, records: ["age": 900]).explanation(in: company.schema)
                == "index of 'age', 1 range for age > 3; about 900 of 1000 objects")
        #expect(
            try plan(text, missing: ["age"]).explanation(in: company.schema)
                == "all objects are read: no index serves the filter")
        #expect(
            try plan("age > 3 AND lastName == 'a'", missing: ["lastName"])
                .explanation(in: company.schema).hasPrefix("index of 'age'"))
    }

    @Test(
        arguments: [
            "TRUEPREDICATE", "firstName == 'a'", "lastName ==[c] 'a'", "lastName BEGINSWITH[c] 'a'",
            "lastName BEGINSWITH ''", "lastName CONTAINS 'a'", "age != 3", "email == nil",
            "email IN {'a', nil}", "age > 3 OR firstName == 'a'", "NOT age == 3",
            "department.name != 'a'", "department.name == nil", "age == 3.5", "age < nil",
            "mentor == nil",
            "pupil == 'Employee/1'",
        ])
    func `a filter that no index can serve reads everything`(text: String) throws {
        #expect(
            try plan(text).explanation(in: company.schema)
                == "all objects are read: no index serves the filter")
    }

    @Test func `ranges tell whether their ends belong to them`() throws {
        let plan = try plan("age <= 9 AND age > 3")

        guard case .index(let property, let ranges) = plan.access else {
            Issue.record("An index was expected.")
            return
        }
        #expect(property.name == "age")
        #expect(
            ranges == [
                .between(
                    IndexBound(.int(3), isIncluded: false), IndexBound(.int(9), isIncluded: true))
            ])
    }

    // MARK: - Orders

    private func walk(
        _ query: Query, total: Int = 5_000, records: [String: Int]
    ) throws -> String? {
        let plan = try FilterPlan(
            query.filter, of: query.entities,
            FixedEstimates(company.schema, total: total, records: records))
        return plan.walk(inOrderOf: query)?.explanation
    }

    @Test func `an index in the order of the query is walked until enough are found`() throws {
        let some = "index of 'age' in its order, 1 range, until 10 objects are found"
        let all = "index of 'age' in its order, until 10 objects are found"

        let above = try query("age > 3", by: "age")
        #expect(try walk(above, records: ["age": 200]) == some)
        #expect(try walk(above, records: ["age": 4_000]) == some)
        #expect(try walk(above, records: ["age": 10]) == nil)
        #expect(try walk(query("TRUEPREDICATE", by: "age"), records: [:]) == all)
        #expect(try walk(query("firstName == 'a'", by: "age"), records: [:]) == all)
        #expect(try walk(query("age > 3", by: "age", limit: nil), records: ["age": 200]) == nil)
        #expect(try walk(query("age > 3", by: "salary"), records: ["age": 200]) == nil)
        #expect(try walk(query("age == 3", by: "age"), records: ["age": 200]) == nil)
    }

    @Test func `few matches are found first and sorted then`() throws {
        let byAge = try query("lastName == 'a'", by: "age")

        #expect(try walk(byAge, records: ["lastName": 50]) == nil)
        #expect(
            try walk(byAge, total: 100_000, records: ["lastName": 20_000])
                == "index of 'age' in its order, until 10 objects are found")
        #expect(try walk(query("email == 'a'", by: "age"), records: [:]) == nil)
        #expect(try walk(query("SELF == 'Employee/1'", by: "age"), records: [:]) == nil)
    }

    @Test func `only an index that tells the whole filter stands for rows`() throws {
        func cover(_ text: String) throws -> String? {
            let filter = try company.filter(text)
            return try plan(text).cover(of: filter)?.index.text
        }

        #expect(try cover("age > 3") == "'age'")
        #expect(try cover("age > 3 AND age <= 9") == "'age'")
        #expect(try cover("age IN {1, 2}") == "'age'")
        #expect(try cover("lastName == 'a'") == "'lastName'")
        #expect(try cover("rating > 3.0") == "'rating'")
        #expect(try cover("age > 3 AND firstName == 'a'") == nil)
        #expect(try cover("lastName BEGINSWITH 'a'") == nil)
        #expect(try cover("rating < 3.0") == nil)
        #expect(try cover("firstName == 'a'") == nil)
    }
}
