import DaybookObjectModel
import Synchronization

/// The declaration made by a property wrapper, kept only while a model is being built.
///
/// An object that a program works with carries no definitions: building the model once from a
/// prototype of each class is enough, and a wrapper in an ordinary object is a small zero.
final class PropertyDefinition {
    enum Kind {
        case attribute(AttributeDescription)
        case relationship(RelationshipDescription, destination: ManagedObject.Type)
        /// The attributes of ``PropertyDefinition/elements`` together.
        case composite(CompositeForm, renamed: String?, gathering: [String: String])
    }

    /// How a relationship's declaration names the property at the other end.
    enum Inverse {
        case keyPath(AnyKeyPath)
        case name(String)
        case itself
    }

    let kind: Kind
    /// What the Swift type of an attribute adds to the model.
    let form: AttributeForm?
    /// Whether the declaration requires a value for every object.
    let isRequired: Bool
    /// What the declaration says an attribute is derived from, if nothing can be.
    let unknownDerivation: String?
    /// The property at the other end; nil when the declaration does not name it.
    let inverse: Inverse?
    /// The definitions of the attributes that a composite attribute consists of.
    let elements: [PropertyDefinition]
    /// The earlier name of the attribute, if the declaration of its composite attribute gives one.
    private(set) var earlierName: String?
    /// The wrapper's name in the class, set by the model builder.
    var name = "" {
        didSet { nameElements() }
    }

    init(
        _ kind: Kind, form: AttributeForm, isRequired: Bool = false,
        unknownDerivation: String? = nil
    ) {
        self.kind = kind
        self.form = form
        self.isRequired = isRequired
        self.unknownDerivation = unknownDerivation
        inverse = nil
        elements = []
    }

    init(_ kind: Kind, inverse: Inverse?) {
        self.kind = kind
        self.inverse = inverse
        form = nil
        isRequired = false
        unknownDerivation = nil
        elements = []
    }

    init(
        compositeOf elements: [PropertyDefinition], _ form: CompositeForm,
        renamed earlierName: String?, gathering gathered: [String: String]
    ) {
        kind = .composite(form, renamed: earlierName, gathering: gathered)
        self.elements = elements
        self.form = nil
        inverse = nil
        isRequired = false
        unknownDerivation = nil
    }

    /// Names the elements after the composite attribute.
    private func nameElements() {
        guard case .composite(let form, let earlier, let gathered) = kind else { return }
        for (element, leaf) in zip(elements, form.leaves) {
            element.name = "\(name).\(leaf.path)"
            let isRenamed = earlier != nil || leaf.earlierPath != nil
            element.earlierName =
                gathered[leaf.path]
                ?? (isRenamed ? "\(earlier ?? name).\(leaf.earlierPath ?? leaf.path)" : nil)
        }
    }
}

/// A property wrapper that declares a property of a managed object.
protocol DeclaredProperty {
    /// Which of the prototype's declarations this is, from 1; 0 except in prototypes.
    var ordinal: DefinitionOrdinal { get }
}

/// The position, from 1, of a declaration among those of a prototype; 0 for none.
@usableFromInline typealias DefinitionOrdinal = UInt16

/// The declarations of one prototype, in the order in which its wrappers were made.
final class DefinitionList {
    private var definitions: [PropertyDefinition] = []

    subscript(ordinal: DefinitionOrdinal) -> PropertyDefinition? {
        ordinal == 0 ? nil : definitions[Int(ordinal) - 1]
    }

    /// The declaration of a property.
    func named(_ name: String) -> PropertyDefinition? {
        definitions.lazy.flatMap { [$0] + $0.elements }.first { $0.name == name }
    }

    func append(_ definition: PropertyDefinition) -> DefinitionOrdinal {
        definitions.append(definition)
        return DefinitionOrdinal(definitions.count)
    }
}

/// Tells wrappers whether the object being made is a prototype, whose definitions are collected.
@usableFromInline enum Prototyping {
    // Checked by every wrapper of every new object, so it must cost next to nothing: the count is zero
    // except while some thread builds a model.
    private static let count = Atomic<Int>(0)
    private static let key = "Daybook.Prototyping"

    /// Whether this thread is making a prototype.
    @usableFromInline static var isActive: Bool {
        guard count.load(ordering: .relaxed) > 0 else { return false }
        return ThreadValues[key] != nil
    }

    /// Records the definition of a wrapper that is being initialized.
    static func record(_ definition: PropertyDefinition) -> DefinitionOrdinal {
        (ThreadValues[key] as? DefinitionList)?.append(definition) ?? 0
    }

    /// Makes a prototype: the definitions of wrappers initialized in `body` on this thread go to a
    /// list.
    static func whileActive<Result>(
        in list: DefinitionList, _ body: () throws -> Result
    ) rethrows -> Result {
        count.add(1, ordering: .relaxed)
        let outer = ThreadValues[key]
        ThreadValues[key] = list
        defer {
            ThreadValues[key] = outer
            count.subtract(1, ordering: .relaxed)
        }
        return try body()
    }
}
