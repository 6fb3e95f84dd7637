public import DaybookObjectModel
public import Foundation

/// A standing law of a class: a rule about how its objects may change.
///
/// ```swift
/// override class var laws: [Law] {
///     [
///         Law(
///             "Salaries fall with a note", \Employee.salary, never: .decreased, unless: .note),
///         Law("Who has left stays away", "ONCE hasLeft == TRUE ALWAYS"),
///     ]
/// }
/// ```
///
/// What a rule can say is told by ``LawDescription``, which the model has for each.
public struct Law {
    private enum Content {
        case rule(String)
        /// A rule without the property that it begins with.
        case property(AnyKeyPath, rest: String)
    }

    /// The name, for people: what an error calls the law.
    public let name: String
    private let content: Content

    /// A law as a rule.
    ///
    /// - Parameters:
    ///   - name: What people call it; no other law of the class, or of one above it, has the name.
    ///   - rule: The rule, as ``LawDescription`` tells.
    public init(_ name: String, _ rule: String) {
        self.name = name
        content = .rule(rule)
    }

    /// A law about one property.
    ///
    /// - Parameters:
    ///   - name: What people call it; no other law of the class, or of one above it, has the name.
    ///   - property: An attribute, or a to-one relationship that the object itself keeps.
    ///   - change: What never happens to it.
    ///   - amount: Only by more than that; of numbers.
    ///   - start: Only to objects that met this condition before.
    ///   - end: Only to objects that meet this condition then.
    ///   - excuses: What permits it, each of them alone. Write a rule for several together.
    public init<Object: ManagedObject, Value>(
        _ name: String, _ property: KeyPath<Object, Value>, never change: LawChange,
        byMoreThan amount: Decimal? = nil, where start: String? = nil,
        becoming end: String? = nil, unless excuses: LawExcuse...
    ) {
        self.name = name
        var words = ["NEVER", change.word]
        if let amount { words.append("BY MORE THAN \(amount.plainText)") }
        if let start { words.append("WHERE \(start)") }
        if let end { words.append("BECOMING \(end)") }
        if !excuses.isEmpty {
            words.append("UNLESS " + excuses.map(\.text).joined(separator: " OR "))
        }
        content = .property(property, rest: words.joined(separator: " "))
    }

    /// The law as a model has it; nil when its key path leads to no property of the object.
    func description(on prototype: ManagedObject) -> LawDescription? {
        switch content {
        case .rule(let rule): return LawDescription(name, rule)
        case .property(let keyPath, let rest):
            guard case .properties(let names) = KeyPathProbe.meaning(of: keyPath, on: prototype),
                names.count == 1
            else { return nil }
            return LawDescription(name, "\(LawDescription.word(names[0])) \(rest)")
        }
    }
}
