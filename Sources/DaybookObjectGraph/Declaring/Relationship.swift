import DaybookObjectModel
import DaybookStopping

/// A Swift type that a relationship can have: an optional managed object, a `Set` or an array of
/// them.
public protocol RelationshipValue: SendableMetatype {
    /// The class at the other end.
    static var destinationType: ManagedObject.Type { get }
    /// Whether the relationship may lead to many objects.
    static var isToMany: Bool { get }
    /// Whether they have an order.
    static var isOrdered: Bool { get }
    /// Makes the value from objects.
    init(objects: [ManagedObject])
    /// The objects.
    var objects: [ManagedObject] { get }
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
    /// The class at the other end.
    public static var destinationType: ManagedObject.Type { Wrapped.self }
    /// One.
    public static var isToMany: Bool { false }
    /// No order.
    public static var isOrdered: Bool { false }
    /// The first object, if it is of the class.
    public init(objects: [ManagedObject]) {
        self = objects.first as? Wrapped
    }
    /// The object, if there is one.
    public var objects: [ManagedObject] { map { [$0] } ?? [] }
}

extension Set: RelationshipValue where Element: ManagedObject {
    /// The class at the other end.
    public static var destinationType: ManagedObject.Type { Element.self }
    /// Many.
    public static var isToMany: Bool { true }
    /// No order.
    public static var isOrdered: Bool { false }
    /// The objects that are of the class.
    public init(objects: [ManagedObject]) {
        self.init(minimumCapacity: objects.count)
        for case let object as Element in objects { insert(object) }
    }
    /// The objects, in no order.
    public var objects: [ManagedObject] { Array(self) }
}

extension Array: RelationshipValue where Element: ManagedObject {
    /// The class at the other end.
    public static var destinationType: ManagedObject.Type { Element.self }
    /// Many.
    public static var isToMany: Bool { true }
    /// Ordered.
    public static var isOrdered: Bool { true }
    /// The objects that are of the class.
    public init(objects: [ManagedObject]) {
        self = objects.compactMap { $0 as? Element }
    }
    /// The objects in order.
    public var objects: [ManagedObject] { self }
}

/// A property of a managed object that leads to other objects.
///
/// The inverse is named on one side, and both sides then follow each other:
///
/// ```swift
/// final class Department: ManagedObject {
///     @Relationship(inverse: \Employee.department) var employees: Set<Employee>
/// }
/// final class Employee: ManagedObject {
///     @Relationship var department: Department?
///     @Relationship(inverse: .itself) var friends: Set<Employee>
/// }
/// ```
///
/// A relationship that is its own inverse says so with ``OwnInverse/itself``: the compiler cannot follow
/// a key path that leads back to the declaration it stands in. For the same reason a key path stands on
/// one side only.
@propertyWrapper
public struct Relationship<Value> {
    /// Which declaration of the prototype this is; 0 in ordinary objects.
    @usableFromInline let ordinal: DefinitionOrdinal

    // Every new object runs these initializers, which are inlined, so that nothing is made for one but a
    // prototype.

    /// Declares a relationship.
    ///
    /// - Parameters:
    ///   - options: The options, such as the delete rule where it is not to nullify.
    ///   - inverseName: The name of the same relationship seen from the other end; nil where the other
    ///     end names this one, and for a relationship without an inverse.
    ///   - isOptional: Whether there may be no object at the other end.
    ///   - minimumCount: The least number of objects in a to-many relationship that is not empty.
    ///   - maximumCount: The greatest number of objects; 0 for no limit.
    @inlinable
    public init(
        _ options: @autoclosure () -> RelationshipOptions = [], inverseName: String? = nil,
        isOptional: Bool = true, minimumCount: Int = 0, maximumCount: Int = 0
    ) where Value: RelationshipValue {
        ordinal =
            Prototyping.isActive
            ? Self.noted(
                options(), inverseName: inverseName, isOptional, minimumCount, maximumCount)
            : 0
    }

    /// Declares a relationship and its inverse.
    ///
    /// - Parameters:
    ///   - options: The options, such as the delete rule where it is not to nullify.
    ///   - inverse: The same relationship seen from the other end.
    ///   - isOptional: Whether there may be no object at the other end.
    ///   - minimumCount: The least number of objects in a to-many relationship that is not empty.
    ///   - maximumCount: The greatest number of objects; 0 for no limit.
    @inlinable
    public init<Other: ManagedObject>(
        _ options: @autoclosure () -> RelationshipOptions = [],
        inverse: @autoclosure () -> PartialKeyPath<Other>,
        isOptional: Bool = true, minimumCount: Int = 0, maximumCount: Int = 0
    ) where Value: RelationshipValue {
        ordinal =
            Prototyping.isActive
            ? Self.noted(
                options(), inverse: inverse(), isOptional, minimumCount, maximumCount)
            : 0
    }

    /// Declares a relationship that is its own inverse.
    ///
    /// - Parameters:
    ///   - options: The options, such as the delete rule where it is not to nullify.
    ///   - inverse: The relationship itself.
    ///   - isOptional: Whether there may be no object at the other end.
    ///   - minimumCount: The least number of objects in a to-many relationship that is not empty.
    ///   - maximumCount: The greatest number of objects; 0 for no limit.
    @inlinable
    public init(
        _ options: @autoclosure () -> RelationshipOptions = [], inverse: OwnInverse,
        isOptional: Bool = true, minimumCount: Int = 0, maximumCount: Int = 0
    ) where Value: RelationshipValue {
        ordinal =
            Prototyping.isActive
            ? Self.noted(options(), inverse: inverse, isOptional, minimumCount, maximumCount)
            : 0
    }

    @usableFromInline static func noted(
        _ options: RelationshipOptions, inverseName: String?, _ isOptional: Bool,
        _ minimumCount: Int, _ maximumCount: Int
    ) -> DefinitionOrdinal where Value: RelationshipValue {
        noted(
            options, inverseName.map { .name($0) }, isOptional, minimumCount, maximumCount)
    }

    @usableFromInline static func noted(
        _ options: RelationshipOptions, inverse: AnyKeyPath, _ isOptional: Bool,
        _ minimumCount: Int, _ maximumCount: Int
    ) -> DefinitionOrdinal where Value: RelationshipValue {
        noted(options, .keyPath(inverse), isOptional, minimumCount, maximumCount)
    }

    @usableFromInline static func noted(
        _ options: RelationshipOptions, inverse: OwnInverse, _ isOptional: Bool,
        _ minimumCount: Int, _ maximumCount: Int
    ) -> DefinitionOrdinal where Value: RelationshipValue {
        noted(options, .itself, isOptional, minimumCount, maximumCount)
    }

    private static func noted(
        _ options: RelationshipOptions, _ inverse: PropertyDefinition.Inverse?, _ isOptional: Bool,
        _ minimumCount: Int, _ maximumCount: Int
    ) -> DefinitionOrdinal where Value: RelationshipValue {
        var description = RelationshipDescription(
            name: "", destinationName: "", isToMany: Value.isToMany, isOrdered: Value.isOrdered,
            isOptional: isOptional, minimumCount: minimumCount, maximumCount: maximumCount)
        options.apply(&description)
        return Prototyping.record(
            PropertyDefinition(
                .relationship(description, destination: Value.destinationType), inverse: inverse))
    }

    /// Only properties of managed objects can be relationships.
    @available(
        *, unavailable,
        message: """
            only a property of a ManagedObject can be a @Relationship; after 'circular reference', \
            name the inverse on one side only, and say '@Relationship(inverse: .itself)' of a \
            relationship that is its own
            """
    )
    public var wrappedValue: Value {
        get { stop("Only a property of a ManagedObject can be a relationship.") }
        set { stop("Only a property of a ManagedObject can be a relationship.") }
    }

    /// Reads and sets the relationship of `object`.
    public static subscript<Object: ManagedObject>(
        _enclosingInstance object: Object,
        wrapped wrapped: @autoclosure () -> ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Relationship<Value>>
    ) -> Value where Value: RelationshipValue {
        get {
            guard let index = object.binding.slots[storage] ?? object.resolve(storage, ordinal)
            else {
                return Value(
                    objects: object.probedDestination(
                        object[keyPath: storage].ordinal, wrapped()))
            }
            return Value(objects: object.destinations(ofPropertyAt: index))
        }
        set {
            guard let index = object.binding.slots[storage] ?? object.resolve(storage, ordinal)
            else {
                return
            }
            object.setDestinations(newValue.objects, ofPropertyAt: index)
        }
    }

    private static func ordinal<Object: ManagedObject>(
        _ prototype: Object, _ storage: ReferenceWritableKeyPath<Object, Relationship<Value>>
    ) -> DefinitionOrdinal {
        prototype[keyPath: storage].ordinal
    }
}

extension Relationship: DeclaredProperty {}
