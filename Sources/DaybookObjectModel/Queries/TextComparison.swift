import Foundation

/// The differences to ignore when comparing text.
package struct TextOptions: OptionSet, Sendable, Hashable, BitwiseCopyable {
    /// The bits.
    package let rawValue: UInt8

    /// Wraps bits.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Upper and lower case are the same: `[c]`.
    package static let caseInsensitive = TextOptions(rawValue: 1)
    /// Letters with and without accents are the same: `[d]`.
    package static let diacriticInsensitive = TextOptions(rawValue: 2)
}

extension String {
    /// The text without the differences that the options ignore, so that the results can be
    /// compared byte by byte. All releases have the same results.
    package func folded(_ options: TextOptions) -> String {
        guard !options.isEmpty else { return self }
        if utf8.allSatisfy({ $0 < 0x80 }) {
            return options.contains(.caseInsensitive) ? lowercased() : self
        }
        var text = self
        if options.contains(.diacriticInsensitive) {
            var scalars = String.UnicodeScalarView()
            for scalar in text.settledDecomposition.unicodeScalars
            where !scalar.isSettled || scalar.properties.generalCategory != .nonspacingMark {
                scalars.append(scalar)
            }
            text = String(scalars)
        }
        // Via upper case, because "ß" and "SS" are the same when case is ignored.
        return options.contains(.caseInsensitive) ? text.settledUppercase.settledLowercase : text
    }

    func begins(withBytesOf other: String) -> Bool {
        utf8.starts(with: other.utf8)
    }

    func ends(withBytesOf other: String) -> Bool {
        utf8.reversed().starts(with: other.utf8.reversed())
    }

    /// Whether another text is in this one, in whatever spelling of its letters, and whatever follows
    /// the last one: a mark that is put on a letter hides nothing from a search.
    package func holds(anySpellingOf other: String) -> Bool {
        if holds(bytesOf: other) { return true }
        guard other.utf8.contains(where: { $0 >= 0x80 }) else { return false }
        return settledDecomposition.holds(bytesOf: other.settledDecomposition)
    }

    func holds(bytesOf other: String) -> Bool {
        let count = other.utf8.count
        guard count > 0 else { return true }
        guard count <= utf8.count else { return false }
        var start = utf8.startIndex
        let last = utf8.index(utf8.endIndex, offsetBy: -count)
        while start <= last {
            if utf8[start...].starts(with: other.utf8) { return true }
            utf8.formIndex(after: &start)
        }
        return false
    }
}

/// The right side of a text operator, prepared once.
struct TextPattern: Sendable {
    private enum Kind: Sendable {
        case bytes(String)
        case wildcards([Wildcard])
        case expression(TextExpression)
        case nothing
    }

    /// A part of a pattern. It is compared with scalars, as in SQLite and in Core Data's stores: what makes up one
    /// letter on a screen differs from release to release, and two spellings of it are two texts to the other
    /// operators as well.
    private enum Wildcard: Sendable {
        case character(Unicode.Scalar)
        case one
        case many
    }

    private let kind: Kind
    private let `operator`: FilterOperator
    private let options: TextOptions

    /// Prepares text; nil for operators that do not compare text.
    init?(_ text: String, for operator: FilterOperator, _ options: TextOptions) {
        guard `operator`.isTextual || (!options.isEmpty && `operator`.mirrored != nil) else {
            return nil
        }
        self.operator = `operator`
        self.options = options
        switch `operator` {
        case .like: kind = .wildcards(Self.wildcards(text.folded(options)))
        case .matches:
            kind = Self.expression(text, options).map { .expression($0) } ?? .nothing
        default: kind = .bytes(text.folded(options))
        }
    }

    /// Whether the text matches the pattern.
    ///
    /// - Throws: ``QueryError`` when that takes more steps, or more memory, than are available.
    func matches(_ text: String) throws(QueryError) -> Bool {
        switch kind {
        case .bytes(let pattern):
            let folded = text.folded(options)
            switch `operator` {
            case .beginsWith: return folded.begins(withBytesOf: pattern)
            case .endsWith: return folded.ends(withBytesOf: pattern)
            case .contains: return folded.holds(bytesOf: pattern)
            default: return `operator`.holds(.string(folded), .string(pattern))
            }
        case .wildcards(let pattern):
            return
                Self.match(Array(text.folded(options).unicodeScalars), pattern)
        case .expression(let expression):
            let subject = options.contains(.diacriticInsensitive) ? text.folded(options) : text
            switch expression.answer(to: subject) {
            case .matches: return true
            case .differs: return false
            case .unknown:
                throw QueryError(
                    "Whether a text of \(text.unicodeScalars.count) characters fits this pattern of "
                        + "MATCHES takes too long to find out. Write the pattern without possessive "
                        + "quantifiers, back references and look-around, or compare with LIKE or CONTAINS."
                )
            }
        case .nothing: return false
        }
    }

    /// The regular expression for the whole text; nil when it is not one.
    ///
    /// The parser refuses an invalid pattern; from elsewhere such a pattern matches no text.
    static func expression(_ text: String, _ options: TextOptions) -> TextExpression? {
        TextExpression(
            options.contains(.diacriticInsensitive) ? text.folded(.diacriticInsensitive) : text,
            ignoringCase: options.contains(.caseInsensitive))
    }

    private static func wildcards(_ text: String) -> [Wildcard] {
        var found: [Wildcard] = []
        var isEscaped = false
        for character in text.unicodeScalars {
            switch character {
            case _ where isEscaped:
                found.append(.character(character))
                isEscaped = false
            case "\\": isEscaped = true
            case "?": found.append(.one)
            case "*": found.append(.many)
            default: found.append(.character(character))
            }
        }
        if isEscaped { found.append(.character("\\")) }
        return found
    }

    /// Walks both in parallel and, on a mismatch, extends the last `*` by one character: never
    /// worse than the product of both lengths.
    private static func match(_ text: [Unicode.Scalar], _ pattern: [Wildcard]) -> Bool {
        var index = 0
        var next = 0
        var retry: (index: Int, next: Int)?
        while index < text.count {
            if next < pattern.count {
                switch pattern[next] {
                case .many:
                    retry = (index, next + 1)
                    next += 1
                    continue
                case .one:
                    index += 1
                    next += 1
                    continue
                case .character(let character) where character == text[index]:
                    index += 1
                    next += 1
                    continue
                default: break
                }
            }
            guard let last = retry else { return false }
            retry = (last.index + 1, last.next)
            (index, next) = (last.index + 1, last.next)
        }
        return pattern[next...].allSatisfy { if case .many = $0 { true } else { false } }
    }
}
