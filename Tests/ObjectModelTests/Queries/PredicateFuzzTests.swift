import DaybookTestSupport
import Testing

@testable import DaybookObjectModel

@Suite struct PredicateFuzzTests {
    private static let words = [
        "firstName", "department", ".", "name", "tags", "employees", "age", "salary", "hired",
        "SELF",
        "==", "!=", "<", ">=", "=", "BEGINSWITH", "LIKE", "MATCHES", "CONTAINS", "[cd]", "[c]",
        "IN",
        "BETWEEN", "{", "}", ",", "(", ")", "AND", "OR", "NOT", "!", "ANY", "ALL", "NONE", "@count",
        "@sum", "@max", "'a'", "\"Employee/1\"", "'('", "1", "-2.5", "1e400", "nil", "TRUE", "%@",
        "%K", "$1", "#in", "\\", "'", "é", "'2001-01-01'", "+", "-", "*", "**", "/", "length(",
        "year:(", "TERNARY(", "CAST(", "'int64'", "SUBQUERY(", "$x", "$x.age", "now()", "[SIZE]",
        "EVER", "ALWAYS", "WAS", "AT", "CHANGED", "INCREASED", "DECREASED", "BY", "SINCE", "UNTIL",
        "17", "'head'",
    ]

    @Test(arguments: UInt64(1)...6)
    func
        `any words are either a predicate that reads back and evaluates or a mistake with its location`(
            seed: UInt64
        ) throws
    {
        let company = try Company.peopled()
        var random = SeededGenerator(seed: seed)
        var understood = 0

        for _ in 0..<8_000 {
            let count = Int.random(in: 1...9, using: &random)
            let text = (0..<count).map { _ in random.pick(Self.words) }.joined(separator: " ")
            let filter: Filter
            do {
                filter = try company.filter(text)
            } catch let error as QueryError {
                #expect(!error.message.isEmpty, "seed \(seed): \(text)")
                continue
            }
            understood += 1
            let again = try company.filter(filter.text(in: company.schema))
            #expect(again == filter, "seed \(seed): \(text)")
            let plan = try FilterPlan(
                filter, of: [company.employee.number],
                FixedEstimates(company.schema, total: 5_000))
            #expect(!plan.explanation(in: company.schema).isEmpty, "seed \(seed): \(text)")
            for object in company.employees { _ = try filter.matches(object, in: company) }
        }

        #expect(understood > 0)
    }
}
