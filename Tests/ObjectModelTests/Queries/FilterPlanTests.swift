import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

@Suite struct FilterPlanTests {
    @Test(
        arguments: [
            (
                "age > 3 AND email == 'a@b'",
                "index of 'email', 1 range for email == \"a@b\""
            ),
            ("age > 3 AND lastName == 'a'", "index of 'lastName', 1 range for lastName == \"a\""),
            (
                "age > 3 AND age <= 9 AND firstName == 'a'",
                "index of 'age', 1 range for age > 3 AND age <= 9"
            ),
            ("3 < age", "index of 'age', 1 range for 3 < age"),
            ("age BETWEEN {1, 5}", "index of 'age', 1 range for age BETWEEN {1, 5}"),
            ("age IN {3, 1, 3}", "index of 'age', 2 ranges for age IN {3, 1, 3}"),
            (
                "lastName BEGINSWITH 'L'",
                "index of 'lastName', 1 range for lastName BEGINSWITH \"L\""
            ),
            ("age == nil", "index of 'age', 1 range for age == nil"),
            (
                "department == 'Department/1' AND age > 1",
                "references through 'department' for department == \"Department/1\""
            ),
            (
                "tags CONTAINS 'Tag/4'",
                "references through 'tags' for ANY tags == \"Tag/4\""
            ),
            (
                "'a' == department.name AND firstName == 'b'",
                "references through 'department' of the objects for name == \"a\", or all "
                    + "objects where those are many for \"a\" == department.name"
            ),
            (
                "ANY tags.word == 'a' OR FALSEPREDICATE",
                "all objects are read: no index serves the filter"
            ),
            (
                "ANY tags.word == 'a'",
                "references through 'tags' of the objects for word == \"a\", or all "
                    + "objects where those are many for ANY tags.word == \"a\""
            ),
            (
                "mentor.lastName == 'a' AND age > 3",
                "references through 'mentor' of the objects for lastName == \"a\", or all "
                    + "objects where those are many for mentor.lastName == \"a\""
            ),
            ("SELF == 'Employee/1' AND email == 'a'", "1 named object for SELF == \"Employee/1\""),
            ("FALSEPREDICATE", "nothing is read: no object can match for FALSEPREDICATE"),
        ])
    func `the narrowest access is chosen`(text: String, explanation: String) throws {
        let company = try Company()

        let plan = FilterPlan(try company.filter(text))

        #expect(plan.explanation(in: company.schema) == explanation)
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
        let company = try Company()

        let plan = FilterPlan(try company.filter(text))

        #expect(
            plan.explanation(in: company.schema)
                == "all objects are read: no index serves the filter")
    }

    @Test func `ranges tell whether their ends belong to them`() throws {
        let company = try Company()

        let plan = FilterPlan(try company.filter("age <= 9 AND age > 3"))

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
}
