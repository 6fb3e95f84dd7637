/// Text for display: without characters that command a terminal or reverse the order of letters.
package enum ReadableText {
    /// The text with control characters, line ends and marks of direction written out.
    ///
    /// A value in a store may hold anything; its display must show the content.
    package static func escaped(_ text: String) -> String {
        escaped(text) { _, _ in false }
    }

    /// Several lines with control characters written out, except tabs and line ends.
    package static func escapedLines(_ text: String) -> String {
        escaped(text) { scalar, next in
            scalar == "\n" || scalar == "\t" || scalar == "\r" && next == "\n"
        }
    }

    private static func escaped(
        _ text: String, but isKept: (_ scalar: Unicode.Scalar, _ next: Unicode.Scalar?) -> Bool
    ) -> String {
        let scalars = text.unicodeScalars
        if !scalars.contains(where: \.isHidden) { return text }
        var result = ""
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let scalar = scalars[index]
            scalars.formIndex(after: &index)
            let next = index < scalars.endIndex ? scalars[index] : nil
            if scalar.isHidden, !isKept(scalar, next) {
                result += escape(of: scalar)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func escape(of scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
    }

    /// The text in quotes, on one line.
    package static func quoted(_ text: String) -> String { "\"\(quotable(text))\"" }

    /// The text for use in quotes: with a backslash before its own quotes and backslashes.
    package static func quotable(_ text: String) -> String {
        escaped(text.substituting(["\\": "\\\\", "\"": "\\\""]))
    }

    /// An entry with its author and time: `entry 7 by 'bob' at 2024-01-02T12:09:00Z`.
    package static func entry(_ number: UInt64, by author: String?, at time: String) -> String {
        let by = author.map { " by '\(escaped($0))'" } ?? ""
        return "entry \(number)\(by) at \(time)"
    }
}
