import DaybookObjectModel
import DaybookStopping

/// A property of a managed object that is a composite attribute: a struct whose parts are kept as
/// attributes of their own.
///
/// ```swift
/// final class Person: ManagedObject {
///     @Composite var home = Address()
///     @Composite var work: Address?
/// }
/// ```
///
/// ``CompositeAttribute`` says what the struct looks like. Setting the property, or a part of it,
/// records changes of those elements that differ.
@propertyWrapper
public struct Composite<Value: CompositeValue> {
    /// Which declaration of the prototype this is; 0 in ordinary objects.
    @usableFromInline let ordinal: DefinitionOrdinal

    /// Declares a composite attribute with the value it starts with, an expression that is evaluated for
    /// each new object.
    ///
    /// - Parameters:
    ///   - wrappedValue: The value of a new object.
    ///   - earlierName: The earlier name of the composite attribute; nil if it had none.
    ///   - gathered: The full earlier names of attributes that have become elements, by the names of
    ///     the elements: `["city": "homeCity"]`.
    @inlinable
    public init(
        wrappedValue: @autoclosure @escaping @Sendable () -> Value,
        renamed earlierName: @autoclosure () -> String? = nil,
        gathering gathered: @autoclosure () -> [String: String] = [:]
    ) {
        ordinal =
            Prototyping.isActive ? Self.declared(wrappedValue, earlierName(), gathered()) : 0
    }

    /// Declares a composite attribute that starts with the defaults of its elements, or as nil.
    ///
    /// - Parameters:
    ///   - earlierName: The earlier name of the composite attribute; nil if it had none.
    ///   - gathered: The full earlier names of attributes that have become elements, by the names of
    ///     the elements: `["city": "homeCity"]`.
    @inlinable
    public init(
        renamed earlierName: @autoclosure () -> String? = nil,
        gathering gathered: @autoclosure () -> [String: String] = [:]
    ) {
        ordinal =
            Prototyping.isActive
            ? Self.declared({ Value.newValue }, earlierName(), gathered()) : 0
    }

    @usableFromInline static func declared(
        _ initial: @escaping @Sendable () -> Value, _ earlierName: String?,
        _ gathered: [String: String]
    ) -> DefinitionOrdinal {
        let form = CompositeForm(of: Value.self)
        let elements = form.leaves.enumerated().map { index, leaf in
            PropertyDefinition(
                .attribute(leaf.description),
                form: leaf.form(
                    leaf.hasDefault
                        ? .expression({ CompositeWriter(initial()).values[index] }) : .none),
                isRequired: !leaf.hasDefault)
        }
        return Prototyping.record(
            PropertyDefinition(
                compositeOf: elements, form, renamed: earlierName, gathering: gathered))
    }

    /// Only properties of managed objects can be composite attributes.
    @available(*, unavailable, message: "only a property of a ManagedObject can be @Composite")
    public var wrappedValue: Value {
        get { stop("Only a property of a ManagedObject can be a composite attribute.") }
        set { stop("Only a property of a ManagedObject can be a composite attribute.") }
    }

    /// Reads and sets the composite attribute of `object`.
    public static subscript<Object: ManagedObject>(
        _enclosingInstance object: Object,
        wrapped wrapped: @autoclosure () -> ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Composite<Value>>
    ) -> Value {
        get {
            guard let slots = object.compositeSlots(storage, ordinal) else {
                return object.probed(object[keyPath: storage].ordinal, wrapped())
            }
            for slot in slots { object.makeReady(toReadSlot: slot) }
            var reader = CompositeReader(object, slots)
            return Value(from: &reader)
        }
        set {
            guard let slots = object.compositeSlots(storage, ordinal) else { return }
            object.setElements(newValue, inSlots: slots)
        }
    }

    private static func ordinal<Object: ManagedObject>(
        _ prototype: Object, _ storage: ReferenceWritableKeyPath<Object, Self>
    ) -> DefinitionOrdinal {
        prototype[keyPath: storage].ordinal
    }
}

extension Composite: DeclaredProperty {}

extension ManagedObject {
    /// The slots of the elements of a composite attribute; nil for a prototype, which has none.
    fileprivate func compositeSlots<Object: ManagedObject, Wrapper>(
        _ storage: ReferenceWritableKeyPath<Object, Wrapper>,
        _ ordinal: (Object, ReferenceWritableKeyPath<Object, Wrapper>) -> DefinitionOrdinal
    ) -> [Int]? {
        if let index = binding.slots[storage] { return binding.composites[index] }
        guard !binding.isPrototype, let prototype = binding.entity.prototype as? Object,
            let definition = prototype.definition(ordinal(prototype, storage))
        else {
            require(binding.isPrototype, "The class of an object must be in its model.")
            return nil
        }
        let slots = definition.elements.compactMap {
            binding.schema.property(named: $0.name)?.slot
        }
        require(
            slots.count == definition.elements.count,
            "The model of an object must have the elements of '\(definition.name)'.")
        binding.remember(slots, ofComposite: storage)
        return slots
    }

    /// Sets those elements of a composite attribute that differ from what reading gives.
    ///
    /// An element that cannot be read as its type, because another program has written it or its bytes are
    /// damaged, reads as its default. It stays as it is unless it is set to something else.
    func setElements<Value: CompositeValue>(_ value: Value, inSlots slots: [Int]) {
        realizeIfNeeded()
        var reader = CompositeReader(self, slots, reporting: false)
        let read = CompositeWriter(Value(from: &reader)).values
        for (index, new) in CompositeWriter(value).values.enumerated()
        where new != read[index] || self.value(inSlot: slots[index]).isNull {
            setValue(new, inSlot: slots[index])
        }
    }

    /// The value of a prototype's composite attribute, from which a key path can be followed further.
    /// Records the read.
    fileprivate func probed<Value: CompositeValue>(
        _ ordinal: DefinitionOrdinal, _ keyPath: AnyKeyPath
    ) -> Value {
        guard let definition = definition(ordinal),
            case .composite(let form, _, _) = definition.kind
        else { stop("A prototype has definitions.") }
        KeyPathProbe.recordRead(of: definition.name, keyPath, elements: form.leaves)
        return Value.exampleValue
    }
}
