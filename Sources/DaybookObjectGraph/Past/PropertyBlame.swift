public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// Who wrote the value that a property has, when and why, and what it was before.
///
/// Bringing an object back does not write its values. After the undo of a delete, each property is
/// credited to the author of its value, and ``broughtBackBy`` says which entry brought it back.
///
/// The same holds for objects that were restored or redone, and for references to them that were removed
/// and restored with them. The undo of an update is credited to its author: it has changed the value,
/// and ``previous`` says from what.
public struct PropertyBlame: Sendable, Hashable {
    /// An entry that brought a value back.
    public struct Return: Sendable, Hashable {
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
    }

    /// The property's name.
    public let name: String
    /// The entry that wrote the value; the one that inserted the object when none has since.
    public let sequence: SequenceNumber
    /// Who saved that entry; nil when no author was named.
    public let author: String?
    /// Why, in the author's words.
    public let note: String?
    /// What else was kept with that entry, by key.
    public let info: [String: String]
    /// When that entry happened.
    public let time: Date
    /// Whether that entry inserted the object, so that there was nothing before.
    public let isInsert: Bool
    /// The value; null for a to-many relationship.
    public let value: Value
    /// The value before that entry; null when it inserted the object, and for a to-many relationship.
    public let previous: Value
    /// The objects that a relationship leads to, in its order.
    public let objects: [ManagedObjectID]
    /// The objects that it led to before that entry.
    public let previousObjects: [ManagedObjectID]
    /// The last entry that brought the value back after it had been taken away; nil when it has been
    /// there ever since it was written.
    public let broughtBackBy: Return?
    /// Whether the value is bytes that hold the JSON of a coded one.
    let isCoded: Bool
    /// Whether the property leads to any number of objects.
    let isToMany: Bool

    init(_ blame: BlameRecord, in store: PersistentStore) {
        func objects(_ value: Value, _ members: [Member]) -> [ManagedObjectID] {
            (value.reference.map { [$0] } ?? members.map(\.object)).map(store.objectID)
        }
        name = blame.property.name
        sequence = blame.sequence
        author = blame.author
        note = blame.note
        info = blame.info
        time = Date(microseconds: blame.time)
        isInsert = blame.isInsert
        value = store.attached(blame.value)
        previous = store.attached(blame.previous)
        isCoded = blame.property.attribute?.type == .codable
        isToMany = blame.property.relationship?.isToMany == true
        self.objects = objects(blame.value, blame.members)
        previousObjects = objects(blame.previous, blame.previousMembers)
        broughtBackBy = blame.returning.map {
            Return(
                sequence: $0.sequence, author: $0.heading.author, note: $0.heading.note,
                info: $0.heading.info,
                time: Date(microseconds: $0.heading.time))
        }
    }
}
