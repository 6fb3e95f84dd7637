import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

/// Regular expressions for whole texts, even long ones.
@Suite struct TextExpressionTests {
    private func answer(_ pattern: String, _ text: String) throws -> TextExpression.Answer {
        try #require(TextExpression(pattern)).answer(to: text)
    }

    // MARK: - Long texts

    /// More characters than the engine has stack for, in steps of this many.
    private static let long = String(repeating: "ab ", count: 100_000)

    @Test(arguments: ["(a|b| )*", "(?i)(A|B| )*", "^(?:(a)|(b)|( ))+$"])
    func `B15 a long text that matches its pattern is reported as a match`(pattern: String) throws {
        #expect(try answer(pattern, Self.long) == .matches)
        #expect(try answer(pattern, "9" + Self.long) == .differs)
    }

    @Test func `a long text that differs at its end is reported as different`() throws {
        #expect(try answer("(a|b| )*", Self.long + "9") == .differs)
    }

    @Test(arguments: [
        "(a|b| )*+", "(?>a|b| )*", "(a|b| |(?=x))*", "(a|b| |\\bx)*",
    ])
    func `B15 a text that is too long for its pattern is not reported as different`(
        pattern: String
    ) throws {
        let answer = try answer(pattern, Self.long)

        #expect(answer != .differs)
    }

    @Test(arguments: ["(a|aa|aaa)*b|a*", "(a+)+b|a+", "((a|a)*|b)*c|(a*)*"])
    func `B15 a short text that takes the engine too long is reported as a match`(pattern: String)
        throws
    {
        let text = String(repeating: "a", count: 60)

        #expect(try answer(pattern, text) == .matches)
        #expect(try answer(pattern, text + "d") == .differs)
    }

    @Test func `B15 an expression that backtracks without end is given up and reported`() throws {
        let text = String(repeating: "a", count: 100_000)

        #expect(try answer("(a|aa|aaa)*b", text) == .differs)
        #expect(try answer("((a|aa|aaa)*)\\2b|(?:a|aa)*+c", text) != .matches)
    }

    @Test(arguments: [
        "((a|aa|aaa)*)\\2b", "(a+)+b(?<=c)", "(?=(a|aa)*c)a*", "(?:a|aa)*+c|(a+)+\\1b",
    ])
    func `B15 a pattern that only the engine supports, and on which it gives up, has no answer`(
        pattern: String
    ) throws {
        let text = String(repeating: "a", count: 60)

        #expect(try answer(pattern, text) == .unknown)
        let matches = try #require(TextPattern(pattern, for: .matches, []))
        let refusal = #expect(throws: QueryError.self) { try matches.matches(text) }
        #expect("\(try #require(refusal))".contains("text of 60 characters"))
    }

    @Test func `a pattern with look-around on which the engine finishes has an answer`() throws {
        #expect(try answer("(?=.*b)[ab ]*", Self.long) == .matches)
        #expect(try answer("(?=.*c)[ab ]*", Self.long) == .differs)
        #expect(try answer("(a+)\\1b", String(repeating: "a", count: 60) + "b") == .matches)
    }

    // MARK: - The automaton and the engine

    /// Expressions of each kind that the automaton decides.
    private static let patterns = [
        "", "a", "ab", "a|b", "a|", "(a|b)*", "a*b+c?", "a{2}", "a{1,2}b{0,1}", "a{2,}",
        "(ab){1,3}",
        "a*?b", "[ab]+", "[^ab]+", "[]a]+", "[^]a]+", "[a-c&&[^b]]+", "[[:alpha:]]+", "[\\]a]+",
        "\\d+", "\\w+", "\\W*", "\\s*", "\\S+", "\\p{Lu}+", "\\P{L}*", "\\x61b", "\\x{61}+",
        "\\u0061b",
        ".", ".*", "(?s).*", "(?s:.)a", "(?i)AB", "(?i:a)b", "(?-i)a", "(?<name>a)b", "^a*$", "a$",
        "a$\\n", "^$", "$", "(^a|b)*", "\\.", "\\(a\\)", "a\\+", "\\t|\\n", "(a*)*", "(a*|b)*",
        "()*a",
        "(a|ab)(c|bcd)?", "((a)|(b))*", "é+", "日?", "[é日]*", "\\-", "5+", "\\Aa", "a b",
    ]
    /// Texts on which they differ.
    private static let texts = [
        "", "a", "b", "ab", "ba", "aab", "abab", "aaa", "abc", "abcd", "A", "AB", "aB", "c", "]",
        "]a", "1",
        "55", ".", "(a)", "a+", "-", " ", "\t", "\n", "a\n", "a\r\n", "\r\n", "a\u{85}", "\u{2028}",
        "é", "éé",
        "日", "e\u{301}", "🇫🇷", "a b", "_", "\u{0}",
    ]

    @Test(arguments: patterns)
    func `the automaton agrees with the engine`(pattern: String) throws {
        let expression = try #require(TextExpression(pattern))
        guard let automaton = TextAutomaton(pattern, ignoringCase: false) else {
            #expect(pattern == "\\Aa", "'\(pattern)' is not decided.")
            return
        }

        for text in Self.texts {
            guard let answer = automaton.matches(text) else { continue }
            #expect(
                answer == (expression.answer(to: text) == .matches),
                "'\(pattern)' on \(text.debugDescription)")
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `the automaton agrees with the engine on random expressions`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let pattern = randomPattern(4, &generator)
            let expression = try #require(TextExpression(pattern), "'\(pattern)'")
            let automaton = try #require(
                TextAutomaton(pattern, ignoringCase: false), "'\(pattern)'")
            for _ in 0..<8 {
                let text = String(
                    (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                        "abc\n\r ".randomElement(using: &generator) ?? "a"
                    })
                guard let answer = automaton.matches(text) else { continue }
                #expect(
                    answer == (expression.answer(to: text) == .matches),
                    "seed \(seed), '\(pattern)' on \(text.debugDescription)")
            }
        }
    }

    private func randomPattern(_ depth: Int, _ generator: inout SeededGenerator) -> String {
        func part() -> String { randomPattern(depth - 1, &generator) }
        let leaves = ["a", "b", "c", "[ab]", "[^a]", ".", "\\w", "\\s", "^", "$", "(?s:.)"]
        let counts = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"]
        switch Int.random(in: 0...(depth > 0 ? 7 : 2), using: &generator) {
        case 0...2: return leaves.randomElement(using: &generator) ?? "a"
        case 3, 4: return part() + part()
        case 5: return "(\(part())|\(part()))"
        case 6: return "(?:\(part()))" + (counts.randomElement(using: &generator) ?? "*")
        default: return "(\(part()))"
        }
    }

    @Test(arguments: [
        "(a)\\1", "a(?=b)", "a(?!b)", "(?<=a)b", "(?<!a)b", "(?>a)b", "a*+", "a?+b", "\\bab\\b",
        "\\Ga",
        "\\Qa+\\E", "\\X", "\\R", "(?x)a b", "(?m)^a$", "(?#note)a",
    ])
    func `an automaton is not made for an expression it cannot decide`(pattern: String) throws {
        _ = try #require(TextExpression(pattern))

        #expect(TextAutomaton(pattern, ignoringCase: false) == nil)
    }

    @Test func `an automaton of too many states is not made`() {
        #expect(TextAutomaton("(?:(?:[a-c]{1,100}){1,100}){1,100}", ignoringCase: false) == nil)
        #expect(
            TextAutomaton(
                String(repeating: "(", count: 5000) + String(repeating: ")", count: 5000),
                ignoringCase: false) == nil)
    }

    // MARK: - Callers

    @Test func `B15 a validation and a filter distinguish a long match from a long mismatch`()
        throws
    {
        var attribute = AttributeDescription(name: "text", type: .string)
        attribute.rules.pattern = "(a|b| )*"
        var other = AttributeDescription(name: "other", type: .string)
        other.rules.pattern = "(a|b| )*+(?=x|$)"
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(name: "A", attributes: [attribute, other])
            ]))
        let entity = try #require(schema.entity(named: "A"))
        let long = Value.string(Self.long)

        #expect(entity.property(named: "text")?.misfit(of: long) == nil)
        #expect(
            entity.property(named: "text")?.misfit(of: .string(Self.long + "9"))?.reason
                == .patternMismatch)
        let misfit = entity.property(named: "other")?.misfit(of: long)
        #expect(misfit == nil || misfit?.reason == .tooLong)
    }
}
