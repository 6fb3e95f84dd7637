import DaybookSearch
import DaybookTestSupport
import Testing

/// How texts to look for are understood.
@Suite struct SearchTextTests {
    @Test(arguments: [
        ("red", #"("red")"#),
        ("red herring", #"("red") AND ("herring")"#),
        (#""red herring""#, #"("red herring")"#),
        ("her*", #"("her" *)"#),
        (#""red her"*"#, #"("red her" *)"#),
        ("red OR blue fish", #"("red" OR "blue") AND ("fish")"#),
        ("red OR OR blue", #"("red" OR "blue")"#),
        ("OR red OR", #"("red")"#),
        (#""OR""#, #"("OR")"#),
        ("herring -red -\"blue fish\"", #"(("herring")) NOT ("red" OR "blue fish")"#),
        ("NEAR(a b) col:x ^y", #"("NEAR(a") AND ("b)") AND ("col:x") AND ("^y")"#),
        ("and not", #"("and") AND ("not")"#),
        ("a - b !!", #"("a") AND ("b")"#),
        ("Ünïted 東京 ٣", #"("Ünïted") AND ("東京") AND ("٣")"#),
    ])
    func `words are quoted, and nothing else is syntax`(text: String, expression: String) throws {
        #expect(try SearchText(text).expression == expression)
    }

    @Test(arguments: ["", "   ", "-red", "!!! ...", "*", "OR", "\"\"", "\u{0}"])
    func `a text without a word is refused`(text: String) {
        let error = #expect(throws: SearchError.self) { try SearchText(text) }
        #expect(error?.code == .text)
    }

    @Test func `a phrase without an end is refused`() {
        let error = #expect(throws: SearchError.self) { try SearchText("red \"herring") }
        #expect(error?.message.contains("closing quotation mark") == true)
    }
}
