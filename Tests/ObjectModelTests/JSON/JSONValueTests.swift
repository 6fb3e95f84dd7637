import Testing

@testable import DaybookObjectModel

@Suite struct JSONValueTests {
    @Test(
        arguments: [
            "null", "true", "[]", "{}", "-0", "0.10", "1E+400", "9223372036854775807", "\"\"",
            "{\"b\":1,\"a\":[{},[null]]}", "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\\u007fé\u{1F600}\"",
        ])
    func `text in the written form comes back unchanged`(text: String) throws {
        #expect(try JSONValue(parsing: text).text == text)
    }

    @Test func `escapes of every form are read`() throws {
        let value = try JSONValue(parsing: " \"\\u0041\\/\\ud83d\\ude00\\u00e9\" ")

        #expect(value == .string("A/\u{1F600}é"))
    }

    @Test(
        arguments: [
            ("", "line 1, column 1: a value was expected, not the end."),
            ("{\"a\":1,}", "line 1, column 8: a name in quotation marks was expected, not '}'."),
            ("[1\n 2]", "line 2, column 2: ',' or ']' was expected, not '2'."),
            ("{\"a\" 1}", "line 1, column 6: ':' was expected, not '1'."),
            ("{\"a\":1,\"a\":2}", "line 1, column 8: The name 'a' stands twice in one object."),
            ("01", "line 1, column 1: A number cannot begin with a zero."),
            ("1.", "line 1, column 3: a digit was expected, not the end."),
            (
                "\u{FEFF}{}",
                "line 1, column 1: a value was expected, not a byte order mark, which UTF-8 needs none of."
            ),
            ("[\u{7}]", "line 1, column 2: a value was expected, not '\\u{7}'."),
            ("+1", "line 1, column 1: a value was expected, not '+'."),
            ("nul", "line 1, column 1: a value was expected, not 'n'."),
            ("1 2", "line 1, column 3: the end was expected, not '2'."),
            ("\"a", "line 1, column 3: a closing quotation mark was expected, not the end."),
            ("\"\t\"", "line 1, column 2: A control character must be written as '\\u0009'."),
            (
                "\"\\x\"",
                "line 1, column 2: This escape has no meaning; a backslash is written '\\\\'."
            ),
            ("\"\\ud800\"", "line 1, column 2: Half of a surrogate pair is not a character."),
            ("\"\\udc00\"", "line 1, column 2: Half of a surrogate pair is not a character."),
            (
                "\"\\ud800\\u0041\"",
                "line 1, column 2: Half of a surrogate pair is not a character."
            ),
            ("\"\\u12\"", "line 1, column 4: four hexadecimal digits was expected, not '1'."),
        ])
    func `a mistake is reported with its location`(text: String, message: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }

        #expect(error?.description == message)
    }

    @Test func `bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xff, 0x22]) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xc0, 0x80, 0x22]) }
        let other = #expect(throws: JSONError.self) {
            try JSONValue(parsing: [0xff, 0xfe, 0x7b, 0x00])
        }
        #expect(other?.description.contains("not UTF-16, where UTF-8 is read.") == true)
    }

    @Test func `nesting too deep is refused instead of running out of stack`() {
        #expect(throws: JSONError.self) {
            try JSONValue(parsing: String(repeating: "[", count: 1_000_000))
        }
    }

    @Test func `a writer puts commas where they belong`() {
        var writer = JSONWriter()

        writer.object { writer in
            writer.name("a")
            writer.integer(1)
            writer.name("b")
            writer.array { writer in
                writer.double(0.5)
                writer.object { _ in }
                writer.time(microseconds: 0)
                writer.null()
            }
            writer.name("c")
            writer.bool(true)
        }
        writer.endLine()
        writer.array { _ in }

        #expect(
            writer.text
                == "{\"a\":1,\"b\":[0.5,{},\"1970-01-01T00:00:00Z\",null],\"c\":true}\n[]")
    }

    @Test func `numbers that are not finite are written as text`() {
        var writer = JSONWriter()

        writer.array { writer in
            writer.double(.nan)
            writer.double(.infinity)
            writer.double(-.infinity)
            writer.double(1e300)
            writer.double(-0.0)
        }

        #expect(writer.text == "[\"NaN\",\"Infinity\",\"-Infinity\",1e+300,-0.0]")
    }

    @Test func `the pretty form keeps small things on one line`() throws {
        let value = try JSONValue(parsing: "{\"a\":[{\"b\":1,\"c\":[]},{}],\"d\":{}}")

        #expect(
            value.prettyText == """
                {
                  "a": [
                    {"b": 1, "c": []},
                    {}
                  ],
                  "d": {}
                }
                """)
    }
}
