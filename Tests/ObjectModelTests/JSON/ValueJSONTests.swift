import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct ValueJSONTests {
    @Test(arguments: AttributeType.allCases, UInt64(1)...3)
    func `every value comes back from JSON unchanged`(type: AttributeType, seed: UInt64) throws {
        let schema = try Schema(Company.model)
        var random = SeededGenerator(seed: seed)

        for _ in 0..<300 {
            let value = Value.random(type, using: &random)
            var writer = JSONWriter()
            writer.value(value, for: type, in: schema)

            let again = try Value(JSONValue(parsing: writer.bytes), for: type)

            #expect(again == value, "seed \(seed): \(writer.text)")
        }
    }

    @Test(
        arguments: [
            "{\"a\":1}", "{\"a\": 1}", "null", " null", "{\"base64\":\"AA==\"}", "not JSON", "",
            "[1.50,\"\\u0041\"]", "\u{0}",
        ])
    func `the bytes of coded values are kept whatever they are`(text: String) throws {
        let value = Value.data(Data(text.utf8))

        let json = JSONValue(value, for: .codable)

        #expect(try Value(json, for: .codable) == value)
    }

    @Test(
        arguments: [
            (.decimal(Decimal(string: "-1.50") ?? 0), .decimal, "\"-1.5\""),
            (.decimal(Decimal(string: "1e20") ?? 0), .decimal, "\"100000000000000000000\""),
            (.decimal(Decimal(string: "1e-5") ?? 0), .decimal, "\"0.00001\""),
            (.double(0.1), .double, "0.1"),
            (.double(.nan), .double, "\"NaN\""),
            (.int(.min), .int64, "-9223372036854775808"),
            (.data(Data([0, 255])), .data, "\"AP8=\""),
            (.data(Data("{\"a\":1}".utf8)), .codable, "{\"a\":1}"),
            (
                .date(Date(timeIntervalSinceReferenceDate: 0.25)), .date,
                "\"2001-01-01T00:00:00.25Z\""
            ),
            (.null, .string, "null"),
        ] as [(Value, AttributeType, String)])
    func `values are written in their documented form`(
        value: Value, type: AttributeType, text: String
    ) throws {
        var writer = JSONWriter()

        writer.value(value, for: type, in: try Schema(Company.model))

        #expect(writer.text == text)
    }

    @Test(
        arguments: [
            ("5.0", .int64, .int(5)), ("5e3", .int16, .int(5000)), ("-0", .int64, .int(0)),
            ("1.5", .decimal, .decimal(Decimal(string: "1.5") ?? 0)),
            ("\"15e-1\"", .decimal, .decimal(Decimal(string: "1.5") ?? 0)),
            ("3", .double, .double(3)), ("-0.0", .double, .double(0)),
            ("0.1", .float, .double(Double(Float(0.1)))),
            ("\"2001-01-01\"", .date, .date(Date(timeIntervalSinceReferenceDate: 0))),
        ] as [(String, AttributeType, Value)])
    func `other spellings are understood`(
        text: String, type: AttributeType, value: Value
    ) throws {
        #expect(try Value(JSONValue(parsing: text), for: type) == value)
    }

    @Test(
        arguments: [
            ("\"a\"", .int64, "An integer was expected, not the text \"a\"."),
            ("1.5", .int64, "An integer was expected, not the number 1.5."),
            (
                "9223372036854775808", .int64,
                "It holds 64-bit integers, from -9223372036854775808 to 9223372036854775807."
            ),
            ("70000", .int16, "It holds 16-bit integers, from -32768 to 32767."),
            ("1", .bool, "True or false was expected, not the number 1."),
            ("5", .string, "Text was expected, not the number 5."),
            ("[]", .date, "A date such as \"2011-12-15T08:30:00Z\" was expected, not a list."),
            (
                "\"x\"", .uuid,
                "A UUID such as \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\" was expected, not the text "
                    + "\"x\"."
            ),
            ("\"*\"", .data, "Base64 text was expected, not the text \"*\"."),
            (
                "1e400", .double,
                "A number (or \"NaN\", \"Infinity\", \"-Infinity\") was expected, not the number 1e400."
            ),
            (
                "1e999", .decimal,
                "A decimal number of at most 38 digits, as text or number, was expected, not the "
                    + "number 1e999."
            ),
        ] as [(String, AttributeType, String)])
    func `a value of the wrong type is reported with the expected form`(
        text: String, type: AttributeType, message: String
    ) throws {
        let json = try JSONValue(parsing: text)

        let error = #expect(throws: JSONError.self) { try Value(json, for: type) }

        #expect(error?.message == message)
    }

    @Test func `references name an object of the destination`() throws {
        let schema = try Schema(Company.model)
        let employee = try Company.entity("Employee", of: schema)
        let manager = try Company.entity("Manager", of: schema)

        let found = try Value(.string("Manager/3"), to: employee, in: schema)

        #expect(found == .object(ObjectID(entity: manager.number, number: 3)))
        #expect(throws: JSONError("'Tag/1' is not an object of 'Employee'.")) {
            try Value(.string("Tag/1"), to: employee, in: schema)
        }
        #expect(
            throws: JSONError(
                "'Employe/1' does not name an object, as 'Employee/1' does; "
                    + "did you mean 'Employee'?")
        ) {
            try Value(.string("Employe/1"), to: employee, in: schema)
        }
        #expect(throws: JSONError.self) {
            try Value(.string("Employee/007"), to: employee, in: schema)
        }
    }
}
