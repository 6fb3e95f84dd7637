public import DaybookObjectModel
import DaybookStopping

extension ManagedObject {
    /// The index of a property by its wrapper; nil for a prototype, which has none.
    ///
    /// For attributes this is the slot, for relationships the index among the entity's properties.
    func resolve<Object: ManagedObject, Wrapper>(
        _ storage: ReferenceWritableKeyPath<Object, Wrapper>,
        _ ordinal: (Object, ReferenceWritableKeyPath<Object, Wrapper>) -> DefinitionOrdinal
    ) -> Int? {
        guard !binding.isPrototype, let prototype = binding.entity.prototype as? Object,
            let name = prototype.definition(ordinal(prototype, storage))?.name,
            let property = binding.schema.property(named: name)
        else {
            require(binding.isPrototype, "The class of an object must be in its model.")
            return nil
        }
        let index =
            property.attribute == nil
            ? binding.schema.properties.firstIndex { $0 === property } : property.slot
        guard let index else { return nil }
        binding.remember(index, of: storage)
        return index
    }

    /// A declaration of a prototype; nil for other objects.
    func definition(_ ordinal: DefinitionOrdinal) -> PropertyDefinition? {
        binding.definitions?[ordinal]
    }

    /// The declaration of a property of a prototype, by its name.
    func definition(named name: String) -> PropertyDefinition? {
        binding.definitions?.named(name)
    }

    /// The value of a prototype's attribute, from which a key path can be followed further. Records the
    /// read.
    func probed<Value: AttributeValue>(
        _ ordinal: DefinitionOrdinal, _ keyPath: AnyKeyPath
    ) -> Value {
        guard let definition = definition(ordinal), let form = definition.form,
            case .attribute(let description) = definition.kind
        else {
            stop("A prototype has definitions.")
        }
        KeyPathProbe.recordRead(of: definition.name, keyPath)
        if let sample = Value(storedValue: description.type.sample) { return sample }
        return declared(form.initial.next.flatMap { Value(storedValue: $0) } ?? Value.emptyValue)
    }

    /// Makes an attribute ready to be read.
    ///
    /// - Returns: Its slot; nil when its wrapper is used for the first time.
    @usableFromInline final func slot(toRead storage: AnyKeyPath) -> Int? {
        guard let slot = binding.slots[storage] else { return nil }
        makeReady(toReadSlot: slot)
        return slot
    }

    final func makeReady(toReadSlot slot: Int) {
        if status.isFault { realizeIfNeeded() }
        trackRead(ofSlot: slot)
    }

    /// Sets an attribute and records the change.
    ///
    /// - Returns: False when its wrapper is used for the first time; nothing was done then.
    @usableFromInline final func set(_ value: Value, at storage: AnyKeyPath) -> Bool {
        guard let slot = binding.slots[storage] else { return false }
        setValue(value, inSlot: slot)
        return true
    }

    /// The value of an attribute that has none of its type.
    @usableFromInline final func emptyValue<Value: AttributeValue>(
        inSlot slot: Int
    ) -> Value {
        let stored = readableValue(inSlot: slot)
        if !stored.isNull {
            if let value = Value.unknownValue { return value }
            reportUnreadable(stored, inSlot: slot)
        }
        return declared(binding.entity.emptyValue(inSlot: slot))
    }

    private func declared<Value>(_ value: Value?) -> Value {
        guard let value else {
            stop("A type without an empty value is declared with a default.")
        }
        return value
    }

    /// Sets a value and records the change.
    func setValue(_ newValue: Value, inSlot slot: Int) {
        if !binding.schema.derivedSlots.isEmpty { refuseDerived(slot) }
        guard realizeToChange() else { return }
        let value = normalized(newValue, inSlot: slot)
        if !status.isOfEvent {
            guard self.value(inSlot: slot) != value else { return }
            binding.context?.recordEdit(of: self, slot: slot)
        }
        values[slot] = value
    }

    /// Stops a program that sets a derived attribute.
    func refuseDerived(_ slot: Int) {
        let property = binding.schema.slots[slot]
        guard let derivation = property.attribute?.derivation else { return }
        stop(
            "'\(binding.schema.name).\(property.name)' is derived from '\(derivation)' and cannot be "
                + "set.")
    }

    /// Reads the record if the object is a fault.
    @discardableResult
    func realizeIfNeeded() -> Bool {
        guard status.isFault else { return true }
        guard let context = binding.context, !status.isDetached else {
            // What was never read can no longer be read; it reads as empty.
            reportUnreadable()
            if !hasValues { values = binding.schema.defaults.map { _ in .null } }
            return false
        }
        return context.fire(self)
    }

    /// Reads the record if the object is a fault, to change it. If it cannot be read, the change is not made, and the
    /// next save says so. What others have deleted needs no change.
    final func realizeToChange() -> Bool {
        guard status.isFault, let context = binding.context, !status.isDetached,
            !context.isRecordingSuspended
        else { return realizeIfNeeded() }
        guard let error = context.failure(firing: self) else { return true }
        if status.isFault { context.terms.rememberUnmade(.unmade(objectID, error)) }
        return false
    }

    // MARK: - By name

    /// The value of a property by its name: an attribute's value in the type of its declaration, a
    /// ``ManagedObject`` for a to-one relationship, an array of them for a to-many; nil for none.
    ///
    /// An attribute of an entity without a class is an `Int16`, `Int32`, `Int64`, `Float`, `URL` and so
    /// on, according to the model; coded values are `Data`. A value that the declared type cannot
    /// represent (``UnreadableValue``) is returned as it is stored.
    ///
    /// A composite attribute is a dictionary of the elements that have a value, and nil when none has.
    ///
    /// - Precondition: The entity has a property of that name.
    public func value(forKey key: String) -> Any? {
        if binding.schema.isComposite(key) { return compositeValue(key) }
        let property = property(named: key)
        guard let relationship = property.relationship else {
            let stored = storedValue(forKey: key)
            guard let slot = property.slot else { return nil }
            if !binding.entity.isReadable(stored, inSlot: slot) {
                reportUnreadable(stored, inSlot: slot)
            }
            return binding.entity.payload(stored, inSlot: slot)
        }
        let objects = relatedObjects(forKey: key)
        return relationship.isToMany ? objects : objects.first
    }

    /// Sets a property by its name: an attribute to a value of its type, a to-one relationship to a
    /// ``ManagedObject``, a to-many to an array or set of them; nil clears any of them.
    ///
    /// A composite attribute takes its struct, or a dictionary: elements that are not in it are cleared.
    ///
    /// - Precondition: The entity has a property of that name, which is not derived, and the value is of
    ///   its type.
    public func setValue(_ value: Any?, forKey key: String) {
        if binding.schema.isComposite(key) { return setCompositeValue(value, of: key) }
        if property(named: key).relationship != nil {
            switch value {
            case nil: setRelatedObjects([], forKey: key)
            case let object as ManagedObject: setRelatedObjects([object], forKey: key)
            case let objects as [ManagedObject]: setRelatedObjects(objects, forKey: key)
            case let objects as Set<ManagedObject>: setRelatedObjects(Array(objects), forKey: key)
            default: stop("'\(key)' is a relationship and takes managed objects.")
            }
        } else if let value {
            guard let attributeValue = value as? any AttributeValue else {
                stop("'\(key)' cannot hold a \(type(of: value)).")
            }
            setStoredValue(attributeValue.storedValue, forKey: key)
        } else {
            setStoredValue(.null, forKey: key)
        }
    }

    /// The stored form of an attribute by its name; null for none.
    ///
    /// - Precondition: The entity has an attribute of that name.
    public func storedValue(forKey key: String) -> Value {
        let property = property(named: key)
        guard let slot = property.slot, property.attribute != nil else {
            stop("'\(binding.schema.name).\(key)' is not an attribute.")
        }
        realizeIfNeeded()
        trackRead(ofSlot: slot)
        return readableValue(inSlot: slot)
    }

    /// Sets an attribute by its name.
    ///
    /// - Precondition: The entity has an attribute of that name, which is not derived.
    public func setStoredValue(_ value: Value, forKey key: String) {
        let property = property(named: key)
        guard let slot = property.slot, property.isAttribute else {
            stop("'\(binding.schema.name).\(key)' is not an attribute.")
        }
        setValue(value, inSlot: slot)
    }

    /// The objects that a relationship leads to, by its name.
    ///
    /// - Precondition: The entity has a relationship of that name.
    public func relatedObjects(forKey key: String) -> [ManagedObject] {
        destinations(ofPropertyAt: relationshipIndex(named: key))
    }

    /// Sets the objects that a relationship leads to, by its name.
    ///
    /// - Precondition: The entity has a relationship of that name, and the objects are of its
    ///   destination and in this object's context.
    public func setRelatedObjects(_ objects: [ManagedObject], forKey key: String) {
        setDestinations(objects, ofPropertyAt: relationshipIndex(named: key))
    }

    func property(named key: String) -> SchemaProperty {
        guard let property = binding.schema.property(named: key) else {
            stop("Entity '\(binding.schema.name)' has no property '\(key)'.")
        }
        return property
    }

    private func relationshipIndex(named key: String) -> Int {
        let property = property(named: key)
        guard property.relationship != nil,
            let index = binding.schema.properties.firstIndex(where: { $0 === property })
        else { stop("'\(binding.schema.name).\(key)' is not a relationship.") }
        return index
    }
}

extension Value {
    /// The Swift value inside; nil for null and for references.
    var payload: Any? {
        switch self {
        case .null, .object: nil
        case .bool(let value): value
        case .int(let value): value
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .data(let value): value
        case .large(let value): value
        case .date(let value): value
        case .uuid(let value): value
        }
    }
}
