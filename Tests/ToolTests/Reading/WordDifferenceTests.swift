import DaybookTestSupport
import Foundation
import Testing

/// Texts that change in part.
@Suite struct WordDifferenceTests {
    /// A line of JSON that makes a shelf, and one that changes its label.
    private static func lines(from old: String, to new: String) throws -> String {
        func quoted(_ text: String) throws -> String {
            String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        }
        return """
            {"op":"insert","entity":"Shelf","ref":"s","values":{"label":\(try quoted(old))}}
            {"op":"save"}
            {"op":"update","entity":"Shelf","match":{"label":\(try quoted(old))},\
            "values":{"label":\(try quoted(new))}}
            {"op":"save"}

            """
    }

    /// The change in `diff`.
    private func difference(
        from old: String, to new: String, _ options: [String] = []
    ) throws -> ToolResult {
        let library = try LibraryStore(content: try Self.lines(from: old, to: new))
        return try library.run(["diff", "library.daybook", "2", "3"] + options)
    }

    @Test(
        arguments: [
            ("one-word", "The quick brown fox jumps", "The slow brown fox jumps"),
            ("several-words", "A house with a red door", "A house with two green windows"),
            ("words-removed", "This is not what was meant", "This is what was meant"),
            ("words-added", "At the end", "At the very end of the day"),
            ("nothing-alike", "Czech Republic", "Czechia"),
            ("one-word-alone", "Turkey", "Türkiye"),
            ("from-empty", "", "Some words"),
            ("quotes", #"He said "no" and left"#, #"He said "yes" and left"#),
            ("spaces", "Two  words and more", "Two words and more"),
            ("marks", "A [-literal-] mark here", "A [-literal-] sign here"),
            (
                "lines", "Dear reader,\nfirst line\nsecond line\nthird line\nfourth line\nBye",
                "Dear reader,\nfirst line\nsecond line\nthird row\nfourth line\nBye"
            ),
            ("line-added", "one two\nthree four\nfive", "one two\ninserted\nthree four\nfive"),
            ("line-removed", "one two\nthree four\nfive six", "one two\nfive six"),
            ("control", "A word and \u{1B}[31m red", "A word and \u{1B}[32m green"),
        ])
    func `a text is shown with its changed words marked`(
        name: String, old: String, new: String
    ) throws {
        let result = try difference(from: old, to: new)

        try Fixture.expect(
            Data("--- \(old)\n+++ \(new)\n\(result.text)".utf8), equals: "cli/words/\(name).txt")
    }

    @Test func `in colour words are red and green, and have no marks`() throws {
        let colored = try difference(
            from: "A quick fox", to: "A slow fox", ["--color", "always"])
        let plain = try difference(from: "A quick fox", to: "A slow fox")

        #expect(colored.text.contains("A \u{1B}[31mquick\u{1B}[0m\u{1B}[32mslow\u{1B}[0m fox"))
        #expect(plain.text.contains("A [-quick-]{+slow+} fox"))
    }

    @Test func `programs get whole values, without marks`() throws {
        let result = try difference(
            from: "A quick fox", to: "A slow fox", ["--output", "jsonl"])

        #expect(result.text.contains(#""old":{"label":"A quick fox"}"#))
        #expect(result.text.contains(#""new":{"label":"A slow fox"}"#))
    }

    @Test(arguments: [UInt64(11), 12, 13])
    func `old and new text can be read from the marks`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let words = ["ab", "cd", "ef", "gh", "ij"]
        var texts = ["start"]
        for _ in 0..<40 {
            let count = Int.random(in: 1...9, using: &generator)
            let picked = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }
            let text = picked.joined(separator: " ")
            if text != texts.last { texts.append(text) }
        }
        var lines = #"{"op":"insert","entity":"Shelf","values":{"label":"start"}}"# + "\n"
        lines += #"{"op":"save"}"# + "\n"
        for text in texts.dropFirst() {
            lines += #"{"op":"update","object":"Shelf/1","values":{"label":"\#(text)"}}"# + "\n"
            lines += #"{"op":"save"}"# + "\n"
        }
        let library = try LibraryStore(content: lines)

        let log = try library.run(["log", "library.daybook", "3..", "-p", "--reverse"])

        let shown = log.lines.compactMap { line in
            line.firstMatch(of: /^        label  (.*)$/).map { String($0.1) }
        }
        try #require(shown.count == texts.count - 1, "seed \(seed): \(log.text)")
        for (index, line) in shown.enumerated() {
            let sides = line.split(separator: " → ")
            let old =
                sides.count == 2
                ? String(sides[0])
                : line.replacing(/\{\+.*?\+\}/, with: "").replacing(/\[-(.*?)-\]/) { $0.1 }
            let new =
                sides.count == 2
                ? String(sides[1])
                : line.replacing(/\[-.*?-\]/, with: "").replacing(/\{\+(.*?)\+\}/) { $0.1 }
            #expect(old == "\"\(texts[index])\"", "seed \(seed): \(line)")
            #expect(new == "\"\(texts[index + 1])\"", "seed \(seed): \(line)")
        }
        #expect(shown.contains { $0.contains("[-") }, "seed \(seed)")
    }
}
