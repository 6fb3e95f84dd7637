import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct AttributeRulesTests {
    private static let ruled = model([
        AttributeDescription(
            name: "count", type: .int16, rules: AttributeRules(minimum: .int(1), maximum: .int(9))),
        AttributeDescription(
            name: "day", type: .date,
            rules: AttributeRules(minimum: .date(Date(timeIntervalSinceReferenceDate: 60)))),
        AttributeDescription(
            name: "text", type: .string, defaultValue: .string(""),
            rules: AttributeRules(minimumLength: 2, maximumLength: 4, pattern: "[a-z|]+")),
        AttributeDescription(name: "plain", type: .string),
    ])

    private static func model(_ attributes: [AttributeDescription]) -> ManagedObjectModel {
        ManagedObjectModel(entities: [EntityDescription(name: "A", attributes: attributes)])
    }

    @Test func `rules come back from canonical bytes`() throws {
        let bytes = Self.ruled.canonicalBytes

        #expect(try ManagedObjectModel(canonicalBytes: bytes) == Self.ruled.canonical)
        for count in 0..<bytes.count {
            #expect(throws: DecodingFailure.self) {
                try ManagedObjectModel(canonicalBytes: Array(bytes[..<count]))
            }
        }
    }

    @Test func `a model without rules has the bytes it had before there were rules`() {
        let plain = Self.model([AttributeDescription(name: "x", type: .bool)])

        #expect(
            plain.canonicalBytes
                == [1, 1, 1] + Array("A".utf8) + [0, 0, 1, 1] + Array("x".utf8) + [4]
                + Array("bool".utf8) + [1, 0, 0])
    }

    @Test func `rules are written to a model file and read back`() throws {
        let text = Self.ruled.json(.oneLine)

        #expect(try ManagedObjectModel(json: text) == Self.ruled)
        #expect(text.contains(#""minimum":1,"maximum":9"#))
        #expect(text.contains(#""minLength":2,"maxLength":4,"pattern":"[a-z|]+""#))
    }

    @Test func `a rule that does not fit its attribute is a mistake in the model`() {
        let wrong = Self.model([
            AttributeDescription(
                name: "a", type: .string, rules: AttributeRules(minimum: .string("x"))),
            AttributeDescription(
                name: "b", type: .int16, rules: AttributeRules(maximum: .int(70_000))),
            AttributeDescription(
                name: "c", type: .double,
                rules: AttributeRules(minimum: .double(2), maximum: .double(1))),
            AttributeDescription(name: "d", type: .bool, rules: AttributeRules(maximumLength: 1)),
            AttributeDescription(
                name: "e", type: .data, rules: AttributeRules(minimumLength: 2, maximumLength: 1)),
            AttributeDescription(name: "f", type: .date, rules: AttributeRules(pattern: "x")),
            AttributeDescription(name: "g", type: .string, rules: AttributeRules(pattern: "[")),
            AttributeDescription(
                name: "h", type: .double, rules: AttributeRules(minimum: .double(.nan))),
            AttributeDescription(
                name: "i", type: .decimal, rules: AttributeRules(maximum: .decimal(.nan))),
        ])

        let error = #expect(throws: ModelError.self) { try wrong.validate() }

        #expect(
            error?.problems == [
                "'A.a' has a minimum, which only numbers and dates can have.",
                "'A.b' has a maximum that does not fit: it holds 16-bit integers, from -32768 to 32767.",
                "'A.c' has a minimum above its maximum.",
                "'A.d' has a limit of length, which only text and data can have.",
                "'A.e' has a minimum length above its maximum length.",
                "'A.f' has a pattern, which only text can have.",
                "'A.g' has a pattern that is not a regular expression.",
                "'A.h' has a minimum that is not a number.",
                "'A.i' has a maximum that is not a number.",
            ])
    }

    @Test func `each rule that differs from the store's has a line`() {
        var other = Self.ruled
        other.entities[0].attributes[0].rules.maximum = .int(8)
        other.entities[0].attributes[2].rules = AttributeRules()

        let lines = other.differences(from: Self.ruled)

        #expect(
            lines == [
                "'A.count' is of at most 8, but of at most 9 in the store.",
                "'A.text' is of any least length, but at least 2 long in the store.",
                "'A.text' is of any greatest length, but at most 4 long in the store.",
                "'A.text' is without a pattern, but described by the pattern '[a-z|]+' in the store.",
            ])
    }

    @Test(
        arguments: [
            ("ab", nil), ("abcd", nil), ("a|b", nil), ("a", .tooShort), ("abcde", .tooLong),
            ("ab1", .patternMismatch), ("ab\n", .patternMismatch),
        ] as [(String, ValidationFailure.Reason?)])
    func `a pattern describes the whole text, and length counts scalars`(
        text: String, reason: ValidationFailure.Reason?
    ) throws {
        let schema = try Schema(Self.ruled)
        let property = try #require(schema.entity(named: "A")?.property(named: "text"))

        #expect(property.misfit(of: .string(text))?.reason == reason)
    }
}
