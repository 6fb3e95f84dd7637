public import DaybookObjectModel
import DaybookStopping

// What does not compile, and what to write instead. The compiler looks for an initializer without
// arguments in the type itself, so that one stands there.

extension Attribute {
    /// An enumeration has to join.
    @available(
        *, unavailable,
        message: "conform the type to AttributeValue, as in 'enum Mood: String, AttributeValue'"
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: AttributeOptions = []
    ) where Value: RawRepresentable {
        stop("This initializer is unavailable.")
    }

    /// An enumeration has to join.
    @available(
        *, unavailable,
        message: "conform the type to AttributeValue, as in 'enum Mood: String, AttributeValue'"
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: AttributeOptions = []
    ) where Value: RawRepresentable & Codable {
        stop("This initializer is unavailable.")
    }

    /// A coded type has to join.
    @available(
        *, unavailable,
        message: """
            conform the type to CodableAttributeValue, as in \
            'struct Address: CodableAttributeValue', and it is kept as JSON
            """
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: AttributeOptions = []
    ) where Value: Codable {
        stop("This initializer is unavailable.")
    }

    /// An enumeration has to join.
    @available(
        *, unavailable,
        message: "conform the type to AttributeValue, as in 'enum Mood: String, AttributeValue'"
    )
    public init<Wrapped>(
        wrappedValue: @autoclosure () -> Value, _ options: AttributeOptions = []
    ) where Value == Wrapped?, Wrapped: RawRepresentable {
        stop("This initializer is unavailable.")
    }

    /// Objects are related.
    @available(*, unavailable, message: "a property that leads to an object is a @Relationship")
    public init<Wrapped: ManagedObject>(
        wrappedValue: @autoclosure () -> Value, _ options: AttributeOptions = []
    ) where Value == Wrapped? {
        stop("This initializer is unavailable.")
    }
}

extension Relationship {
    /// There may be nothing at the other end.
    @available(
        *, unavailable,
        message: """
            a to-one relationship may lead to nothing: make it optional, as in 'var owner: Person?', \
            and say 'isOptional: false' if an object cannot be saved without
            """
    )
    public init(
        _ deleteRule: DeleteRule = .nullify, inverseName: String? = nil, isOptional: Bool = true
    ) where Value: ManagedObject {
        stop("This initializer is unavailable.")
    }

    /// There may be nothing at the other end.
    @available(
        *, unavailable,
        message: """
            a to-one relationship may lead to nothing: make it optional, as in 'var owner: Person?', \
            and say 'isOptional: false' if an object cannot be saved without
            """
    )
    public init<Other: ManagedObject>(
        _ deleteRule: DeleteRule = .nullify, inverse: PartialKeyPath<Other>,
        isOptional: Bool = true
    ) where Value: ManagedObject {
        stop("This initializer is unavailable.")
    }

    /// New objects are related to nothing.
    @available(
        *, unavailable,
        message: "the relationships of a new object are empty: leave the value out"
    )
    public init(wrappedValue: Value, _ deleteRule: DeleteRule = .nullify)
    where Value: RelationshipValue {
        stop("This initializer is unavailable.")
    }

    /// New objects are related to nothing.
    @available(
        *, unavailable,
        message: "the relationships of a new object are empty: leave the value out"
    )
    public init<Other: ManagedObject>(
        wrappedValue: Value, _ deleteRule: DeleteRule = .nullify, inverse: PartialKeyPath<Other>
    ) where Value: RelationshipValue {
        stop("This initializer is unavailable.")
    }
}
