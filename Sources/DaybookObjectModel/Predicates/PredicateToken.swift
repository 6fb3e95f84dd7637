/// A word of a predicate and its location.
struct PredicateToken {
    enum Kind: Equatable {
        /// A name or keyword; escaped (`#in`) it can only be a name.
        case word(String, isEscaped: Bool)
        /// A number as written.
        case number(String)
        /// Text without its quotation marks.
        case text(String)
        /// `%@`, or `%d` and the like.
        case argument
        /// `%K`.
        case nameArgument
        /// `@count` and the other aggregates.
        case aggregate(String)
        /// `$1`: the object outside of one quantifier.
        case outer(Int)
        /// `$x`: the member that a subquery names so.
        case variable(String)
        /// Operators and brackets.
        case symbol(String)
        /// The end of the predicate.
        case end
    }

    let kind: Kind
    let column: Int

    /// Its name in a message.
    var description: String {
        switch kind {
        case .word(let word, let isEscaped): "'\(isEscaped ? "#" : "")\(word)'"
        case .number(let number): "the number \(number)"
        case .text(let text): "the text \"\(text)\""
        case .argument: "'%@'"
        case .nameArgument: "'%K'"
        case .aggregate(let name): "'@\(name)'"
        case .outer(let depth): "'$\(depth)'"
        case .variable(let name): "'$\(name)'"
        case .symbol(let symbol): "'\(symbol)'"
        case .end: "the end"
        }
    }
}

extension PredicateToken {
    /// Whether a value may end with it.
    fileprivate var endsValue: Bool {
        switch kind {
        case .word(let word, isEscaped: false):
            !Self.keywords.contains(word.uppercased())
                || ["SELF", "SIZE"].contains(word.uppercased())
        case .word, .number, .text, .argument, .nameArgument, .outer, .variable, .aggregate: true
        case .symbol(let symbol): [")", "]", "}"].contains(symbol)
        case .end: false
        }
    }
}

/// Splits a predicate into words.
struct PredicateLexer {
    private static let symbols = [
        "==", "=<", "=>", "=", "!=", "<>", "<=", ">=", "<", ">", "&&", "||", "!", "(", ")", "{",
        "}", "[", "]", ",", ".", "+", "-", "**", "*", "/", ":",
    ]

    /// What stands behind the '%' of a number, as in `printf`. An argument has its type by itself, so that all
    /// mean what '%@' means.
    private static let numberMarks: Set<String> = [
        "d", "hd", "ld", "lld", "qd", "zd", "i", "hi", "li", "lli",
        "u", "hu", "lu", "llu", "qu", "zu", "f", "lf", "e", "g",
    ]

    private let characters: [Character]
    private var index = 0

    /// What Unicode combines with an ASCII character, such as an accent after it or a sign before it
    /// that spans numbers, is a character of its own here: a quotation mark is recognized, whatever
    /// the text around it is.
    private init(_ text: String) {
        characters = text.flatMap { character -> [Character] in
            let scalars = character.unicodeScalars
            guard scalars.count > 1, scalars.contains(where: \.isASCII) else { return [character] }
            return scalars.map { Character($0) }
        }
    }

    /// The words of the text, including the end.
    static func tokens(of text: String) throws(QueryError) -> [PredicateToken] {
        var lexer = PredicateLexer(text)
        var tokens: [PredicateToken] = []
        while let token = try lexer.next(after: tokens.last) { tokens.append(token) }
        tokens.append(PredicateToken(kind: .end, column: lexer.characters.count + 1))
        return tokens
    }

    private var current: Character? {
        index < characters.count ? characters[index] : nil
    }

    private mutating func next(
        after last: PredicateToken?
    ) throws(QueryError) -> PredicateToken? {
        while current?.isWhitespace == true { index += 1 }
        guard let first = current else { return nil }
        let column = index + 1
        // Behind a value a minus sign subtracts: `age -1`.
        let isSign = first == "-" && last?.endsValue != true
        return PredicateToken(kind: try kind(startingWith: first, isSign, column), column: column)
    }

    private mutating func kind(
        startingWith first: Character, _ isSign: Bool, _ column: Int
    ) throws(QueryError) -> PredicateToken.Kind {
        if first.startsName { return .word(name(), isEscaped: false) }
        if first.isDigit
            || (isSign && index + 1 < characters.count && characters[index + 1].isDigit)
        {
            return .number(try number(column))
        }
        switch first {
        case "\"", "'": return .text(try text(first, column))
        case "#":
            index += 1
            guard current?.startsName == true else {
                throw QueryError("A name must follow '#'.", at: column)
            }
            return .word(name(), isEscaped: true)
        case "@":
            index += 1
            guard current?.startsName == true else {
                throw QueryError("A word as in '@count' must follow '@'.", at: column)
            }
            return .aggregate(name())
        case "$":
            index += 1
            if current?.startsName == true { return .variable(name()) }
            let digits = digits()
            guard let depth = Int(digits), depth > 0 else {
                throw QueryError("A number or a name must follow '$'.", at: column)
            }
            return .outer(depth)
        case "%":
            index += 1
            let letter = current
            index += 1
            if letter == "@" { return .argument }
            if letter == "K" { return .nameArgument }
            index -= 1
            if Self.numberMarks.contains(name()) { return .argument }
            throw QueryError(
                "'%@' or '%K' must follow '%'; '%@' stands for a value of any type.", at: column)
        default:
            for symbol in Self.symbols where characters[index...].starts(with: symbol) {
                index += symbol.count
                return .symbol(symbol)
            }
            throw QueryError("'\(first)' has no meaning in a predicate.", at: column)
        }
    }

    private mutating func name() -> String {
        let start = index
        while current?.continuesName == true { index += 1 }
        return String(characters[start..<index])
    }

    private mutating func digits() -> String {
        let start = index
        while current?.isDigit == true { index += 1 }
        return String(characters[start..<index])
    }

    private mutating func number(_ column: Int) throws(QueryError) -> String {
        let start = index
        if current == "-" { index += 1 }
        _ = digits()
        if current == ".", index + 1 < characters.count, characters[index + 1].isDigit {
            index += 1
            _ = digits()
        }
        if current == "e" || current == "E" {
            index += 1
            if current == "+" || current == "-" { index += 1 }
            guard !digits().isEmpty else {
                throw QueryError("Digits must follow the 'e' of a number.", at: column)
            }
        }
        guard current?.startsName != true else {
            throw QueryError(
                "A number ends in '\(name())'; text must stand in quotation marks.", at: column)
        }
        let text = String(characters[start..<index])
        guard Double(text)?.isFinite == true else {
            throw QueryError("The number \(text) is larger than any number can be.", at: column)
        }
        return text
    }

    private mutating func text(
        _ mark: Character, _ column: Int
    ) throws(QueryError) -> String {
        var text = ""
        index += 1
        while let character = current {
            index += 1
            if character == mark { return text }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            text.unicodeScalars.append(try escape())
        }
        throw QueryError(
            "The text that begins here does not end; a closing \(mark) is missing.", at: column)
    }

    /// Reads the character after a backslash; an unknown escape is an error.
    private mutating func escape() throws(QueryError) -> Unicode.Scalar {
        let column = index
        guard let character = current else {
            throw QueryError("A character must follow the backslash.", at: column)
        }
        index += 1
        switch character {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u", "U":
            let count = character == "u" ? 4 : 8
            let end = min(index + count, characters.count)
            let digits = String(characters[index..<end])
            guard digits.count == count, let code = UInt32(digits, radix: 16),
                let scalar = Unicode.Scalar(code)
            else {
                throw QueryError(
                    "\(count) hexadecimal digits of a character must follow '\\\(character)'.",
                    at: column)
            }
            index = end
            return scalar
        case "\\", "\"", "'": return character.unicodeScalars.first ?? "\\"
        default:
            throw QueryError(
                "'\\\(character)' is not an escape; write '\\\\\(character)' for a backslash.",
                at: column)
        }
    }
}

extension Character {
    fileprivate var isDigit: Bool {
        isASCII && isNumber
    }

    fileprivate var startsName: Bool {
        self == "_" || unicodeScalars.first?.properties.isAlphabetic == true && continuesName
    }

    fileprivate var continuesName: Bool {
        unicodeScalars.allSatisfy {
            $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_"
        }
    }
}
