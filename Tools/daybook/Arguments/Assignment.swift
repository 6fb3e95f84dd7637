/// A property and its new value on the command line: `name=Türkiye`, or in JSON `independent:=true`.
struct Assignment: Equatable, Sendable {
    /// How the value is written.
    enum Form: Equatable, Sendable {
        /// As text, of which the property's type makes a value.
        case text
        /// As JSON, as in the lines of `record`.
        case json
    }

    let name: String
    let form: Form
    let value: String

    /// Nil when there is no `=`, or nothing before it.
    init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        let before = text[..<sign]
        form = before.last == ":" ? .json : .text
        name = String(form == .json ? before.dropLast() : before)
        value = String(text[text.index(after: sign)...])
        guard !name.isEmpty else { return nil }
    }
}

extension ValueParser where Value == Assignment {
    /// A property and a value.
    static var propertyValue: ValueParser {
        ValueParser("a property and a value such as name=Norway, or in JSON population:=5") {
            Assignment($0)
        }
    }
}
