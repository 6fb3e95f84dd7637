import DaybookStopping

// Declarations that do not compile, with what to write instead. The compiler looks for an initializer
// without arguments in the type itself, so that one is declared there.

extension Attribute {
    /// An enumeration must conform to ``AttributeValue``.
    @available(
        *, unavailable,
        message: "conform the type to AttributeValue, as in 'enum Mood: String, AttributeValue'"
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: @autoclosure () -> AttributeOptions = []
    ) where Value: RawRepresentable {
        stop("This initializer is unavailable.")
    }

    /// An enumeration must conform to ``AttributeValue``.
    @available(
        *, unavailable,
        message: "conform the type to AttributeValue, as in 'enum Mood: String, AttributeValue'"
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: @autoclosure () -> AttributeOptions = []
    ) where Value: RawRepresentable & Codable {
        stop("This initializer is unavailable.")
    }

    /// A coded type must conform to ``CodableAttributeValue``.
    @available(
        *, unavailable,
        message: """
            conform the type to CodableAttributeValue, as in \
            'struct Address: CodableAttributeValue', and it is kept as JSON
            """
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: @autoclosure () -> AttributeOptions = []
    ) where Value: Codable {
        stop("This initializer is unavailable.")
    }

    /// An enumeration must conform to ``AttributeValue``.
    @available(
        *, unavailable,
        message: "conform the type to AttributeValue, as in 'enum Mood: String, AttributeValue'"
    )
    public init<Wrapped>(
        wrappedValue: @autoclosure () -> Value, _ options: @autoclosure () -> AttributeOptions = []
    ) where Value == Wrapped?, Wrapped: RawRepresentable {
        stop("This initializer is unavailable.")
    }

    /// A struct of several attributes is a composite attribute.
    @available(
        *, unavailable,
        message:
            "a CompositeAttribute is declared with @Composite, as in '@Composite var home = Address()'"
    )
    public init(
        wrappedValue: @autoclosure () -> Value, _ options: @autoclosure () -> AttributeOptions = []
    ) where Value: CompositeAttribute {
        stop("This initializer is unavailable.")
    }

    /// An object is held by a relationship.
    @available(*, unavailable, message: "a property that leads to an object is a @Relationship")
    public init<Wrapped: ManagedObject>(
        wrappedValue: @autoclosure () -> Value, _ options: @autoclosure () -> AttributeOptions = []
    ) where Value == Wrapped? {
        stop("This initializer is unavailable.")
    }
}

extension Relationship {
    /// A to-one relationship must be optional.
    @available(
        *, unavailable,
        message: """
            a to-one relationship may lead to nothing: make it optional, as in 'var owner: Person?', \
            and say 'isOptional: false' if an object cannot be saved without
            """
    )
    public init(
        _ options: @autoclosure () -> RelationshipOptions = [], inverseName: String? = nil,
        isOptional: Bool = true
    ) where Value: ManagedObject {
        stop("This initializer is unavailable.")
    }

    /// A to-one relationship must be optional.
    @available(
        *, unavailable,
        message: """
            a to-one relationship may lead to nothing: make it optional, as in 'var owner: Person?', \
            and say 'isOptional: false' if an object cannot be saved without
            """
    )
    public init<Other: ManagedObject>(
        _ options: @autoclosure () -> RelationshipOptions = [], inverse: PartialKeyPath<Other>,
        isOptional: Bool = true
    ) where Value: ManagedObject {
        stop("This initializer is unavailable.")
    }

    /// The relationships of a new object are empty.
    @available(
        *, unavailable,
        message: "the relationships of a new object are empty: leave the value out"
    )
    public init(wrappedValue: Value, _ options: @autoclosure () -> RelationshipOptions = [])
    where Value: RelationshipValue {
        stop("This initializer is unavailable.")
    }

    /// The relationships of a new object are empty.
    @available(
        *, unavailable,
        message: "the relationships of a new object are empty: leave the value out"
    )
    public init<Other: ManagedObject>(
        wrappedValue: Value, _ options: @autoclosure () -> RelationshipOptions = [],
        inverse: PartialKeyPath<Other>
    ) where Value: RelationshipValue {
        stop("This initializer is unavailable.")
    }
}
