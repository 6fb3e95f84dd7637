/// Where the values of a derived attribute come from.
///
/// A store computes the values in the entry that changes their sources; no program sets them.
///
/// ```swift
/// @Attribute(.derived("employees.@count")) private(set) var headcount: Int = 0
/// @Attribute([.derived("canonical:(name)"), .indexed]) private(set) var sortName: String = ""
/// ```
///
/// | text | value |
/// |---|---|
/// | `employees.@count` | how many objects a to-many relationship has |
/// | `employees.salary.@sum` | the sum of an attribute of these objects; 0 for none |
/// | `employees.salary.@min`, `employees.salary.@max` | the least or greatest; nil for none |
/// | `canonical:(name)` | a text of the same object without case and diacritics |
/// | `lowercase:(name)`, `uppercase:(name)` | the text in small or capital letters |
public enum Derivation: Sendable, Hashable {
    /// The number of objects that a relationship has.
    case count(relationship: String)
    /// One value from an attribute of the objects that a relationship has.
    case aggregate(Aggregate, attribute: String, relationship: String)
    /// A form of a text of the same object.
    case text(TextForm, attribute: String)

    /// How the values of several objects are combined. Objects without a value do not count.
    public enum Aggregate: String, Sendable, Hashable, CaseIterable {
        /// The sum.
        case sum
        /// The least value.
        case minimum = "min"
        /// The greatest value.
        case maximum = "max"
    }

    /// A form of a text.
    public enum TextForm: String, Sendable, Hashable, CaseIterable {
        /// Without case and diacritics: "Éclair" becomes "eclair".
        case canonical
        /// In small letters.
        case lowercase
        /// In capital letters.
        case uppercase
    }
}

extension Derivation: LosslessStringConvertible {
    /// The expression, as a model file has it.
    public var description: String {
        switch self {
        case .count(let relationship): "\(relationship).@count"
        case .aggregate(let aggregate, let attribute, let relationship):
            "\(relationship).\(attribute).@\(aggregate.rawValue)"
        case .text(let form, let attribute): "\(form.rawValue):(\(attribute))"
        }
    }

    /// Reads an expression.
    ///
    /// - Parameter text: As in the table above; `employees.@sum.salary` is read as well.
    public init?(_ text: String) {
        if let colon = text.firstIndex(of: ":") {
            let rest = text[text.index(after: colon)...]
            guard let form = TextForm(rawValue: String(text[..<colon])),
                rest.hasPrefix("("), rest.hasSuffix(")")
            else { return nil }
            let name = String(rest.dropFirst().dropLast())
            guard name.isAttributeName else { return nil }
            self = .text(form, attribute: name)
            return
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let names = parts.filter { !$0.hasPrefix("@") }
        guard let relationship = names.first, relationship == parts[0],
            names.count == parts.count - 1, names.allSatisfy(\.isPropertyName),
            let function = parts.first(where: { $0.hasPrefix("@") })?.dropFirst()
        else { return nil }
        if function == "count", names.count == 1 {
            self = .count(relationship: relationship)
        } else if let aggregate = Aggregate(rawValue: String(function)), names.count > 1 {
            let attribute = names.dropFirst().joined(separator: ".")
            self = .aggregate(aggregate, attribute: attribute, relationship: relationship)
        } else {
            return nil
        }
    }
}

extension Derivation.TextForm {
    /// The text in this form. It depends neither on a language nor on the release that makes it.
    package func text(_ text: String) -> String {
        switch self {
        case .canonical:
            text.folded(.canonical)
        case .lowercase: text.settledLowercase
        case .uppercase: text.settledUppercase
        }
    }
}
