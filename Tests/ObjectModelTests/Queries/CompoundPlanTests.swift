import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Plans by indexes over several properties, of sizes that the tests say.
struct CompoundPlanTests {
    private let schema: Schema
    private let employee: SchemaEntity

    init() throws {
        var model = Company.model
        for index in model.entities.indices where model.entities[index].name == "Employee" {
            model.entities[index].indexes = [
                ["department", .descending("hired")], ["isActive", "firstName", "salary"],
            ]
        }
        schema = try Schema(model)
        employee = try #require(schema.entity(named: "Employee"))
    }

    private func query(
        _ text: String, by keys: [(String, Bool)] = [], limit: Int? = nil
    ) throws -> Query {
        let sortings = try keys.map { name, isAscending in
            Sorting(
                FilterPath([try #require(employee.property(named: name))]), isAscending: isAscending
            )
        }
        return Query(
            employee, filter: try Filter(parsing: text, for: employee, in: schema),
            sortings: sortings, limit: limit)
    }

    private func plan(
        _ text: String, records: [String: Int] = [:], missing: Set<String> = []
    ) throws -> FilterPlan {
        try FilterPlan(query(text).filter, of: employee.family, estimates(records, missing))
    }

    private func estimates(
        _ records: [String: Int] = [:], _ missing: Set<String> = []
    ) -> FixedEstimates {
        FixedEstimates(schema, total: 5_000, records: records, missing: missing)
    }

    @Test(
        arguments: [
            (
                "department == 'Department/1' AND hired >= '2001-01-01T00:00:00Z'",
                "index of 'department', 'hired' (descending), 1 range for department == "
                    + "\"Department/1\" AND hired >= \"2001-01-01T00:00:00Z\"; about 5 of 5000 objects"
            ),
            (
                "isActive == true AND firstName IN {'a', 'b'} AND salary > 3 AND salary < 9",
                "index of 'isActive', 'firstName', 'salary', 2 ranges for isActive == TRUE AND firstName "
                    + "IN {\"a\", \"b\"} AND salary > 3 AND salary < 9; about 5 of 5000 objects"
            ),
            (
                "firstName BEGINSWITH 'a' AND isActive == true AND age == 3",
                "index of 'isActive', 'firstName', 'salary', 1 range for firstName BEGINSWITH \"a\" AND "
                    + "isActive == TRUE; about 5 of 5000 objects"
            ),
            (
                "isActive == nil",
                "index of 'isActive', 'firstName', 'salary', 1 range for isActive == nil; about 5 of "
                    + "5000 objects"
            ),
            (
                "department == 'Department/1'",
                "references through 'department' for department == \"Department/1\"; about 50 of 5000 "
                    + "objects"
            ),
            (
                "salary > 3 AND firstName == 'a'",
                "all objects are read: no index serves the filter"
            ),
        ])
    func `values of the first properties and a range of the next are one range of an index`(
        text: String, explanation: String
    ) throws {
        #expect(try plan(text).explanation(in: schema) == explanation)
    }

    @Test func `the index that finds fewest is taken`() throws {
        let text =
            "department == 'Department/1' AND hired > '2001-01-01T00:00:00Z' AND lastName == 'a'"
        let compound = "department,hired"

        let few = try plan(text, records: ["lastName": 2, compound: 40])
        let many = try plan(text, records: ["lastName": 300, compound: 40])
        let without = try plan(text, records: ["lastName": 300], missing: [compound])

        #expect(few.explanation(in: schema).hasPrefix("index of 'lastName'"))
        #expect(many.explanation(in: schema).hasPrefix("index of 'department', 'hired'"))
        #expect(without.explanation(in: schema).hasPrefix("references through 'department'"))
    }

    @Test func `conditions are taken once, not by an index and by a part of it`() throws {
        let plan = try plan(
            "department == 'Department/1' AND hired > '2001-01-01T00:00:00Z'",
            records: ["department,hired": 800, "department": 10_000])

        #expect(!plan.explanation(in: schema).contains(", and "))
    }

    @Test func `too many values are not multiplied`() throws {
        let names = (0..<300).map { "'n\($0)'" }.joined(separator: ", ")
        let plan = try plan("isActive IN {true, false} AND firstName IN {\(names)} AND salary == 1")

        guard case .compound(let access) = plan.access else {
            Issue.record("\(plan.access)")
            return
        }
        #expect(
            access.ranges == [
                CompoundRange(equals: [.bool(false)]), CompoundRange(equals: [.bool(true)]),
            ])
    }

    // MARK: - Order

    private func walk(
        _ text: String, by keys: [(String, Bool)], limit: Int? = 10, records: [String: Int] = [:]
    ) throws -> CompoundWalk? {
        let query = try query(text, by: keys, limit: limit)
        let plan = try FilterPlan(query.filter, of: query.entities, estimates(records))
        return try CompoundWalk(query, plan, estimates(records))
    }

    @Test func `the order of the next property is walked in either direction`() throws {
        let text = "department == 'Department/1'"

        let down = try #require(try walk(text, by: [("hired", false)]))
        let up = try #require(try walk(text, by: [("department", false), ("hired", true)]))

        #expect(down.isAscending && down.isWholeOrder && down.servesFilter)
        #expect(
            down.explanation(tellsAll: true)
                == "index of 'department', 'hired' (descending) in its order, 1 range, until 10 objects are "
                + "found, by its records alone")
        #expect(!up.isAscending && up.isWholeOrder && up.servesFilter)
        #expect(up.sortings == [1])
    }

    @Test func `a condition on another property is looked up in rows`() throws {
        let text = "department == 'Department/1' AND age > 3 AND hired > '2001-01-01T00:00:00Z'"

        let walk = try #require(
            try walk(
                text, by: [("hired", false), ("age", true)],
                records: ["department,hired": 2_000, "department": 4_000, "age": 4_000]))

        #expect(!walk.servesFilter)
        #expect(!walk.isWholeOrder)
        #expect(
            walk.range.next
                == .between(
                    IndexBound(.date(.init(timeIntervalSinceReferenceDate: 0)), isIncluded: false),
                    nil))
    }

    @Test func `an index of another order is not walked`() throws {
        let text = "isActive == true"

        #expect(try walk(text, by: [("salary", true)]) == nil)
        #expect(try walk(text, by: [("firstName", true)], limit: nil) == nil)
        #expect(try walk("firstName == 'a'", by: [("salary", true)]) == nil)
        let mixed = try #require(
            try walk(
                text, by: [("firstName", true), ("salary", false)],
                records: ["isActive,firstName,salary": 2_000]))
        #expect(mixed.sortings == [0])
        #expect(!mixed.isWholeOrder)
    }
}
