public import DaybookObjectModel
import DaybookStopping

/// A rule for the values of an attribute, as a declaration gives it.
///
/// ```swift
/// @Attribute(.unique, rules: [.pattern("[A-Z]{2}")]) var code: String
/// @Attribute(rules: [.minimum(0), .maximum(100)]) var score: Double?
/// ```
///
/// A value that breaks a rule may be set, and is refused when the context is saved.
public struct AttributeRule<Value: AttributeValue>: Sendable {
    let apply: @Sendable (inout AttributeRules) -> Void

    /// The smallest value of a number or a date.
    public static func minimum(_ value: Value) -> AttributeRule {
        let stored = value.storedValue
        return AttributeRule { $0.minimum = stored }
    }

    /// The largest value of a number or a date.
    public static func maximum(_ value: Value) -> AttributeRule {
        let stored = value.storedValue
        return AttributeRule { $0.maximum = stored }
    }

    /// The least length: of text in Unicode scalars, of data in bytes.
    public static func minimumLength(_ length: Int) -> AttributeRule {
        AttributeRule { $0.minimumLength = length }
    }

    /// The greatest length: of text in Unicode scalars, of data in bytes.
    public static func maximumLength(_ length: Int) -> AttributeRule {
        AttributeRule { $0.maximumLength = length }
    }

    /// A regular expression that the whole text must match.
    public static func pattern(_ pattern: String) -> AttributeRule {
        AttributeRule { $0.pattern = pattern }
    }
}

/// A property of a managed object that is kept in the store.
///
/// ```swift
/// final class Employee: ManagedObject {
///     @Attribute var id: UUID = UUID()
///     @Attribute(.unique) var badge: String
///     @Attribute(.indexed) var lastName: String = ""
///     @Attribute var salary: Decimal?
///     @Attribute(merge: .sum) var daysOff: Int = 30
/// }
/// ```
///
/// With a ``MergeStrategy`` two contexts may change the attribute of one object at the same time: both
/// changes are saved, and there is no conflict.
///
/// Reading the property fires the object's fault; setting it records a change in the context's journal.
///
/// The default value is an expression, evaluated for each new object and for each row of a batch. If it
/// is a constant, the model has it as well, for programs without the class. It counts as a constant if
/// it gives the same value each time while the model is built. A `UUID` or a `Date` never counts as a
/// constant; write `@Attribute(default: .distantPast)` where one is. A unique attribute has no constant
/// default, because only one object could keep it.
@propertyWrapper
public struct Attribute<Value> {
    /// Which declaration of the prototype this is; 0 in ordinary objects.
    @usableFromInline let ordinal: DefinitionOrdinal

    // The default and the rules are evaluated only while a model is being built, because every new
    // object runs these initializers for each of its attributes. The initializers, the getter and the
    // setter are inlinable, so that they are specialized in the class that declares the attribute;
    // unspecialized they were most of the cost of reading an object.

    /// Declares an attribute with a default value.
    @inlinable
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        _ options: @autoclosure () -> AttributeOptions = [],
        rules: @autoclosure () -> [AttributeRule<Value>] = [],
        merge: MergeStrategy? = nil
    ) where Value: AttributeValue {
        ordinal =
            Prototyping.isActive
            ? Self.declared(options(), .expression({ wrappedValue().storedValue }), rules(), merge)
            : 0
    }

    /// Declares an attribute whose default value is the same for all objects and is kept in the model.
    @inlinable
    public init(
        _ options: @autoclosure () -> AttributeOptions = [],
        default constant: @autoclosure @escaping @Sendable () -> Value,
        rules: @autoclosure () -> [AttributeRule<Value>] = [], merge: MergeStrategy? = nil
    ) where Value: AttributeValue {
        ordinal =
            Prototyping.isActive
            ? Self.declared(options(), .constant(constant().storedValue), rules(), merge) : 0
    }

    /// Declares a mandatory attribute without a default value, which is ``AttributeOptions/unique``
    /// or ``AttributeOptions/required``.
    @inlinable
    public init(
        _ options: @autoclosure () -> AttributeOptions,
        rules: @autoclosure () -> [AttributeRule<Value>] = [],
        merge: MergeStrategy? = nil
    ) where Value: EmptyAttributeValue {
        ordinal = Prototyping.isActive ? Self.declared(options(), .none, rules(), merge) : 0
    }

    /// Declares an optional attribute.
    @inlinable
    public init<Wrapped>(
        _ options: @autoclosure () -> AttributeOptions = [],
        rules: @autoclosure () -> [AttributeRule<Value>] = [],
        merge: MergeStrategy? = nil
    ) where Value == Wrapped?, Wrapped: AttributeValue {
        ordinal = Prototyping.isActive ? Self.declared(options(), .none, rules(), merge) : 0
    }

    /// A mandatory attribute without a default must be marked as required.
    @available(
        *, unavailable,
        message: """
            a mandatory attribute needs a default value, as in '= 0': give it one, make it optional, \
            or say '@Attribute(.required)' if every object is given a value before it is saved
            """
    )
    public init() where Value: AttributeValue {
        stop("This initializer is unavailable.")
    }

    @usableFromInline static func declared(
        _ options: AttributeOptions, _ initial: InitialValue, _ rules: [AttributeRule<Value>],
        _ merge: MergeStrategy?
    ) -> DefinitionOrdinal where Value: AttributeValue {
        var collected = AttributeRules()
        for rule in rules { rule.apply(&collected) }
        var declared = Declared(
            description: AttributeDescription(
                name: "", type: Value.attributeType, isOptional: Value.isOptionalAttribute,
                rules: collected, merge: merge, isSet: Value.self is any SetValue.Type))
        options.apply(&declared)
        return Prototyping.record(
            PropertyDefinition(
                .attribute(declared.description), form: AttributeForm(Value.self, initial),
                isRequired: declared.isRequired, unknownDerivation: declared.unknownDerivation))
    }

    /// Only properties of managed objects can be attributes.
    @available(*, unavailable, message: "only a property of a ManagedObject can be an @Attribute")
    public var wrappedValue: Value {
        get { stop("Only a property of a ManagedObject can be an attribute.") }
        set { stop("Only a property of a ManagedObject can be an attribute.") }
    }

    // Only prototypes need the key path of the property itself, so it is made only for them.

    /// Reads and sets the attribute of `object`.
    public static subscript<Object: ManagedObject>(
        _enclosingInstance object: Object,
        wrapped wrapped: @autoclosure () -> ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Attribute<Value>>
    ) -> Value where Value: AttributeValue {
        @inlinable get { read(storage, of: object, wrapped) }
        @inlinable set { set(newValue, at: storage, of: object) }
    }
}

/// A property of a managed object that lives in memory only.
///
/// Undo covers it like any other property, and a save takes it to a parent context. It never enters the
/// journal of a store.
@propertyWrapper
public struct Transient<Value: AttributeValue> {
    /// Which declaration of the prototype this is; 0 in ordinary objects.
    @usableFromInline let ordinal: DefinitionOrdinal

    /// Declares a transient property with the value it starts with, an expression that is evaluated
    /// for each new object.
    @inlinable
    public init(wrappedValue: @autoclosure @escaping @Sendable () -> Value) {
        ordinal =
            Prototyping.isActive
            ? Self.declared(.expression({ wrappedValue().storedValue })) : 0
    }

    /// Declares a transient property that starts empty.
    @inlinable
    public init() where Value: EmptyAttributeValue {
        ordinal = Prototyping.isActive ? Self.declared(.none) : 0
    }

    /// Declares an optional transient property.
    @inlinable
    public init<Wrapped>() where Value == Wrapped? {
        ordinal = Prototyping.isActive ? Self.declared(.none) : 0
    }

    @usableFromInline static func declared(_ initial: InitialValue) -> DefinitionOrdinal {
        Prototyping.record(
            PropertyDefinition(
                .attribute(
                    AttributeDescription(
                        name: "", type: Value.attributeType, isTransient: true)),
                form: AttributeForm(Value.self, initial)))
    }

    /// Only properties of managed objects can be transient.
    @available(*, unavailable, message: "only a property of a ManagedObject can be @Transient")
    public var wrappedValue: Value {
        get { stop("Only a property of a ManagedObject can be transient.") }
        set { stop("Only a property of a ManagedObject can be transient.") }
    }

    /// Reads and sets the property of `object`.
    public static subscript<Object: ManagedObject>(
        _enclosingInstance object: Object,
        wrapped wrapped: @autoclosure () -> ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Transient<Value>>
    ) -> Value {
        @inlinable get { read(storage, of: object, wrapped) }
        @inlinable set { set(newValue, at: storage, of: object) }
    }
}

extension Attribute: DeclaredProperty {}

extension Attribute: SlotProperty where Value: AttributeValue {}

extension Transient: DeclaredProperty, SlotProperty {}

/// A property wrapper whose value is kept in a slot of the object.
@usableFromInline protocol SlotProperty<Value> {
    associatedtype Value: AttributeValue
    var ordinal: DefinitionOrdinal { get }
}

extension SlotProperty {
    @inlinable static func read<Object: ManagedObject>(
        _ storage: ReferenceWritableKeyPath<Object, Self>, of object: Object,
        _ wrapped: () -> ReferenceWritableKeyPath<Object, Value>
    ) -> Value {
        guard let slot = object.slot(toRead: storage) else {
            return firstRead(storage, of: object, wrapped)
        }
        return Value(StoredAttribute(object: object, slot: slot)) ?? object.emptyValue(inSlot: slot)
    }

    @inlinable static func set<Object: ManagedObject>(
        _ newValue: Value, at storage: ReferenceWritableKeyPath<Object, Self>, of object: Object
    ) {
        let value = newValue.storedValue
        if !object.set(value, at: storage) { firstSet(value, at: storage, of: object) }
    }

    // The first use of a property in a context finds its slot; later uses look it up by the key path.

    @usableFromInline static func firstRead<Object: ManagedObject>(
        _ storage: ReferenceWritableKeyPath<Object, Self>, of object: Object,
        _ wrapped: () -> ReferenceWritableKeyPath<Object, Value>
    ) -> Value {
        guard let slot = object.resolve(storage, ordinal) else {
            return object.probed(object[keyPath: storage].ordinal, wrapped())
        }
        object.makeReady(toReadSlot: slot)
        return Value(StoredAttribute(object: object, slot: slot)) ?? object.emptyValue(inSlot: slot)
    }

    @usableFromInline static func firstSet<Object: ManagedObject>(
        _ value: DaybookObjectModel.Value, at storage: ReferenceWritableKeyPath<Object, Self>,
        of object: Object
    ) {
        if let slot = object.resolve(storage, ordinal) { object.setValue(value, inSlot: slot) }
    }

    private static func ordinal<Object: ManagedObject>(
        _ prototype: Object, _ storage: ReferenceWritableKeyPath<Object, Self>
    ) -> DefinitionOrdinal {
        prototype[keyPath: storage].ordinal
    }
}
