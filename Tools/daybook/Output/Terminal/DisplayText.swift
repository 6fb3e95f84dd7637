import DaybookObjectModel

/// Text for a terminal: its width, and its form without control sequences.
enum DisplayText {
    /// The number of terminal columns that a text takes.
    static func width(of text: String) -> Int {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + width(of: $1) }
    }

    /// The number of columns of one character: 0, 1 or 2.
    static func width(of character: Character) -> Int {
        var widest = 0
        for scalar in character.unicodeScalars {
            if scalar == "\u{FE0F}" || isRegionalIndicator(scalar) { return 2 }
            widest = max(widest, width(of: scalar))
        }
        return widest
    }

    /// The text cut to a width, with an ellipsis in the last column if it was cut.
    ///
    /// - Complexity: O(*limit*), however long the text is.
    static func truncated(_ text: String, to limit: Int) -> String {
        guard limit > 0 else { return text }
        // What is kept if the text is cut.
        var kept = text.startIndex
        var used = 0
        var index = text.startIndex
        while index < text.endIndex {
            used += width(of: text[index])
            if used > limit { return text[..<kept] + "…" }
            text.formIndex(after: &index)
            if used < limit { kept = index }
        }
        return text
    }

    /// The first characters of a text, and how many bytes of it follow.
    ///
    /// - Complexity: O(*characters*), however long the text is.
    static func beginning(of text: String, characters: Int) -> (text: String, rest: Int) {
        // A letter may have any number of accents.
        let scalars = text.unicodeScalars
        guard text.utf8.count > characters,
            let end = scalars.index(
                scalars.startIndex, offsetBy: characters, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return (text, 0) }
        let shown = String(scalars[..<end])
        return (shown, text.utf8.count - shown.utf8.count)
    }

    /// The text with control characters written out.
    ///
    /// A value in a store may hold anything, even sequences that repaint a terminal or reverse the
    /// order of letters; the output must show what is there.
    static func escaped(_ text: String) -> String { ReadableText.escaped(text) }

    /// Several lines with control characters written out, except tabs and line ends.
    static func escapedLines(_ text: String) -> String { ReadableText.escapedLines(text) }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    private static func width(of scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // The second and third parts of a Hangul syllable are drawn over the first.
        if (0x1160...0x11FF).contains(scalar.value) { return 0 }
        if scalar.properties.isEmojiPresentation { return 2 }
        return isWide(scalar.value) ? 2 : 1
    }

    /// The ranges that are wide or fullwidth according to UAX #11 (East Asian Width).
    private static func isWide(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        return switch value {
        case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF,
            0x4E00...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
            0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF,
            0x1B000...0x1B2FB, 0x1F200...0x1F2FF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
