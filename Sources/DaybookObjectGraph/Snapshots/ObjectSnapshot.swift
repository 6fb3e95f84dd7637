// The room of snapshots: values of objects that leave their context. It reads objects, and what it makes knows of
// none.

public import DaybookJournalLog
public import DaybookObjectModel
import DaybookStopping

/// What an object was at one moment, as a value that may go anywhere.
///
/// ```swift
/// let ada = try await context.perform { try employee.snapshot(including: \.department) }
/// print(ada.lastName, ada.salary)
/// let department = ada.snapshot(of: \.department)?.name
/// ```
///
/// Attributes and composite attributes have the names and types of the class. A relationship is the
/// ``ManagedObjectID`` of the object that it leads to, or an array of them. Those that the snapshot includes
/// are snapshots as well. Since these are chosen, and each is made once for each place, a snapshot is a tree
/// however the objects are connected.
///
/// Two snapshots are equal when they are of the same object with equal values. A property of the class with
/// the name of one of the members below is read as `snapshot[dynamicMember: \.id]`.
///
/// Encoded, a snapshot is an object of the properties by name, with its address as `objectID`: attributes in
/// their own coding, composite attributes as objects, relationships as addresses, or as the objects that
/// are included.
@dynamicMemberLookup
public struct ObjectSnapshot<Object: ManagedObject>: Sendable, Identifiable {
    let content: SnapshotContent

    init(_ content: SnapshotContent) {
        self.content = content
    }

    /// The identifier of the object.
    public var id: ManagedObjectID { content.id }
    /// The entry that the values were read from: the last one that changed the object then. Nil for an object
    /// that had never been saved.
    public var sequence: SequenceNumber? { content.sequence }
    /// Whether the values were changed, or the object new, and not saved.
    public var isEdited: Bool { content.isEdited }

    /// The value of an attribute.
    ///
    /// - Precondition: The key path leads to an attribute that the class declares, not to a computed
    ///   property.
    public subscript<Value: AttributeValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value
    {
        let property = content.property(at: keyPath)
        guard let slot = property.slot else {
            stop("'\(property.name)' is not an attribute, so a snapshot has no value of it.")
        }
        let stored = content.values[slot]
        guard
            let value = Value(storedValue: stored)
                ?? (stored.isNull
                    ? content.entity.emptyValue(inSlot: slot) : Value.unknownValue)
        else {
            stop("A snapshot holds only values that the types of its attributes have.")
        }
        return value
    }

    /// The value of a composite attribute.
    public subscript<Value: CompositeValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value
    {
        var reader = CompositeReader(content.values, content.slots(ofComposite: keyPath))
        return Value(from: &reader)
    }

    /// The identifier of the object that a relationship led to; nil for none.
    public subscript<Other: ManagedObject>(
        dynamicMember keyPath: KeyPath<Object, Other?>
    ) -> ManagedObjectID? {
        content.destinations(of: content.property(at: keyPath)).first
    }

    /// The identifiers of the objects that a relationship led to, in no particular order.
    public subscript<Other: ManagedObject>(
        dynamicMember keyPath: KeyPath<Object, Set<Other>>
    ) -> [ManagedObjectID] {
        content.destinations(of: content.property(at: keyPath))
    }

    /// The identifiers of the objects that a relationship led to, in its order.
    public subscript<Other: ManagedObject>(
        dynamicMember keyPath: KeyPath<Object, [Other]>
    ) -> [ManagedObjectID] {
        content.destinations(of: content.property(at: keyPath))
    }

    /// The stored form of an attribute by its name; nil when the entity has no such attribute.
    public func storedValue(forKey key: String) -> Value? {
        content.entity.schema.property(named: key)?.slot.flatMap { slot in
            content.entity.schema.slots[slot].isAttribute ? content.values[slot] : nil
        }
    }

    /// The snapshot of the object that a relationship led to; nil for none, and when the snapshot does not
    /// include the relationship.
    public func snapshot<Other: ManagedObject>(
        of keyPath: KeyPath<Object, Other?>
    ) -> ObjectSnapshot<Other>? {
        content.included[content.property(at: keyPath).number]?.first.map(
            ObjectSnapshot<Other>.init)
    }

    /// The snapshots of the objects that a relationship led to; none when the snapshot does not include the
    /// relationship.
    public func snapshots<Other: ManagedObject>(
        of keyPath: KeyPath<Object, Set<Other>>
    ) -> [ObjectSnapshot<Other>] {
        (content.included[content.property(at: keyPath).number] ?? []).map(
            ObjectSnapshot<Other>.init)
    }

    /// The snapshots of the objects that a relationship led to, in its order; none when the snapshot does not
    /// include the relationship.
    public func snapshots<Other: ManagedObject>(
        of keyPath: KeyPath<Object, [Other]>
    ) -> [ObjectSnapshot<Other>] {
        (content.included[content.property(at: keyPath).number] ?? []).map(
            ObjectSnapshot<Other>.init)
    }
}

extension ObjectSnapshot: Hashable {
    /// Whether both are of the same object, with equal values, relationships and included snapshots.
    public static func == (left: ObjectSnapshot, right: ObjectSnapshot) -> Bool {
        left.content == right.content
    }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}

/// What a snapshot holds, whatever the class of the object.
final class SnapshotContent: Sendable {
    let id: ManagedObjectID
    let entity: GraphEntity
    let sequence: SequenceNumber?
    let isEdited: Bool
    /// The values by slot; large data can be read from the store.
    let values: [Value]
    /// Where relationships led.
    private let destinations: [PropertyNumber: [ManagedObjectID]]
    /// The snapshots of the objects there, of the relationships that are included.
    let included: [PropertyNumber: [SnapshotContent]]

    init(
        _ id: ManagedObjectID, of entity: GraphEntity, sequence: SequenceNumber?, isEdited: Bool,
        _ values: [Value], _ destinations: [PropertyNumber: [ManagedObjectID]],
        including included: [PropertyNumber: [SnapshotContent]]
    ) {
        self.id = id
        self.entity = entity
        self.sequence = sequence
        self.isEdited = isEdited
        self.values = values
        self.destinations = destinations
        self.included = included
    }

    func destinations(of property: SchemaProperty) -> [ManagedObjectID] {
        destinations[property.number] ?? []
    }

    /// The property that a key path leads to.
    func property(at keyPath: AnyKeyPath) -> SchemaProperty {
        guard case .properties(let names) = entity.meaning(of: keyPath),
            let (property, count) = entity.schema.property(at: names[...]), count == names.count
        else {
            stop(
                "A snapshot of '\(entity.schema.name)' has the attributes and relationships that the "
                    + "class declares, and a key path leads to something else.")
        }
        return property
    }

    /// The slots of the elements of a composite attribute.
    func slots(ofComposite keyPath: AnyKeyPath) -> [Int] {
        guard case .composite(after: [], let elements) = entity.meaning(of: keyPath) else {
            stop("A snapshot of '\(entity.schema.name)' has no such composite attribute.")
        }
        return elements.compactMap { entity.schema.property(named: $0.name)?.slot }
    }
}

extension SnapshotContent: Equatable {
    static func == (left: SnapshotContent, right: SnapshotContent) -> Bool {
        left === right
            || left.id == right.id && left.values == right.values
                && left.destinations == right.destinations && left.included == right.included
    }
}
