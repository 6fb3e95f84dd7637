/// A text to look for, as SQLite's full-text search is asked for it.
///
/// | written | finds texts with |
/// |---|---|
/// | `red herring` | both words, anywhere |
/// | `"red herring"` | the words side by side, in this order |
/// | `her*`, `"red her*"` | a word that begins so |
/// | `red OR blue` | at least one of the two |
/// | `herring -red` | the first word and not the second |
///
/// Every word is handed over in quotation marks, so nothing in it is taken for syntax.
package struct SearchText: Sendable, Hashable {
    /// The expression of FTS5.
    package let expression: String

    /// A word or a phrase. Scalars count, because SQLite knows no other characters: a quotation mark under an accent
    /// is one to it.
    private struct Item {
        var text: String.UnicodeScalarView
        var isExcluded = false
        var isPhrase = false

        /// The item as FTS5 reads it.
        var quoted: String {
            let isBeginning = text.last == "*"
            var quoted = String.UnicodeScalarView("\"".unicodeScalars)
            for scalar in isBeginning ? text.dropLast() : text[...] {
                quoted.append(scalar)
                if scalar == "\"" { quoted.append(scalar) }
            }
            quoted.append("\"")
            return String(quoted) + (isBeginning ? " *" : "")
        }

        /// Whether it joins its neighbours as alternatives.
        var isOr: Bool { !isExcluded && !isPhrase && String(text) == "OR" }

        /// Whether it has a letter or a digit; what has none is no word.
        var isWord: Bool {
            text.contains { scalar in
                switch scalar.properties.generalCategory {
                case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter,
                    .otherLetter, .decimalNumber, .letterNumber, .otherNumber, .privateUse:
                    true
                default: false
                }
            }
        }
    }

    /// - Parameter text: What to look for.
    /// - Throws: ``SearchError`` with ``SearchError/Code/text`` when there is no word to look for, or a quotation
    ///   mark is not closed.
    package init(_ text: String) throws(SearchError) {
        var groups: [[Item]] = []
        var excluded: [Item] = []
        var isAlternative = false
        for item in try Self.items(of: text) {
            if item.isOr {
                isAlternative = !groups.isEmpty
                continue
            }
            guard item.isWord else { continue }
            if item.isExcluded {
                excluded.append(item)
            } else if isAlternative {
                groups[groups.count - 1].append(item)
            } else {
                groups.append([item])
            }
            isAlternative = false
        }
        guard !groups.isEmpty else {
            throw SearchError(
                .text,
                "There is no word to look for in '\(text)'. Give at least one with a letter or a digit "
                    + "that is not excluded by '-'.")
        }
        var expression = groups.map { group in
            "(" + group.map(\.quoted).joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
        if !excluded.isEmpty {
            expression = "(\(expression)) NOT (\(excluded.map(\.quoted).joined(separator: " OR ")))"
        }
        self.expression = expression
    }

    /// The words and phrases.
    private static func items(of text: String) throws(SearchError) -> [Item] {
        var items: [Item] = []
        var rest = text.unicodeScalars[...]
        while true {
            rest = rest.drop(while: \.isSpace)
            guard let first = rest.first else { return items }
            var item = Item(text: String.UnicodeScalarView(), isExcluded: first == "-")
            if item.isExcluded { rest.removeFirst() }
            item.isPhrase = rest.first == "\""
            if item.isPhrase {
                rest.removeFirst()
                guard let end = rest.firstIndex(of: "\"") else {
                    throw SearchError(
                        .text,
                        "The phrase that begins with '\"\(String(rest.prefix(20)))' has no closing "
                            + "quotation mark.")
                }
                // A zero would end the expression for SQLite.
                item.text.append(contentsOf: rest[..<end].map { $0.value == 0 ? " " : $0 })
                rest = rest[end...].dropFirst()
                if rest.first == "*" { item.text.append(rest.removeFirst()) }
            } else {
                let word = rest.prefix { !$0.isSpace && $0 != "\"" }
                item.text.append(contentsOf: word)
                rest = rest[word.endIndex...]
            }
            items.append(item)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool { properties.isWhitespace || value == 0 }
}
