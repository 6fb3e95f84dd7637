import ObjectModel
import Synchronization

/// What the declaration of a property wrapper says, kept only while a model is being built.
///
/// An object that a program works with carries no definitions: building the model once from a
/// prototype of each class is enough, and a wrapper in an ordinary object is a single empty word.
final class PropertyDefinition {
    enum Kind {
        case attribute(AttributeDescription)
        case relationship(RelationshipDescription, destination: ManagedObject.Type)
    }

    var kind: Kind
    /// The property at the other end, as its declaration named it.
    let inverse: AnyKeyPath?
    /// The wrapper's name in the class, set by the model builder.
    var name = ""

    init(_ kind: Kind, inverse: AnyKeyPath? = nil) {
        self.kind = kind
        self.inverse = inverse
    }
}

/// A property wrapper that declares a property of a managed object.
protocol DeclaredProperty {
    /// The declaration; nil except in prototypes.
    var definition: PropertyDefinition? { get }
}

/// Tells wrappers whether the object being made is a prototype, whose definitions are wanted.
enum Prototyping {
    // Checked by every wrapper of every object that is made, so it has to cost next to nothing: the
    // count is zero except while some thread builds a model.
    private static let count = Atomic<Int>(0)
    private static let key = "Daybook.Prototyping"

    /// Whether this thread is making a prototype.
    static var isActive: Bool {
        guard count.load(ordering: .relaxed) > 0 else { return false }
        return ThreadNotes[key] != nil
    }

    /// Makes a prototype: wrappers initialized in `body` on this thread keep their definitions.
    static func whileActive<Result>(_ body: () throws -> Result) rethrows -> Result {
        count.add(1, ordering: .relaxed)
        let outer = ThreadNotes[key]
        ThreadNotes[key] = true
        defer {
            ThreadNotes[key] = outer
            count.subtract(1, ordering: .relaxed)
        }
        return try body()
    }
}
