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
    /// The identity of an object of this store.
    package func objectID(_ object: ObjectID) -> ManagedObjectID {
        ManagedObjectID(
            storeIdentifier: identifier, object: object,
            entityName: store.schema.entity(object.entity)?.name ?? "", isTemporaryID: false)
    }

    /// The properties that differ between two states of an object.
    func propertyChanges(
        of object: ObjectID, from before: ObjectState?, to after: ObjectState?
    ) -> [PropertyChange] {
        guard let entity = store.schema.entity(object.entity) else { return [] }
        return entity.properties.compactMap { property in
            if let slot = property.slot {
                return propertyChange(
                    property, from: before?.value(inSlot: slot), to: after?.value(inSlot: slot))
            }
            guard property.isStoredToMany else { return nil }
            return membersChange(
                property, from: before?.members[property.number] ?? [:],
                to: after?.members[property.number] ?? [:])
        }
    }

    /// The properties that a change of an entry is about.
    func propertyChanges(in change: Change) -> [PropertyChange] {
        guard let entity = store.schema.entity(change.object.entity) else { return [] }
        var members: [PropertyNumber: MembershipEdit] = [:]
        for edit in change.members { members[edit.property] = edit }
        var edits: [PropertyNumber: Edit] = [:]
        if case .update(let changed, _) = change.kind {
            for edit in changed { edits[edit.property] = edit }
        }
        return entity.properties.compactMap { property in
            guard let slot = property.slot else {
                guard let edit = members[property.number] else { return nil }
                func orders(_ members: [Member]) -> [ObjectID: Double] {
                    Dictionary(members.map { ($0.object, $0.order) }) { first, _ in first }
                }
                return membersChange(
                    property, from: orders(edit.removed), to: orders(edit.added))
            }
            switch change.kind {
            case .insert(let values, _):
                return propertyChange(property, from: nil, to: values.stored(inSlot: slot))
            case .delete(let values, _):
                return propertyChange(property, from: values.stored(inSlot: slot), to: nil)
            case .update:
                return edits[property.number].flatMap {
                    propertyChange(property, from: $0.old, to: $0.new)
                }
            }
        }
    }

    private func propertyChange(
        _ property: SchemaProperty, from old: Value?, to new: Value?
    ) -> PropertyChange? {
        let (old, new) = (old ?? .null, new ?? .null)
        guard old != new else { return nil }
        return PropertyChange(
            name: property.name, old: attached(old), new: attached(new),
            removed: old.reference.map { [objectID($0)] } ?? [],
            added: new.reference.map { [objectID($0)] } ?? [],
            isCoded: property.attribute?.type == .codable)
    }

    private func membersChange(
        _ property: SchemaProperty, from old: [ObjectID: Double], to new: [ObjectID: Double]
    ) -> PropertyChange? {
        guard old != new else { return nil }
        func missing(in others: [ObjectID: Double], of members: [ObjectID: Double])
            -> [ManagedObjectID]
        {
            members.filter { others[$0.key] != $0.value }
                .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
                .map { objectID($0.key) }
        }
        return PropertyChange(
            name: property.name, old: .null, new: .null, removed: missing(in: new, of: old),
            added: missing(in: old, of: new))
    }
}

extension ObjectState {
    fileprivate func value(inSlot slot: Int) -> Value? { values.stored(inSlot: slot) }
}

extension [Value] {
    /// A stored value; nil for a transient property, which has none.
    fileprivate func stored(inSlot slot: Int) -> Value? { slot < count ? self[slot] : nil }
}
