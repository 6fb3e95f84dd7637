import Testing

@testable import DaybookObjectModel

/// Quotation marks and escapes in texts, whatever Unicode joins to them.
@Suite struct SubstitutingTests {
    /// Signs that are one character with what stands before them.
    private static let joining = ["\u{301}", "\u{200D}", "\u{FE0F}"]

    @Test(arguments: joining)
    func `a scalar is replaced whatever joins it`(sign: String) {
        let text = "a'\(sign)b\u{600}'c'"

        let replaced = text.substituting(["'": "x'", "x": "never"])

        #expect(
            replaced.unicodeScalars.elementsEqual("ax'\(sign)b\u{600}x'cx'".unicodeScalars))
    }

    @Test(arguments: joining)
    func `a readable text has a backslash before each quotation mark and backslash`(sign: String) {
        #expect(
            ReadableText.quoted("a\"\(sign)\\\(sign)") == "\"a\\\"\(sign)\\\\\(sign)\"")
    }

    @Test(arguments: joining)
    func `the excuse of a law is read back as it was`(sign: String) throws {
        let key = "a\"\(sign)\\\(sign)"

        let tokens = try PredicateLexer.tokens(of: LawExcuse.info(key).text)

        #expect(tokens.map(\.kind) == [.word("INFO", isEscaped: false), .text(key), .end])
    }
}
