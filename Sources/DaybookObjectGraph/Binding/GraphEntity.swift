import DaybookObjectModel
import Foundation
import Synchronization

/// An entity together with the class that represents it.
///
/// Shared by all contexts of a coordinator.
final class GraphEntity: Sendable {
    let schema: SchemaEntity
    let type: ManagedObject.Type
    // Never changed once made and never handed out; contexts on any thread read wrapper declarations
    // from it.
    private let prototypeBox: PrototypeBox?
    /// What the class adds to the model, by slot.
    private let forms: [AttributeForm?]
    /// The slots whose initial value in a new object comes from the class, not from the model.
    private let initialSlots: [Int]
    /// The default values of the model that rows of the store begin with.
    private let storedDefaults: [Value]
    private let meanings = Mutex<[KeyPathBox: KeyPathMeaning]>([:])
    private let slots = Mutex(SharedSlots())
    /// Where in the entity's properties those are that key paths lead to.
    private let places = Mutex(SharedSlots())

    /// Joins an entity and a class; `defaults` tells whose default a new object gets where both have
    /// one.
    init(
        schema: SchemaEntity, type: ManagedObject.Type, prototype: ManagedObject?,
        defaults: DefaultSource = .type
    ) {
        self.schema = schema
        self.type = type
        prototypeBox = prototype.map(PrototypeBox.init)
        storedDefaults = Array(schema.defaults.prefix(schema.storedSlotCount))
        let forms = schema.slots.map { prototype?.definition(named: $0.name)?.form }
        self.forms = forms
        initialSlots = forms.indices.filter { slot in
            guard case .expression? = forms[slot]?.initial else { return false }
            return defaults == .type || schema.defaults[slot].isNull
        }
    }

    // MARK: - Slots

    /// The properties that have been used in some context, with which others begin.
    var knownSlots: KeyPathSlots { slots.withLock(\.slots) }

    /// Remembers a property that is used for the first time in a context.
    func remember(_ index: Int, of storage: AnyKeyPath) {
        let property = ModelKeyPath(keyPath: storage)
        slots.withLock {
            // Contexts that began before each tell of it.
            guard $0.slots[property.keyPath] == nil else { return }
            $0.slots.set(index, for: property.keyPath)
        }
    }

    private struct SharedSlots: @unchecked Sendable {
        // @unchecked Sendable because key paths never change, and here nobody follows one.
        var slots = KeyPathSlots()
    }

    /// Who decides the default values of new objects.
    enum DefaultSource {
        /// The class, from which the model was built.
        case type
        /// The model; the class where the model has no default.
        case model
    }

    /// The object whose wrappers hold the declarations of the class; nil for an entity that the
    /// generic class represents.
    var prototype: ManagedObject? { prototypeBox?.object }

    // MARK: - Values

    /// The values of a new object, in slot order.
    var newValues: [Value] {
        var values = schema.defaults
        for slot in initialSlots { values[slot] = initialValue(inSlot: slot) ?? .null }
        return values
    }

    /// The values of a new object that the store keeps.
    var newRow: [Value] {
        var row = storedDefaults
        for slot in initialSlots where slot < row.count {
            row[slot] = initialValue(inSlot: slot) ?? .null
        }
        return row
    }

    /// The initial value of a slot in a new object as the class gives it; nil when it gives none.
    func initialValue(inSlot slot: Int) -> Value? {
        forms[slot]?.initial.next?.normalized(for: schema.slots[slot].attribute?.type)
    }

    /// What is read of an attribute that has no value: the default of the model, or else the empty value of the type or
    /// the initial one of the class. Nil for a type without an empty value that is declared without a default.
    func emptyValue<Empty: AttributeValue>(inSlot slot: Int) -> Empty? {
        Empty(storedValue: schema.defaults[slot]) ?? Empty.emptyValue
            ?? initialValue(inSlot: slot).flatMap { Empty(storedValue: $0) }
    }

    /// A stored value in the Swift type of its attribute; as stored when that type has no such value.
    func payload(_ stored: Value, inSlot slot: Int) -> Any? {
        guard let form = forms[slot] else {
            return schema.slots[slot].attribute?.type.payload(stored) ?? stored.payload
        }
        return form.value(stored) ?? stored.payload
    }

    /// Whether the type of the attribute has a stored value, or the value is null.
    func isReadable(_ stored: Value, inSlot slot: Int) -> Bool {
        guard !stored.isNull else { return true }
        guard let form = forms[slot] else {
            if case .large = stored { return Data(storedValue: stored) != nil }
            return true
        }
        return form.value(stored) != nil
    }

    /// The name of the type of an attribute.
    func typeName(ofSlot slot: Int) -> String {
        forms[slot]?.typeName ?? schema.slots[slot].attribute?.type.rawValue ?? "Value"
    }

    // MARK: - Key paths

    /// What a key path that starts at an object of the class means.
    func meaning(of keyPath: AnyKeyPath) -> KeyPathMeaning {
        guard let prototype else { return .computed(reading: []) }
        let box = KeyPathBox(keyPath: keyPath)
        if let known = meanings.withLock({ $0[box] }) { return known }
        let meaning = KeyPathProbe.meaning(of: keyPath, on: prototype)
        // Refused key paths are rare, and there may be any number of them.
        if case .computed = meaning { return meaning }
        meanings.withLock { $0[box] = meaning }
        return meaning
    }

    /// The property that a key path from an object of the class leads to; nil when it leads to none, or on.
    func property(at keyPath: AnyKeyPath) -> SchemaProperty? {
        if let place = places.withLock({ $0.slots[keyPath] }) { return schema.properties[place] }
        let names = path(of: keyPath)[...]
        guard !names.isEmpty, let (property, count) = schema.property(at: names),
            count == names.count
        else { return nil }
        if let place = schema.properties.firstIndex(where: { $0.number == property.number }) {
            let known = ModelKeyPath(keyPath: keyPath)
            places.withLock { $0.slots.set(place, for: known.keyPath) }
        }
        return property
    }

    /// The properties along a key path from this entity on; none when it is not a path of declared
    /// properties.
    func path(of keyPath: AnyKeyPath) -> [String] {
        guard case .properties(let names) = meaning(of: keyPath) else { return [] }
        return names
    }
}

/// A key path that was found to lead along declared properties.
private struct KeyPathBox: Hashable, @unchecked Sendable {
    // @unchecked Sendable because a key path never changes, and one of declared properties holds nothing
    // else.
    let keyPath: AnyKeyPath
}

/// Holds a prototype.
private final class PrototypeBox: @unchecked Sendable {
    // @unchecked Sendable because the object never changes after the model was built, and reading its
    // wrappers changes nothing.
    let object: ManagedObject

    init(_ object: ManagedObject) {
        self.object = object
    }
}
