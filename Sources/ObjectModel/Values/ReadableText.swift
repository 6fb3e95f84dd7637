/// Text for a screen: nothing in it commands a terminal or turns the order of letters round.
package enum ReadableText {
    /// The text with control characters, line ends and marks of direction written out.
    ///
    /// A value in a store may hold anything; what is shown must be what is there.
    package static func escaped(_ text: String) -> String {
        if !text.unicodeScalars.contains(where: isUnsafe) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isUnsafe(scalar):
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// The text in quotes, on one line.
    package static func quoted(_ text: String) -> String { "\"\(quotable(text))\"" }

    /// The text as it stands between quotes: with a backslash before quotes and backslashes of its own.
    package static func quotable(_ text: String) -> String {
        escaped(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))
    }

    /// An entry, who saved it and when: `entry 7 by 'bob' at 2024-01-02T12:09:00Z`.
    package static func entry(_ number: UInt64, by author: String?, at time: String) -> String {
        let by = author.map { " by '\(escaped($0))'" } ?? ""
        return "entry \(number)\(by) at \(time)"
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x20...0x7E: false
        case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
