public import DaybookObjectModel

/// A struct that a composite attribute can have: several values under one name, each of which is kept,
/// found, merged and migrated as an attribute of its own.
///
/// ```swift
/// struct Address: CompositeAttribute {
///     var street = ""
///     var city: String?
///
///     static let elements: [CompositeElement<Address>] = [
///         CompositeElement(\.street), CompositeElement(\.city, .indexed),
///     ]
/// }
///
/// final class Person: ManagedObject {
///     @Attribute var name: String = ""
///     @Composite var home = Address()
///     @Composite var work: Address?
/// }
/// ```
///
/// Use it where parts of a value are asked for, as in `\Person.home.city == "Bern"`, or change
/// independently; a ``CodableAttributeValue`` is one value, and cannot be looked into.
///
/// - `person.home.city = "Bern"` records a change of `home.city` and of nothing else, so two contexts may
///   change the street and the city of one object without a conflict.
/// - Every stored property is an element; one that is missing is a mistake of the model. An element of
///   another ``CompositeAttribute`` is nested: `home.place.latitude`.
/// - An optional composite attribute is nil when none of its elements has a value. So a struct whose
///   elements are all nil reads as nil. Where some have a value, the others read as in a new struct.
/// - The default of an element must be a constant. With one that differs each time, such as `UUID()`, an
///   element without a value would read differently each time. Declare such an element optional, and set
///   it in ``ManagedObject/awakeFromInsert()``.
public protocol CompositeAttribute: CompositeValue {
    /// A value whose elements have their defaults.
    init()
    /// What the value consists of: all of its stored properties.
    static var elements: [CompositeElement<Self>] { get }
}

/// What a composite attribute can have: a ``CompositeAttribute``, or an optional of one.
///
/// Structs conform to ``CompositeAttribute``, which does the rest.
public protocol CompositeValue: SendableMetatype {
    /// How many attributes keep a value.
    static var elementCount: Int { get }
    /// What a new object has.
    static var newValue: Self { get }
    /// A value with which a key path can be followed.
    static var exampleValue: Self { get }
    /// Describes the attributes that keep a value, in their order.
    static func describe(to form: inout CompositeForm)
    /// Reads a value, element by element.
    init(from reader: inout CompositeReader)
    /// Writes the value, element by element.
    func write(to writer: inout CompositeWriter)
}

extension CompositeAttribute {
    /// How many attributes keep a value.
    public static var elementCount: Int { elements.reduce(0) { $0 + $1.count } }
    /// A value whose elements have their defaults.
    public static var newValue: Self { Self() }
    /// A value whose elements have their defaults.
    public static var exampleValue: Self { Self() }

    /// Describes the elements, and what is wrong with them.
    public static func describe(to form: inout CompositeForm) {
        let first = form.names.count
        for element in elements { element.describe(&form) }
        form.check(names: form.names[first...], of: Self())
        form.names.removeSubrange(first...)
    }

    /// Reads the elements; one without a value is as in a new struct.
    public init(from reader: inout CompositeReader) {
        self.init()
        for element in Self.elements { element.read(&self, &reader) }
    }

    /// Writes the elements.
    public func write(to writer: inout CompositeWriter) {
        for element in Self.elements { element.write(self, &writer) }
    }
}

extension Optional: CompositeValue where Wrapped: CompositeAttribute {
    /// How many attributes keep a value.
    public static var elementCount: Int { Wrapped.elementCount }
    /// Nil.
    public static var newValue: Wrapped? { nil }
    /// A value whose elements have their defaults.
    public static var exampleValue: Wrapped? { Wrapped() }

    /// Describes the elements, which are all optional.
    public static func describe(to form: inout CompositeForm) {
        let wasOptional = form.isOptional
        form.isOptional = true
        Wrapped.describe(to: &form)
        form.isOptional = wasOptional
    }

    /// Reads the elements; nil when none has a value.
    public init(from reader: inout CompositeReader) {
        self = reader.skipNulls(Wrapped.elementCount) ? nil : Wrapped(from: &reader)
    }

    /// Writes the elements; nulls for nil.
    public func write(to writer: inout CompositeWriter) {
        if let self {
            self.write(to: &writer)
        } else {
            writer.values += [Value](repeating: .null, count: Wrapped.elementCount)
        }
    }
}

/// One part of a ``CompositeAttribute``: a stored property of the struct, with what a declaration of an
/// attribute can say.
public struct CompositeElement<Root: CompositeAttribute>: Sendable {
    let count: Int
    let describe: @Sendable (inout CompositeForm) -> Void
    let read: @Sendable (inout Root, inout CompositeReader) -> Void
    let write: @Sendable (Root, inout CompositeWriter) -> Void

    /// An element that is an attribute.
    ///
    /// - Parameters:
    ///   - keyPath: The stored property.
    ///   - options: As of an ``Attribute``. A name that ``AttributeOptions/renamed(_:)`` gives is one in
    ///     the same composite attribute. An element cannot be derived.
    ///   - rules: The rules for values.
    ///   - merge: The way in which changes of two sides become one.
    public init<Value: AttributeValue>(
        _ keyPath: any WritableKeyPath<Root, Value> & Sendable, _ options: AttributeOptions = [],
        rules: [AttributeRule<Value>] = [], merge: MergeStrategy? = nil
    ) {
        count = 1
        describe = { $0.append(keyPath, options, rules, merge) }
        read = { root, reader in
            if let value: Value = reader.next() { root[keyPath: keyPath] = value }
        }
        write = { root, writer in writer.values.append(root[keyPath: keyPath].storedValue) }
    }

    /// An element that is a composite attribute itself.
    ///
    /// - Parameter keyPath: The stored property.
    public init<Value: CompositeValue>(
        _ keyPath: any WritableKeyPath<Root, Value> & Sendable
    ) {
        count = Value.elementCount
        describe = { $0.enter(keyPath) }
        read = { root, reader in root[keyPath: keyPath] = Value(from: &reader) }
        write = { root, writer in root[keyPath: keyPath].write(to: &writer) }
    }
}
