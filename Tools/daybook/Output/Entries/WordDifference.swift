/// The differences between a text and an older one, word by word.
///
/// Removed words are in `[-…-]`, new ones in `{+…+}`, as in `git diff --word-diff`; in colour they are red and green
/// without marks, as in `git diff --color-words`.
struct WordDifference {
    /// A part of both texts or of one of them.
    enum Part: Equatable {
        case same(String)
        case removed(String)
        case added(String)
    }

    let parts: [Part]

    /// Compares two texts.
    ///
    /// - Returns: Nil if too little is equal for the marks to help, or if comparing would take
    ///   long; then both texts are better shown one after the other.
    init?(from old: String, to new: String) {
        let (older, newer) = (Self.words(of: old), Self.words(of: new))
        let head = zip(older, newer).prefix { $0 == $1 }.count
        let rest = min(older.count, newer.count) - head
        let tail = zip(older.reversed(), newer.reversed()).prefix(rest).prefix { $0 == $1 }.count
        let middle = (older.dropFirst(head).dropLast(tail), newer.dropFirst(head).dropLast(tail))
        guard max(middle.0.count, middle.1.count) <= Self.comparedMaximum else { return nil }

        var parts = [Part.same(older.prefix(head).joined())]
        parts += Self.steps(from: Array(middle.0), to: Array(middle.1))
        parts.append(.same(older.suffix(tail).joined()))
        parts = Self.joined(parts)
        guard Self.areAlike(parts, older, newer) else { return nil }
        self.parts = parts
    }

    /// Up to this many words all numbers of steps between two texts are tried.
    private static let comparedMaximum = 600

    // MARK: - Words

    /// The text cut into words, runs of spaces, and single characters of any other kind.
    private static func words(of text: String) -> [Substring] {
        var words: [Substring] = []
        var start = text.startIndex
        while start < text.endIndex {
            let kind = Kind(text[start])
            var end = text.index(after: start)
            if kind != .other {
                while end < text.endIndex, Kind(text[end]) == kind { text.formIndex(after: &end) }
            }
            words.append(text[start..<end])
            start = end
        }
        return words
    }

    private enum Kind {
        case word
        case space
        case other

        init(_ character: Character) {
            if character.isLetter || character.isNumber {
                self = .word
            } else {
                self = character.isWhitespace && !character.isNewline ? .space : .other
            }
        }
    }

    /// The shortest sequence of steps from one list of words to another.
    private static func steps(from old: [Substring], to new: [Substring]) -> [Part] {
        let difference = new.difference(from: old)
        var removed: Set<Int> = []
        var added: Set<Int> = []
        for step in difference {
            switch step {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): added.insert(offset)
            }
        }
        var parts: [Part] = []
        var (from, to) = (0, 0)
        while from < old.count || to < new.count {
            if from < old.count, removed.contains(from) {
                parts.append(.removed(String(old[from])))
                from += 1
            } else if to < new.count, added.contains(to) {
                parts.append(.added(String(new[to])))
                to += 1
            } else {
                parts.append(.same(String(old[from])))
                from += 1
                to += 1
            }
        }
        return parts
    }

    /// Joins neighbours of one kind, and changes with only spaces between them.
    private static func joined(_ parts: [Part]) -> [Part] {
        var result: [Part] = []
        var (same, removed, added) = ("", "", "")
        func isOnlySpace(_ text: String) -> Bool { text.allSatisfy { $0 == " " } }
        func endChange() {
            if !removed.isEmpty { result.append(.removed(removed)) }
            if !added.isEmpty { result.append(.added(added)) }
            (removed, added) = ("", "")
        }
        func beginChange() {
            guard !same.isEmpty else { return }
            if isOnlySpace(same), !removed.isEmpty, !added.isEmpty {
                removed += same
                added += same
            } else {
                endChange()
                result.append(.same(same))
            }
            same = ""
        }
        for part in parts {
            switch part {
            case .same(let text): same += text
            case .removed(let text):
                beginChange()
                removed += text
            case .added(let text):
                beginChange()
                added += text
            }
        }
        endChange()
        if !same.isEmpty { result.append(.same(same)) }
        return result
    }

    /// Whether a third of the words of the longer text are kept, and the text has more than one.
    private static func areAlike(
        _ parts: [Part], _ old: [Substring], _ new: [Substring]
    ) -> Bool {
        func count(_ words: [Substring]) -> Int {
            words.count { $0.first.map { Kind($0) == .word } ?? false }
        }
        let same = parts.reduce(0) { sum, part in
            guard case .same(let text) = part else { return sum }
            return sum + count(words(of: text))
        }
        let longer = max(count(old), count(new))
        return longer > 1 && same * 3 >= longer
    }
}

/// A difference of words as lines for people.
struct WordDifferenceText {
    /// The number of lines shown before and after a changed one.
    private static let surroundings = 1

    private let palette: Palette

    init(_ palette: Palette) {
        self.palette = palette
    }

    /// The lines of the texts, those with changes marked in the margin by `~`; several unchanged
    /// lines in a row are only counted. Texts of one line are in quotes and have no margin.
    func lines(of difference: WordDifference, quoting quote: (String) -> String) -> [String] {
        var lines: [(text: String, isChanged: Bool)] = [("", false)]
        func add(_ text: String, _ open: String, _ close: String, _ style: Style) {
            let marked = palette.isColored ? quote(text) : open + quote(text) + close
            lines[lines.count - 1].text += palette(marked, style)
            lines[lines.count - 1].isChanged = true
        }
        for part in difference.parts {
            switch part {
            case .same(let text):
                let pieces = text.split(separator: "\n", omittingEmptySubsequences: false)
                for (index, piece) in pieces.enumerated() {
                    if index > 0 { lines.append(("", false)) }
                    lines[lines.count - 1].text += quote(String(piece))
                }
            case .removed(let text): add(text, "[-", "-]", .removed)
            case .added(let text):
                // A newline inside the text closes the mark on this line.
                add(text, "{+", "+}", .added)
                if text.hasSuffix("\n") { lines.append(("", false)) }
            }
        }
        guard lines.count > 1 else { return ["\"\(lines[0].text)\""] }
        return margined(lines)
    }

    private func margined(_ lines: [(text: String, isChanged: Bool)]) -> [String] {
        var shown: [String] = []
        var skipped = 0
        func tellSkipped() {
            guard skipped > 0 else { return }
            let count = skipped == 1 ? "1 line" : "\(skipped) lines"
            shown.append(palette("  … \(count) as before", .faint))
            skipped = 0
        }
        for (index, line) in lines.enumerated() {
            let near =
                max(
                    0, index - Self.surroundings)...min(
                    lines.count - 1, index + Self.surroundings)
            guard lines[near].contains(where: \.isChanged) else {
                skipped += 1
                continue
            }
            tellSkipped()
            shown.append((line.isChanged ? "~ " : "  ") + line.text)
        }
        tellSkipped()
        return shown
    }
}
