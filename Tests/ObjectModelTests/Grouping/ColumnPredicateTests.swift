import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Predicates about the columns of a result.
struct ColumnPredicateTests {
    private let schema: Schema
    private let grouping: Grouping

    init() throws {
        schema = try Schema(Company.model)
        let employee = try Company.entity("Employee", of: schema)
        let department = try #require(employee.property(named: "department"))
        let name = try Company.entity("Department", of: schema).property(named: "name")
        var grouping = Grouping(employee)
        grouping.show(try grouping.column(FilterPath([department, try #require(name)])))
        grouping.show(try grouping.column(FilterPath([department])))
        grouping.close()
        grouping.show(try grouping.column(.count, of: nil))
        let hired = try #require(employee.property(named: "hired"))
        grouping.show(try grouping.column(.maximum, of: FilterPath([hired])))
        self.grouping = grouping
    }

    @Test(arguments: [
        ("count > 2", true), ("count > 3", false),
        ("department.name == 'R&D' AND count == 3", true),
        ("NOT department.name BEGINSWITH 'R'", false),
        ("maximum(hired) >= '2001-01-01T00:00:00Z'", true),
        ("maximum(hired) == nil OR (count BETWEEN {4, 5})", false), ("count IN {1, 3}", true),
    ])
    func `a predicate names columns as they are printed`(text: String, holds: Bool) throws {
        let row: [Value] = [
            .string("R&D"), .null, .int(3), .date(Date(timeIntervalSinceReferenceDate: 5)),
        ]
        let filter = try Filter(parsing: text, forColumnsOf: grouping, in: schema)
        #expect(try filter.matches(columns: row) == holds)
    }

    @Test(arguments: [
        (
            "sum(salary) > 2",
            "Column 1: There is no column 'sum(salary)' with values to compare; there are "
                + "'department.name', 'count', 'maximum(hired)'."
        ),
        ("count > 2 AND maximum(hired > 3", "Column 29: ')' was expected, not '>'."),
        ("maximum() > 3", "Column 9: The name of a property was expected, not ')'."),
        (
            "department == 3",
            "Column 1: There is no column 'department' with values to compare; there "
                + "are 'department.name', 'count', 'maximum(hired)'."
        ),
    ])
    func `a name that is no column is refused with those that there are`(
        text: String, message: String
    ) {
        let error = #expect(throws: QueryError.self) {
            try Filter(parsing: text, forColumnsOf: grouping, in: schema)
        }
        #expect(error?.description == message)
    }

    @Test func `a column has one value in each group`() throws {
        var grouping = grouping
        let age = FilterPath([try #require(grouping.entity.property(named: "age"))])
        let error = #expect(throws: QueryError.self) { try grouping.column(age) }
        #expect(
            error?.message
                == "A group has many values of 'age' of 'Employee'. Group by it as well, or ask for one of "
                + "them, such as the minimum.")
        let first = FilterPath([try #require(grouping.entity.property(named: "firstName"))])
        let other = #expect(throws: QueryError.self) { try grouping.column(.sum, of: first) }
        #expect(
            other?.message
                == "There is no sum of 'firstName' of 'Employee', which is of type 'string'. Name an "
                + "attribute of numbers, or ask for the count, the minimum or the maximum.")
    }
}
