import DaybookObjectModel
import Synchronization

/// What the declaration of a property wrapper says, kept only while a model is being built.
///
/// An object that a program works with carries no definitions: building the model once from a
/// prototype of each class is enough, and a wrapper in an ordinary object is a small zero.
final class PropertyDefinition {
    enum Kind {
        case attribute(AttributeDescription)
        case relationship(RelationshipDescription, destination: ManagedObject.Type)
    }

    /// How the declaration of a relationship names the property at the other end.
    enum Inverse {
        case keyPath(AnyKeyPath)
        case name(String)
    }

    let kind: Kind
    /// What the Swift type of an attribute adds to the model.
    let form: AttributeForm?
    /// Whether the declaration says that every object is given a value.
    let isRequired: Bool
    /// The property at the other end; nil when the declaration does not name it.
    let inverse: Inverse?
    /// The wrapper's name in the class, set by the model builder.
    var name = ""

    init(_ kind: Kind, form: AttributeForm, isRequired: Bool = false) {
        self.kind = kind
        self.form = form
        self.isRequired = isRequired
        inverse = nil
    }

    init(_ kind: Kind, inverse: Inverse?) {
        self.kind = kind
        self.inverse = inverse
        form = nil
        isRequired = false
    }
}

/// A property wrapper that declares a property of a managed object.
protocol DeclaredProperty {
    /// Which of the prototype's declarations this is, from 1; 0 except in prototypes.
    var ordinal: DefinitionOrdinal { get }
}

/// The place, from 1, of a declaration among those of a prototype; 0 for none.
@usableFromInline typealias DefinitionOrdinal = UInt16

/// The declarations of one prototype, in the order in which its wrappers were made.
final class DefinitionList {
    private var definitions: [PropertyDefinition] = []

    subscript(ordinal: DefinitionOrdinal) -> PropertyDefinition? {
        ordinal == 0 ? nil : definitions[Int(ordinal) - 1]
    }

    /// The declaration of a property.
    func named(_ name: String) -> PropertyDefinition? {
        definitions.first { $0.name == name }
    }

    func append(_ definition: PropertyDefinition) -> DefinitionOrdinal {
        definitions.append(definition)
        return DefinitionOrdinal(definitions.count)
    }
}

/// Tells wrappers whether the object being made is a prototype, whose definitions are wanted.
@usableFromInline enum Prototyping {
    // Checked by every wrapper of every object that is made, so it has to cost next to nothing: the
    // count is zero except while some thread builds a model.
    private static let count = Atomic<Int>(0)
    private static let key = "Daybook.Prototyping"

    /// Whether this thread is making a prototype.
    @usableFromInline static var isActive: Bool {
        guard count.load(ordering: .relaxed) > 0 else { return false }
        return ThreadNotes[key] != nil
    }

    /// Notes the definition of a wrapper that is initialized.
    static func note(_ definition: PropertyDefinition) -> DefinitionOrdinal {
        (ThreadNotes[key] as? DefinitionList)?.append(definition) ?? 0
    }

    /// Makes a prototype: the definitions of wrappers initialized in `body` on this thread go to a
    /// list.
    static func whileActive<Result>(
        in list: DefinitionList, _ body: () throws -> Result
    ) rethrows -> Result {
        count.add(1, ordering: .relaxed)
        let outer = ThreadNotes[key]
        ThreadNotes[key] = list
        defer {
            ThreadNotes[key] = outer
            count.subtract(1, ordering: .relaxed)
        }
        return try body()
    }
}
