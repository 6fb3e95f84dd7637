/// HTML in which inserted text stays text.
///
/// ```swift
/// let row: HTMLText = "<td>\(name)</td>"  // name may hold anything
/// ```
struct HTMLText: Sendable, ExpressibleByStringInterpolation {
    /// The HTML.
    private(set) var html: String

    /// Handwritten HTML.
    init(stringLiteral html: String) {
        self.html = html
    }

    /// HTML with texts in it.
    init(stringInterpolation: Interpolation) {
        html = stringInterpolation.html
    }

    /// HTML from elsewhere, such as a style.
    init(trusted html: String) {
        self.html = html
    }

    /// Pieces in a row.
    init(_ pieces: [HTMLText], separator: String = "") {
        html = pieces.map(\.html).joined(separator: separator)
    }

    /// Inserts texts into HTML.
    struct Interpolation: StringInterpolationProtocol {
        fileprivate var html = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            html.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) {
            html += literal
        }

        mutating func appendInterpolation(_ text: String) {
            for scalar in text.unicodeScalars { html += scalar.escaped }
        }

        mutating func appendInterpolation(_ piece: HTMLText) {
            html += piece.html
        }

        mutating func appendInterpolation(_ number: UInt64) {
            html += number.grouped
        }

        mutating func appendInterpolation(_ number: Int) {
            html += number < 0 ? "-" + number.magnitude.grouped : number.magnitude.grouped
        }
    }
}

extension Unicode.Scalar {
    /// The scalar in HTML text and attributes. Invisible characters that could make a text look
    /// like another are named.
    fileprivate var escaped: String {
        switch self {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "'": "&#39;"
        case "\n", "\t": String(self)
        default:
            switch properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                "[U+\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
            default: String(self)
            }
        }
    }

    private var code: String { String(value, radix: 16, uppercase: true) }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The number in groups of three digits.
    var grouped: String {
        var digits = String(self)[...]
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits = digits.dropLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
