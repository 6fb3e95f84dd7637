public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// What happened to an object as a whole.
public enum ObjectChangeKind: String, Sendable, Hashable {
    /// It came to be.
    case inserted
    /// Some of its properties changed.
    case updated
    /// It ceased to be.
    case deleted

    /// What leads from one state to the other; nil when the object is in neither.
    init?(from before: ObjectState?, to after: ObjectState?) {
        switch (before, after) {
        case (nil, nil): return nil
        case (nil, _?): self = .inserted
        case (_?, nil): self = .deleted
        case (_?, _?): self = .updated
        }
    }
}

/// What happened to one property of an object.
///
/// Of the two sides of a relationship only one is kept in the journal and reported: the to-one side
/// where there is one.
public struct PropertyChange: Sendable, Hashable {
    /// The property's name.
    public let name: String
    /// The value before: null when there was none, for an object that was inserted, and for a to-many
    /// relationship.
    public let old: Value
    /// The value after: null when there is none, for an object that was deleted, and for a to-many
    /// relationship.
    public let new: Value
    /// The objects that a relationship no longer leads to, in its order.
    public let removed: [ManagedObjectID]
    /// The objects that a relationship newly leads to, in its order. One that is also in ``removed`` has
    /// moved.
    public let added: [ManagedObjectID]
    /// Whether the values are bytes that hold the JSON of a coded value.
    var isCoded = false
}

/// What one entry did to one object.
public struct ObjectRevision: Sendable, Hashable {
    /// The entry.
    public let sequence: SequenceNumber
    /// Who saved it; nil when no author was named.
    public let author: String?
    /// Why, in the author's words.
    public let note: String?
    /// What else was kept with the entry, by key.
    public let info: [String: String]
    /// When it happened.
    public let time: Date
    /// What happened to the object.
    public let kind: ObjectChangeKind
    /// What happened to its properties, always in the same order.
    public let changes: [PropertyChange]
}

/// An object that differs between two moments.
public struct ObjectDifference: Sendable, Hashable {
    /// The object.
    public let objectID: ManagedObjectID
    /// What leads from one moment to the other.
    public let kind: ObjectChangeKind
    /// The properties that differ, always in the same order.
    public let changes: [PropertyChange]
}

extension PersistentStore {
    /// How its objects and their properties are named.
    var names: StoreNames { StoreNames(storeIdentifier: identifier, schema: store.schema) }

    /// The identity of an object of this store.
    package func objectID(_ object: ObjectID) -> ManagedObjectID { names.objectID(object) }

    /// The properties that differ between two states of an object.
    func propertyChanges(
        of object: ObjectID, from before: ObjectState?, to after: ObjectState?
    ) -> [PropertyChange] {
        guard let entity = store.schema.entity(object.entity) else { return [] }
        let names = names
        return entity.properties.compactMap { property in
            if let slot = property.slot {
                return names.change(
                    of: property, from: before?.value(inSlot: slot).map(attached),
                    to: after?.value(inSlot: slot).map(attached))
            }
            guard property.isStoredToMany else { return nil }
            return names.change(
                ofMembers: property, from: before?.members[property.number] ?? [:],
                to: after?.members[property.number] ?? [:])
        }
    }
}

extension ObjectState {
    fileprivate func value(inSlot slot: Int) -> Value? {
        slot < values.count ? values[slot] : nil
    }
}
