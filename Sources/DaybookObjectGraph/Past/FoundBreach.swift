public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// A saved entry that does what a law forbids: who, when, and from what to what.
public struct FoundBreach: Sendable, Hashable {
    /// The object.
    public let objectID: ManagedObjectID
    /// The entry.
    public let sequence: SequenceNumber
    /// Who saved it; nil when no author was named.
    public let author: String?
    /// Why, in the author's words.
    public let note: String?
    /// What else its author said about it, by key.
    public let info: [String: String]
    /// When it happened.
    public let time: Date
    /// The law, and what the entry did.
    public let breach: LawBreach

    fileprivate init(_ found: PastBreach, in store: PersistentStore) {
        objectID = store.objectID(found.breach.object)
        sequence = found.sequence
        author = found.heading.author
        note = found.heading.note
        info = found.heading.info
        time = Date(microseconds: found.heading.time)
        breach = found.breach.inStore(store.identifier)
    }
}

extension FoundBreach: CustomStringConvertible {
    /// The breach after its entry: `entry 7 by 'bob' at 2024-01-02T12:09:00Z: Employee/17: salary …`.
    public var description: String {
        ReadableText.entry(sequence.rawValue, by: author, at: DateText.text(time)) + ": \(breach)"
    }
}

extension PersistentStore {
    /// Judges the whole past by the laws of the program's model and passes every breach to `body`, oldest first.
    ///
    /// Each entry is judged by the laws that the model has now, also one from before they were declared. Entries that
    /// set a model are judged too, although a store does not refuse them. `body` may take long, and may save.
    ///
    /// - Parameter body: Takes a breach.
    /// - Throws: ``StoreError`` with code `corrupt` at the first entry that cannot be trusted; what `body` throws.
    /// - Complexity: O(*k*), *k* the number of saved changes, and O(log *n*) page reads for each object that a condition
    ///   asks about. Memory for a few megabytes of entries.
    public func forEachBreach(_ body: (FoundBreach) throws -> Void) throws {
        try store.forEachBreach { found in
            try body(FoundBreach(found, in: self))
            return .proceed
        }
    }

    /// Every breach of the laws of the program's model in the past, oldest first.
    ///
    /// - Returns: The breaches; empty when the past keeps all laws.
    /// - Throws: As ``forEachBreach(_:)``.
    public func breaches() throws -> [FoundBreach] {
        var found: [FoundBreach] = []
        try forEachBreach { found.append($0) }
        return found
    }

    /// Every breach of a law that the model need not have: whether the past would keep it.
    ///
    /// ```swift
    /// let law = Law("Names stay", \Employee.name, never: .changed)
    /// for breach in try store.breaches(of: law, by: Employee.self) { print(breach) }
    /// ```
    ///
    /// - Parameters:
    ///   - law: The law.
    ///   - type: The class to whose objects, and those of its subclasses, it applies.
    /// - Returns: The breaches, oldest first.
    /// - Throws: ``QueryError`` when the rule cannot be read; ``StoreError`` with code `noSuchEntity` when the class
    ///   is not in the model; as ``forEachBreach(_:)``.
    public func breaches(of law: Law, by type: ManagedObject.Type) throws -> [FoundBreach] {
        guard let entity = store.schema.entity(named: type.entityName) else {
            throw StoreError.noSuchEntity(type.entityName)
        }
        guard let description = law.description(on: ModelBuilder.makePrototype(of: type)) else {
            throw QueryError(
                "The law \(ReadableText.quoted(law.name)) is about no property of '\(entity.name)': its key path "
                    + "leads to a computed property, or further than one.")
        }
        let schema = store.schema
        let laws = SchemaLaws([try SchemaLaw(description, of: entity, in: schema)], in: schema)
        var found: [FoundBreach] = []
        try store.forEachBreach(of: laws) { breach in
            found.append(FoundBreach(breach, in: self))
            return .proceed
        }
        return found
    }
}

extension PersistentContainer {
    /// Every breach of the laws of the model in the past of all stores: see ``PersistentStore/breaches()``.
    ///
    /// - Returns: The breaches, store by store, oldest first.
    /// - Throws: As ``PersistentStore/forEachBreach(_:)``.
    public func breaches() throws -> [FoundBreach] {
        try persistentStoreCoordinator.persistentStores.flatMap { try $0.breaches() }
    }
}
