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
        self.changes = changes.map { FollowedChange($0, in: store, model) }
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
    /// The object.
    public let objectID: ManagedObjectID
    /// What happened to it.
    public let kind: ObjectChangeKind
    /// The object whose delete was the cause of this change, by a delete rule; nil for a change by itself.
    public let cause: ManagedObjectID?
    /// The properties that changed, in the order of the model. An insert has those with a value, and a delete
    /// those that had one.
    public let properties: [PropertyChange]
    let entity: GraphEntity

    init(_ change: Change, in store: PersistentStore, _ model: GraphModel) {
        objectID = store.objectID(change.object)
        kind = change.objectChangeKind
        cause = change.cause.map { store.objectID($0) }
        properties = store.propertyChanges(in: change)
        entity = model.entity(change.object.entity)
    }

    /// The values that a deleted object had, by the names of its properties; empty for other changes.
    public var tombstone: [String: Value] {
        guard kind == .deleted else { return [:] }
        return Dictionary(properties.map { ($0.name, $0.old) }) { first, _ in first }
    }

    // MARK: - One property

    /// What happened to a property; nil when the entry did not change it.
    public func property(named name: String) -> PropertyChange? {
        properties.first { $0.name == name }
    }

    /// What happened to a property; nil when the entry did not change it, and for an object that is not of the
    /// class.
    public func property<Object: ManagedObject>(
        _ keyPath: PartialKeyPath<Object>
    ) -> PropertyChange? {
        guard isOf(Object.self), let property = entity.property(at: keyPath) else { return nil }
        return self.property(named: property.name)
    }

    /// The value of an attribute before the entry; nil when the entry did not change it, when there was none, and
    /// when the type cannot represent it.
    public func old<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element>
    ) -> Element? {
        read(property(keyPath)?.old)
    }

    /// The value of an attribute that objects may be without, before the entry; nil as for other attributes.
    public func old<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element?>
    ) -> Element? {
        read(property(keyPath)?.old)
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
        read(property(keyPath)?.new)
    }

    /// The value of an attribute that objects may be without, after the entry; nil as for other attributes.
    public func new<Object: ManagedObject, Element: AttributeValue>(
        _ keyPath: KeyPath<Object, Element?>
    ) -> Element? {
        read(property(keyPath)?.new)
    }

    /// The object that a relationship leads to after the entry; nil when the entry did not change it, and when it
    /// leads nowhere.
    public func new<Object: ManagedObject, Destination: ManagedObject>(
        _ keyPath: KeyPath<Object, Destination?>
    ) -> ManagedObjectID? {
        property(keyPath)?.added.first
    }

    private func read<Element: AttributeValue>(_ value: Value?) -> Element? {
        guard let value, !value.isNull else { return nil }
        return Element(storedValue: value) ?? Element.unknownValue
    }

    /// Whether the object is of a class. A key path of another one would lead nowhere.
    fileprivate func isOf<Object: ManagedObject>(_ type: Object.Type) -> Bool {
        entity.type is Object.Type
    }
}
