/// The words of a line, split as in shells.
///
/// Spaces separate words. In single quotes every character is literal; in double quotes, and
/// outside of quotes, a backslash makes the next character literal.
struct ShellWords {
    let words: [String]

    /// A text as one word of a line.
    static func asWord(_ text: String) -> String {
        text.reduce(into: "") { word, character in
            if " \t'\"\\".contains(character) { word += "\\" }
            word.append(character)
        }
    }

    /// - Returns: Nil when a quote is not closed, or a backslash ends the line.
    init?(_ line: some StringProtocol) {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            switch (quote, character) {
            case (nil, " "), (nil, "\t"):
                if let word { words.append(word) }
                word = nil
            case (nil, "'"), (nil, "\""):
                quote = character
                word = word ?? ""
            case (let open?, character) where open == character:
                quote = nil
            case (nil, "\\"), ("\"", "\\"):
                guard let next = rest.popFirst() else { return nil }
                word = (word ?? "") + String(next)
            default:
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil else { return nil }
        if let word { words.append(word) }
        self.words = words
    }
}
