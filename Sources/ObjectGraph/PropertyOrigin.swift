public import Foundation
public import JournalLog
public import ObjectModel
import SnapshotStore

/// Who made a property what it is, when and why, and what it was before.
public struct PropertyOrigin: Sendable, Hashable {
    /// The property's name.
    public let name: String
    /// The entry that last changed the property; the one that inserted the object when none has since.
    public let sequence: SequenceNumber
    /// Who saved that entry; nil when nobody was named.
    public let author: String?
    /// Why, in the author's words.
    public let note: String?
    /// When that entry happened.
    public let time: Date
    /// Whether that entry inserted the object, so that there was nothing before it.
    public let isInsert: Bool
    /// The value; null for a to-many relationship.
    public let value: Value
    /// The value before that entry; null when it inserted the object, and for a to-many relationship.
    public let previous: Value
    /// The objects that a relationship leads to, in its order.
    public let objects: [ManagedObjectID]
    /// The objects that it led to before that entry.
    public let previousObjects: [ManagedObjectID]

    init(_ blame: PropertyBlame, in store: PersistentStore) {
        func objects(_ value: Value, _ members: [Member]) -> [ManagedObjectID] {
            (value.reference.map { [$0] } ?? members.map(\.object)).map(store.objectID)
        }
        name = blame.property.name
        sequence = blame.sequence
        author = blame.author
        note = blame.note
        time = Date(microseconds: blame.time)
        isInsert = blame.isInsert
        value = blame.value
        previous = blame.previous
        self.objects = objects(blame.value, blame.members)
        previousObjects = objects(blame.previous, blame.previousMembers)
    }
}
