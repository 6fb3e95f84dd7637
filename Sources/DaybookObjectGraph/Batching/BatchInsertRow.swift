public import DaybookObjectModel

/// The values of one object that a ``BatchInsertRequest`` is about to insert.
///
/// ```swift
/// row[\.name] = "Ada"
/// row["age"] = .int(36)
/// row.relate(\.department, to: department)
/// ```
///
/// Setting a property that the entity does not have or does not store makes the batch fail; the error
/// names every such row and property.
public struct BatchInsertRow<Object: ManagedObject> {
    @usableFromInline var cells: BatchInsertCells

    init(_ entity: GraphEntity, in store: PersistentStore) {
        cells = BatchInsertCells(entity, in: store)
    }

    /// How many rows have been inserted before this one.
    public var index: Int { cells.index }

    // MARK: - Attributes

    // Inlined, so that the program's compiler knows the type: looked up at run time, it would cost more
    // than all the rest of a row.

    /// An attribute; nil for no value.
    ///
    /// - Complexity: O(1).
    @inlinable
    public subscript<Attribute: AttributeValue>(
        keyPath: KeyPath<Object, Attribute>
    ) -> Attribute? {
        get { Attribute(storedValue: cells.value(along: keyPath)) }
        set { cells.set(newValue?.storedValue ?? .null, along: keyPath) }
    }

    /// An optional attribute; nil for no value.
    ///
    /// - Complexity: O(1).
    @inlinable
    public subscript<Attribute: AttributeValue>(
        keyPath: KeyPath<Object, Attribute?>
    ) -> Attribute? {
        get { Attribute(storedValue: cells.value(along: keyPath)) }
        set { cells.set(newValue?.storedValue ?? .null, along: keyPath) }
    }

    /// An attribute by its name, in its stored form.
    ///
    /// - Complexity: O(1).
    public subscript(name: String) -> Value {
        get { cells[name] }
        set { cells[name] = newValue }
    }

    // MARK: - Relationships

    /// Sets the elements of a composite attribute.
    public mutating func set<Composite: CompositeValue>(
        _ keyPath: KeyPath<Object, Composite>, to value: Composite
    ) {
        cells.set(CompositeWriter(value).values, ofElementsAt: keyPath)
    }

    /// Makes a to-one relationship lead to a saved object, or to nothing for nil.
    public mutating func relate<Destination: ManagedObject>(
        _ keyPath: KeyPath<Object, Destination?>, to id: ManagedObjectID?
    ) {
        cells.relate(along: keyPath, to: id)
    }

    /// Makes a to-one relationship, given by its name, lead to a saved object, or to nothing for nil.
    public mutating func relate(_ name: String, to id: ManagedObjectID?) {
        cells.relate(name, to: id)
    }
}

/// The contents of a row, whichever class it is for.
@usableFromInline struct BatchInsertCells {
    fileprivate(set) var index = 0
    /// What could not be set, by row.
    private(set) var refusals: [Int: [ValidationFailure]] = [:]
    /// The values in the order of the entity's slots.
    private(set) var values: [Value]
    private let entity: GraphEntity
    private let store: PersistentStore
    /// The slots of attributes, and of to-one relationships, to which key paths lead.
    private var attributeSlots = KeyPathSlots()
    private var relationshipSlots = KeyPathSlots()

    init(_ entity: GraphEntity, in store: PersistentStore) {
        self.entity = entity
        self.store = store
        values = entity.newRow
    }

    /// Begins the next row.
    mutating func advance() {
        index += 1
        values = entity.newRow
    }

    // MARK: - Attributes

    subscript(name: String) -> Value {
        get {
            guard let property = entity.schema.property(named: name), property.isAttribute else {
                return .null
            }
            return property.slot.flatMap { $0 < values.count ? values[$0] : nil } ?? .null
        }
        set {
            guard let slot = attributeSlot(named: name) else { return }
            values[slot] = newValue
        }
    }

    @usableFromInline func value(along keyPath: AnyKeyPath) -> Value {
        if let slot = attributeSlots[keyPath] { return values[slot] }
        let names = entity.path(of: keyPath)
        return names.count == 1 ? self[names[0]] : .null
    }

    @usableFromInline mutating func set(_ value: Value, along keyPath: AnyKeyPath) {
        guard let slot = attributeSlots[keyPath] ?? attributeSlot(of: keyPath) else { return }
        values[slot] = value
    }

    mutating func set(_ values: [Value], ofElementsAt keyPath: AnyKeyPath) {
        guard case .composite(after: [], let elements) = entity.meaning(of: keyPath) else {
            return refuse(
                nil, "a key path leads to no composite attribute of '\(entity.schema.name)'")
        }
        for (element, value) in zip(elements, values) { self[element.name] = value }
    }

    /// Finds the slot of an attribute, and keeps it for the following rows.
    private mutating func attributeSlot(of keyPath: AnyKeyPath) -> Int? {
        let names = entity.path(of: keyPath)
        guard names.count == 1 else {
            refuse(nil, "a key path leads to no property of '\(entity.schema.name)'")
            return nil
        }
        guard let slot = attributeSlot(named: names[0]) else { return nil }
        attributeSlots.set(slot, for: keyPath)
        return slot
    }

    private mutating func attributeSlot(named name: String) -> Int? {
        guard let property = entity.schema.property(named: name) else {
            refuse(name, "'\(entity.schema.name)' has no property '\(name)'")
            return nil
        }
        guard property.isAttribute else {
            refuse(
                name, "'\(name)' is a relationship: relate the row to an object by its identifier")
            return nil
        }
        guard let slot = property.slot, slot < values.count else {
            refuse(name, "'\(name)' is transient and is not stored")
            return nil
        }
        guard !property.isDerived else {
            refuse(name, "'\(name)' is derived and cannot be set")
            return nil
        }
        return slot
    }

    // MARK: - Relationships

    mutating func relate(along keyPath: AnyKeyPath, to id: ManagedObjectID?) {
        guard let slot = relationshipSlots[keyPath] ?? relationshipSlot(of: keyPath) else { return }
        relate(slot, to: id)
    }

    mutating func relate(_ name: String, to id: ManagedObjectID?) {
        guard let slot = relationshipSlot(named: name) else { return }
        relate(slot, to: id)
    }

    private mutating func relate(_ slot: Int, to id: ManagedObjectID?) {
        guard let id else { return values[slot] = .null }
        guard id.storeIdentifier == store.identifier else {
            let name = entity.schema.slots[slot].name
            return refuse(name, "'\(name)' cannot lead to '\(id)' of another store")
        }
        values[slot] = .object(id.object)
    }

    /// Finds the slot of a to-one relationship, and keeps it for the following rows: following a key
    /// path takes longer than all the rest of a row.
    private mutating func relationshipSlot(of keyPath: AnyKeyPath) -> Int? {
        let names = entity.path(of: keyPath)
        guard names.count == 1 else {
            refuse(nil, "a key path leads to no property of '\(entity.schema.name)'")
            return nil
        }
        guard let slot = relationshipSlot(named: names[0]) else { return nil }
        relationshipSlots.set(slot, for: keyPath)
        return slot
    }

    private mutating func relationshipSlot(named name: String) -> Int? {
        guard let property = entity.schema.property(named: name), property.relationship != nil
        else {
            refuse(name, "'\(entity.schema.name)' has no relationship '\(name)'")
            return nil
        }
        guard let slot = property.slot, slot < values.count else {
            refuse(
                name,
                "'\(name)' is kept with the objects that it leads to, or leads to many: set it in "
                    + "managed objects")
            return nil
        }
        guard !property.isSelfInverse else {
            refuse(
                name,
                "'\(name)' is its own inverse, which two objects hold: set it in managed objects")
            return nil
        }
        return slot
    }

    private mutating func refuse(_ property: String?, _ objection: String) {
        refusals[index, default: []].append(
            ValidationFailure(
                .invalid, property: property, "Row \(index + 1) of the batch: \(objection)."))
    }
}
