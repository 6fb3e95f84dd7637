// The room of laws: rules about how the objects of an entity may change. They are read from text, and judged on the
// values that an object has before and after a change. It knows schemas and values, and no store.

/// A standing law of an entity: a rule about how its objects, and those of its subentities, may change.
///
/// A store judges each entry before it appends it, by the laws of the model in force, whoever saves. An entry that
/// breaks one is refused as a whole.
///
/// ```swift
/// EntityDescription(
///     name: "Employee", attributes: [AttributeDescription(name: "salary", type: .decimal)],
///     laws: [LawDescription("Salaries fall with a note", "salary NEVER DECREASED UNLESS NOTE")])
/// ```
///
/// | rule | what is refused |
/// |---|---|
/// | `salary NEVER CHANGED` | another value, also from null or to it |
/// | `salary NEVER INCREASED`, `… DECREASED` | a greater or a lesser number or date |
/// | `salary NEVER DECREASED BY MORE THAN 500` | a number that is lesser by more than that |
/// | `total NEVER CHANGED WHERE state == 'sent'` | the change of an object that met the condition before |
/// | `state NEVER CHANGED BECOMING state == 'draft'` | the change of an object that meets the condition after it |
/// | `NEVER DELETED WHERE state == 'sent'` | the deletion of an object that met the condition |
/// | `ONCE state == 'sent' ALWAYS` | a change after which a condition that held holds no longer |
///
/// At the end of any of them, `UNLESS` says what permits it all the same: `NOTE`, `AUTHOR`, `AUTHOR IN {'ada', 'bob'}`
/// and `INFO 'ticket'`, joined by `AND` and `OR`. `WHERE` comes before `BECOMING`. A rule is about an attribute, or a
/// to-one relationship that the object itself keeps, and its conditions look at such values of the same object only.
/// What inserts an object changes nothing.
public struct LawDescription: Sendable, Hashable {
    /// The name, for people: what an error calls the law. No other law of the entity, or of one above it, has it.
    public var name: String
    /// The rule, as in the table above.
    public var rule: String

    /// Describes a law. Whether the rule can be read is checked with the model.
    ///
    /// - Parameters:
    ///   - name: What people call it.
    ///   - rule: The rule.
    public init(_ name: String, _ rule: String) {
        self.name = name
        self.rule = rule
    }

    /// The greatest length of a name and of a rule, in bytes of UTF-8.
    package static let bytesMaximum = 4096

    /// Why the name cannot be one, as the rest of a sentence; nil when it can.
    var objectionToName: String? {
        if !name.contains(where: { !$0.isWhitespace }) { return "has no name" }
        if name.utf8.count > Self.bytesMaximum {
            return "has a name of more than \(Self.bytesMaximum) bytes"
        }
        let unfit = name.unicodeScalars.first { $0.properties.generalCategory == .control }
        return unfit.map { "has the character '\($0.escaped(asASCII: false))' in its name" }
    }
}

/// What a law forbids to happen to a property.
public enum LawChange: Sendable, Hashable, CaseIterable {
    /// Another value, also from null or to it.
    case changed
    /// A greater number or a later date.
    case increased
    /// A lesser number or an earlier date.
    case decreased

    /// The word for it in a rule.
    package var word: String { direction.rawValue }

    private var direction: FilterChange.Direction {
        switch self {
        case .changed: .changed
        case .increased: .increased
        case .decreased: .decreased
        }
    }
}

/// What permits an entry to do what a law forbids.
public enum LawExcuse: Sendable, Hashable {
    /// The entry names an author.
    case author
    /// The entry was saved by one of these.
    case authorIn([String])
    /// The entry has a note.
    case note
    /// The entry has information by that key.
    case info(String)

    /// Whether an entry gives it. A blank text says nothing.
    package func isGiven(author: String?, note: String?, info: [String: String]) -> Bool {
        switch self {
        case .author: AttributionRequirement.author.isMet(author, note, info)
        case .note: AttributionRequirement.note.isMet(author, note, info)
        case .info(let key): AttributionRequirement.info(key).isMet(author, note, info)
        case .authorIn(let names): author.map { names.contains($0) } ?? false
        }
    }

    /// The excuse as a rule has it.
    package var text: String {
        switch self {
        case .author: "AUTHOR"
        case .note: "NOTE"
        case .info(let key): "INFO " + Self.quoted(key)
        case .authorIn(let names):
            "AUTHOR IN {" + names.map { Self.quoted($0) }.joined(separator: ", ") + "}"
        }
    }

    /// What to give, in words: `a note`, `the author 'ada' or 'bob'`.
    package var noun: String {
        switch self {
        case .author: AttributionRequirement.author.noun
        case .note: AttributionRequirement.note.noun
        case .info(let key): AttributionRequirement.info(key).noun
        case .authorIn(let names):
            "the author " + names.map { ReadableText.quoted($0) }.joined(separator: " or ")
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.substituting(["\\": "\\\\", "\"": "\\\""]) + "\""
    }
}
