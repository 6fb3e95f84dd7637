/// HTML in which whatever is put in as text stays text.
///
/// ```swift
/// let row: HTMLText = "<td>\(name)</td>"  // name may hold anything
/// ```
struct HTMLText: Sendable, ExpressibleByStringInterpolation {
    /// The HTML.
    private(set) var html: String

    /// HTML that was written by hand.
    init(stringLiteral html: String) {
        self.html = html
    }

    /// HTML with texts in it.
    init(stringInterpolation: Interpolation) {
        html = stringInterpolation.html
    }

    /// HTML that is made elsewhere, such as a style.
    init(trusted html: String) {
        self.html = html
    }

    /// Pieces one after the other.
    init(_ pieces: [HTMLText], separator: String = "") {
        html = pieces.map(\.html).joined(separator: separator)
    }

    /// Puts texts into HTML.
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
    /// The scalar as it stands in HTML text and attributes. What cannot be seen and could make a text
    /// look like another is named.
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
    /// The number in digits, in groups of three.
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
