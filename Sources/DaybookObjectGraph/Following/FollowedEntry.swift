public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// An entry of a store, as a program that follows it gets it: a value that may cross threads.
public struct FollowedEntry: Sendable {
    /// The number.
    public let sequence: SequenceNumber
    /// The digest.
    public let digest: Digest
    /// When it happened: the author's time, or else when it was recorded.
    public let time: Date
    /// When the store recorded it.
    public let recordedAt: Date
    /// Who saved it; nil when no author was named.
    public let author: String?
    /// Why, in the author's words.
    public let note: String?
    /// What else was kept with it, by key.
    public let info: [String: String]
    /// The name of the context that saved it; nil for one without a name, and where no context saved.
    public let contextName: String?
    /// The entries that it undoes, one or several in a row; nil when it is no undo.
    public let undoes: ClosedRange<SequenceNumber>?
    /// What it changes, each object once. Empty for an entry that sets the model, and for one that changes only
    /// what the program's model does not have.
    public let changes: [FollowedChange]

    init(_ entry: Entry, _ changes: [Change], in store: PersistentStore, _ model: GraphModel) {
        sequence = entry.sequence
        digest = entry.digest
        time = Date(microseconds: entry.time)
        recordedAt = Date(microseconds: entry.recordedAt)
        author = entry.header.author
        note = entry.header.note
        info = entry.header.info
        contextName = entry.header.context
        undoes = entry.header.undoes
        // Changes of one entity mostly follow each other.
        var last: FollowedEntity?
        var entities: [EntityNumber: FollowedEntity] = [:]
        func entity(_ number: EntityNumber) -> FollowedEntity {
            if let last, last.number == number { return last }
            let entity = entities[number] ?? FollowedEntity(number, store.names, model)
            entities[number] = entity
            last = entity
            return entity
        }
        self.changes = changes.map { FollowedChange(store.attached($0), entity($0.object.entity)) }
    }

    /// The changes of objects of a class and its subclasses.
    public func changes<Object: ManagedObject>(of type: Object.Type) -> [FollowedChange] {
        changes.filter { $0.isOf(type) }
    }
}

/// What an entry did to one object, with old and new values.
///
/// ```swift
/// if change.kind == .updated, let old = change.old(\Employee.salary),
///     let new = change.new(\Employee.salary)
/// {
///     print("\(change.objectID): \(old) → \(new)")
/// }
/// ```
///
/// The values are those of the entry, whatever the object has now. They are read in the program's model: what the
/// store has under another name, or what an entry of before has not, is shown as the past is shown elsewhere.
public struct FollowedChange: Sendable {
    private let change: Change
    private let entity: FollowedEntity

    init(_ change: Change, _ entity: FollowedEntity) {
        self.change = change
        self.entity = entity
    }

    /// The object.
    public var objectID: ManagedObjectID { entity.objectID(change.object) }
    /// What happened to it.
    public var kind: ObjectChangeKind { change.objectChangeKind }
    /// The object whose delete was the cause of this change, by a delete rule; nil for a change by itself.
    public var cause: ManagedObjectID? { change.cause.map { entity.names.objectID($0) } }
    /// The properties that changed, in the order of the model. An insert has those with a value, and a delete
    /// those that had one.
    ///
    /// - Complexity: O(*p*), *p* the number of properties of the object.
    public var properties: [PropertyChange] { entity.names.changes(in: change) }

    /// The values that a deleted object had, by the names of its properties; empty for other changes.
    public var tombstone: [String: Value] {
        guard kind == .deleted else { return [:] }
        return Dictionary(properties.map { ($0.name, $0.old) }) { first, _ in first }
    }

    // MARK: - One property

    /// What happened to a property; nil when the entry did not change it.
    public func property(named name: String) -> PropertyChange? {
        entity.property(named: name).flatMap { entity.names.change(of: $0, in: change) }
    }

    /// What happened to a property; nil when the entry did not change it, and for an object that is not of the
    /// class.
    public func property<Object: ManagedObject>(
        _ keyPath: PartialKeyPath<Object>
    ) -> PropertyChange? {
        declared(keyPath).flatMap { entity.names.change(of: $0, in: change) }
    }

    /// The value of an attribute before the entry; nil when the entry did not change it, when there was none, and
    /// when the type cannot represent it.
    public func old<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element>
    ) -> Element? {
        declared(keyPath).flatMap { read(change.oldValue(of: $0)) }
    }

    /// The value of an attribute that objects may be without, before the entry; nil as for other attributes.
    public func old<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element?>
    ) -> Element? {
        declared(keyPath).flatMap { read(change.oldValue(of: $0)) }
    }

    /// The object that a relationship led to before the entry; nil when the entry did not change it, and when it
    /// led nowhere.
    public func old<Object: ManagedObject, Destination: ManagedObject>(
        _ keyPath: KeyPath<Object, Destination?>
    ) -> ManagedObjectID? {
        property(keyPath)?.removed.first
    }

    /// The value of an attribute after the entry; nil when the entry did not change it, when there is none, and
    /// when the type cannot represent it.
    public func new<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element>
    ) -> Element? {
        declared(keyPath).flatMap { read(change.newValue(of: $0)) }
    }

    /// The value of an attribute that objects may be without, after the entry; nil as for other attributes.
    public func new<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element?>
    ) -> Element? {
        declared(keyPath).flatMap { read(change.newValue(of: $0)) }
    }

    /// The object that a relationship leads to after the entry; nil when the entry did not change it, and when it
    /// leads nowhere.
    public func new<Object: ManagedObject, Destination: ManagedObject>(
        _ keyPath: KeyPath<Object, Destination?>
    ) -> ManagedObjectID? {
        property(keyPath)?.added.first
    }

    /// The property that a key path leads to, for an object of the class.
    private func declared<Object: ManagedObject>(
        _ keyPath: PartialKeyPath<Object>
    ) -> SchemaProperty? {
        isOf(Object.self) ? entity.graph.property(at: keyPath) : nil
    }

    private func read<Element: AttributeValue>(_ value: Value?) -> Element? {
        guard let value, !value.isNull else { return nil }
        return Element(storedValue: value) ?? Element.unknownValue
    }

    /// Whether the object is of a class. A key path of another one would lead nowhere.
    fileprivate func isOf<Object: ManagedObject>(_ type: Object.Type) -> Bool {
        entity.graph.type is Object.Type
    }
}

/// What the changes of one entity's objects have in common. It does not keep the store open.
final class FollowedEntity: Sendable {
    let number: EntityNumber
    let names: StoreNames
    let graph: GraphEntity
    private let group: IdentifierGroup

    init(_ number: EntityNumber, _ names: StoreNames, _ model: GraphModel) {
        self.number = number
        self.names = names
        graph = model.entity(number)
        group = names.group(of: number)
    }

    /// The identity of an object of the entity.
    func objectID(_ object: ObjectID) -> ManagedObjectID {
        ManagedObjectID(group, number: object.number)
    }

    func property(named name: String) -> SchemaProperty? {
        names.schema.entity(number)?.property(named: name)
    }
}
