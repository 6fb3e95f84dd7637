import DaybookTestSupport
import Foundation
import Testing

@testable import DaybookObjectModel

@Suite struct PredicateParserTests {
    @Test(
        arguments: [
            ("", 1, "The predicate is empty; TRUEPREDICATE finds everything."),
            (
                "frstName == 'A'", 1,
                "'Employee' has no property 'frstName'; did you mean 'firstName'?"
            ),
            (
                "department.nmae == 'A'", 12,
                "'Department' has no property 'nmae'; did you mean 'name'?"
            ),
            (
                "firstName == Eve", 14,
                "'Employee' has no property 'Eve'. A text is written in quotes: 'Eve'."
            ),
            (
                "firstName BEGINSWITH[cd] Eve", 26,
                "'Employee' has no property 'Eve'. A text is written in quotes: 'Eve'."
            ),
            (
                "firstName IN {'Ada', fistName}", 22,
                "'Employee' has no property 'fistName'; did you mean 'firstName'? A text is written in "
                    + "quotes: 'fistName'."
            ),
            (
                "department == Department/1", 15,
                "An object is written in quotes, as in 'Department/17'."
            ),
            ("firstName.x == 1", 11, "'firstName' is a value and has no properties."),
            (
                "firstName BEGINWITH 'A'", 11,
                "An operator such as '==' or BEGINSWITH was expected, not 'BEGINWITH'; "
                    + "did you mean 'BEGINSWITH'?"
            ),
            (
                "firstName", 10,
                "An operator such as '==' or BEGINSWITH was expected, not the end."
            ),
            ("age == 'old'", 8, "'age' is an integer, not the text \"old\"."),
            (
                "firstName == 5", 14,
                "'firstName' is text, written in quotation marks, not the number 5."
            ),
            (
                "hired > 'soon'", 9,
                "'hired' is a date, written as \"2011-12-15\" or \"2011-12-15T08:30:00Z\", not the "
                    + "text \"soon\"."
            ),
            (
                "firstName == 'A", 14,
                "The text that begins here does not end; a closing ' is missing."
            ),
            ("(age == 1", 10, "')' was expected, not the end."),
            ("fi\u{301}rst == 'A'", 3, "'\u{301}' has no meaning in a predicate."),
            ("\u{436}\u{301} == 'A'", 1, "'\u{436}\u{301}' has no meaning in a predicate."),
            ("age == 1\u{301}", 9, "'\u{301}' has no meaning in a predicate."),
            ("firstName == 'A'\u{301}", 17, "'\u{301}' has no meaning in a predicate."),
            ("age == 1 firstName", 10, "AND, OR or the end was expected, not 'firstName'."),
            ("age == ", 8, "A property or a constant was expected, not the end."),
            (
                "age BETWEEN 3", 13,
                "Two values in braces must follow BETWEEN, as in BETWEEN {1, 9}."
            ),
            (
                "firstName IN 'A'", 14,
                "A list such as {1, 2} or a path through a to-many relationship must follow IN."
            ),
            (
                "tags.word == 'a'", 1,
                "'tags.word' leads to many objects; write ANY, ALL or NONE before the comparison, or "
                    + "'@count' after the path."
            ),
            ("ANY firstName == 'a'", 5, "ANY needs a path through a to-many relationship."),
            (
                "tags.@cuont > 1", 6,
                "'@cuont' is not known; there are @count, @sum, @avg, @min, @max."
            ),
            ("tags.@sum.word > 1", 1, "'tags.@sum.word' must end at an attribute of numbers."),
            ("age == %@", 8, "There is no argument for this: 0 were given."),
            ("age == $x", 8, "Variables are not known here; write '%@' and hand over the value."),
            ("firstName ==[x] 'a'", 14, "[c], [d], [cd] or [n] was expected, not 'x'."),
            (
                "firstName ==[cl] 'a'", 14,
                "[c], [d], [cd] or [n] was expected, not 'cl': the rules of the user's language, [l], "
                    + "would have a store answer differently on another machine."
            ),
            (
                "firstName ==[cn] 'a'", 14,
                "[n] compares texts as they are, and 'cn' asks for something else too."
            ),
            ("firstName + 1 == 2", 1, "'firstName' is text; + computes with numbers."),
            ("age + '5' == 10", 7, "the text \"5\" is text; + computes with numbers."),
            ("abs(TRUE) == 1", 5, "TRUE is true or false; abs computes with numbers."),
            (
                "year(5) == 1", 6,
                "'the number 5' is a date, written as \"2011-12-15\" or \"2011-12-15T08:30:00Z\", not the "
                    + "number 5."
            ),
            ("length(age) == 2", 8, "'age' is an integer; length takes text."),
            ("year(age) == 2", 6, "'age' is an integer; year takes a date."),
            ("department * 2 == 2", 1, "'department' is an object; * computes with numbers."),
            ("lenght(firstName) == 2", 1, "'lenght' is not a function; did you mean 'length'?"),
            ("length(firstName, 2) == 2", 1, "'length' has one argument, and 2 were given."),
            ("now(1) == hired", 1, "'now' has 0 arguments, and 1 were given."),
            ("CAST(age, 'nubmer') == 2", 11, "'nubmer' is not a type."),
            (
                "CAST(age) == 2", 1,
                "CAST has a value and the name of a type, as in CAST(price, 'int64')."
            ),
            (
                "FUNCTION(age) == 2", 1,
                "FUNCTION has a value and the name of a function, as in FUNCTION(name, 'length')."
            ),
            (
                "SUBQUERY(department, $x, TRUEPREDICATE).@count == 2", 10,
                "SUBQUERY needs a path through a to-many relationship."
            ),
            (
                "SUBQUERY(tags, x, TRUEPREDICATE).@count == 2", 16,
                "A variable such as '$x' was expected, not 'x'."
            ),
            (
                "SUBQUERY(tags, $x, $y.word == 'a').@count == 2", 20,
                "Variables are not known here; write '%@' and hand over the value."
            ),
            (
                "SUBQUERY(tags, $x, $x.word == 'a') == 2", 36,
                "'.@count' or another aggregate must follow SUBQUERY(…); whether there is such a "
                    + "member is written ANY members (condition)."
            ),
            (
                "SUBQUERY(tags, $x, TRUEPREDICATE).@sum == 2", 1,
                "'SUBQUERY(…).@sum' must end at an attribute of numbers."
            ),
            ("TERNARY(isActive, 1) == 2", 20, "',' was expected, not ')'."),
            (
                "tags[FIRST].word == 'a'", 6,
                "Only [SIZE] can follow a path to many objects, not 'FIRST'."
            ),
            (
                "tags.word + 1 == 2", 1,
                "'tags.word' leads to many objects; write ANY, ALL or NONE before the comparison, or "
                    + "'@count' after the path."
            ),
            ("age + == 2", 7, "A property or a constant was expected, not '=='."),
            ("(age + 1 == 2", 14, "')' was expected, not the end."),
            ("firstName MATCHES '['", 19, "\"[\" is not a regular expression."),
            ("age LIKE '1'", 1, "'age' is an integer; LIKE compares text."),
            (
                "department == 'Deparment/1'", 15,
                "\"Deparment/1\" is not the name of an object, as \"Department/1\" is; did you mean "
                    + "'Department'?"
            ),
            (
                "department == 'Tag/1'", 15,
                "'department' is an object of 'Department', which 'Tag/1' is not."
            ),
            ("age == 1e400", 8, "The number 1e400 is larger than any number can be."),
            ("age == $1.age", 8, "'$1' can stand only inside a quantifier."),
            ("age ; 1", 5, "';' has no meaning in a predicate."),
            (
                "IN == 'a'", 1,
                "A property or a constant was expected, not 'IN'; a property of that name is written "
                    + "'#IN'."
            ),
            ("1x == 1", 1, "A number ends in 'x'; text must stand in quotation marks."),
            (
                "firstName == 'a\\d'", 16,
                "'\\d' is not an escape; write '\\\\d' for a backslash."
            ),
        ] as [(String, Int, String)])
    func `a mistake is reported with its location and the remedy`(
        text: String, column: Int, message: String
    ) throws {
        let company = try Company()

        let error = #expect(throws: QueryError.self) { try company.filter(text) }

        #expect(error?.message == message)
        #expect(error?.column == column)
    }

    @Test func `arguments left over are a mistake`() throws {
        let company = try Company()

        let error = #expect(throws: QueryError.self) {
            try company.filter("age == %@", nil, [.int(1), .int(2)])
        }

        #expect(error?.message == "2 arguments were given, but the predicate uses 1.")
    }

    @Test func `nesting too deep is refused instead of running out of stack`() throws {
        let company = try Company()
        let parentheses = String(repeating: "(", count: 100_000)
        let negations = String(repeating: "!", count: 100_000)

        #expect(throws: QueryError.self) { try company.filter(parentheses) }
        #expect(throws: QueryError.self) { try company.filter(negations) }
        #expect(throws: QueryError.self) {
            try company.filter("age IN " + String(repeating: "{", count: 100_000))
        }
        #expect(throws: QueryError.self) {
            try company.filter("age == " + String(repeating: "- ", count: 100_000) + "age")
        }
        #expect(throws: QueryError.self) {
            try company.filter("age == " + String(repeating: "length(", count: 100_000))
        }
        #expect(throws: QueryError.self) {
            try company.filter("age == age" + String(repeating: " + age", count: 100_000))
        }
    }

    @Test func `a path that is too long is refused instead of running out of stack`() throws {
        let company = try Company()
        func filter(_ path: String, _ count: Int, _ quantifier: String = "") throws -> Filter {
            try company.filter(quantifier + String(repeating: path, count: count) + "age == 1")
        }
        _ = try filter("mentor.", 90)
        _ = try filter("tags.employees.", 40, "ANY ")
        for error in [
            #expect(throws: QueryError.self, performing: { try filter("mentor.", 100_000) }),
            #expect(
                throws: QueryError.self,
                performing: { try filter("tags.employees.", 50_000, "ANY ") }),
        ] {
            #expect(error?.message == "A path has at most 100 steps.")
        }
    }

    @Test func `keywords are the same in any case`() throws {
        let company = try Company()

        let upper = try company.filter(
            "NOT age IN {1} AND firstName BEGINSWITH 'a' OR isActive == YES")
        let lower = try company.filter(
            "not age in {1} and firstName beginswith 'a' or isActive == true")

        #expect(upper == lower)
    }

    @Test func `AND binds stronger than OR and NOT stronger than both`() throws {
        let company = try Company()

        let plain = try company.filter("isActive OR NOT isActive AND age == 1")
        let grouped = try company.filter("isActive OR ((NOT isActive) AND age == 1)")

        #expect(plain == grouped)
    }

    @Test func `a keyword behind a number sign is a property`() throws {
        let company = try Company()

        let filter = try company.filter("#in == 'a'")

        #expect(filter.text(in: company.schema) == "#in == \"a\"")
    }

    @Test func `constants take the type of what they are compared with`() throws {
        let company = try Company()
        func constant(_ text: String) throws -> Value? {
            guard case .comparison(let comparison) = try company.filter(text) else { return nil }
            return comparison.right.constant
        }

        #expect(try constant("age == 3.0") == .int(3))
        #expect(try constant("age == 3.5") == .double(3.5))
        #expect(try constant("salary == 3.50") == .decimal(Decimal(string: "3.5") ?? 0))
        #expect(try constant("rating == 3") == .double(3))
        #expect(try constant("isActive == 1") == .bool(true))
        #expect(
            try constant("hired == '2001-01-01'")
                == .date(Date(timeIntervalSinceReferenceDate: 0)))
        #expect(
            try constant("hired == '2001-01-01T01:00:00.5+01:00'")
                == .date(Date(timeIntervalSinceReferenceDate: 0.5)))
        #expect(try constant("photo == 'AQI='") == .data(Data([1, 2])))
        let badge = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
        #expect(
            try constant("badge == '\(badge.lowercased())'")
                == UUID(uuidString: badge).map { .uuid($0) })
    }

    @Test(
        arguments: [
            "\u{301}", "\u{301}a", "a\u{301}", "\\\u{301}", "\"\u{301}", "'\u{301}", "\n\u{301}",
            "\r\n", "a\u{301}\u{302}\u{200D}", "\u{200D}\u{1F469}", "\u{FE0F}",
            "a\u{600}", "\u{600}\"", "\u{600}\\",
        ])
    func `a text may have accents and signs next to quotation marks and backslashes`(
        text: String
    ) throws {
        let company = try Company()
        let filter = try company.filter("firstName == %@", nil, [.string(text)])

        let again = try company.filter(filter.text(in: company.schema))

        guard case .comparison(let comparison) = again,
            case .string(let read)? = comparison.right.constant
        else {
            Issue.record("\(again)")
            return
        }
        #expect(Array(read.unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(arguments: UInt64(1)...12)
    func `a filter written as text reads back as the same tree`(seed: UInt64) throws {
        let company = try Company()
        var source = RandomFilters(company: company, random: SeededGenerator(seed: seed))

        for _ in 0..<200 {
            let filter = source.filter(depth: 3)
            let text = filter.text(in: company.schema)

            let again = try company.filter(text)

            #expect(again == filter, "seed \(seed): \(text)")
        }
    }
}
