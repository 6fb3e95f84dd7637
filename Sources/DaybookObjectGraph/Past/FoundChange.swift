public import DaybookJournalLog
public import DaybookObjectModel
import DaybookSnapshotStore
public import Foundation

/// A saved change that a request about changes has found: who, when, and from what to what.
public struct FoundChange: Sendable, Hashable {
    /// The object.
    public let objectID: ManagedObjectID
    /// The entry.
    public let sequence: SequenceNumber
    private let heading: EntryHeading
    /// What happened to the property.
    public let change: PropertyChange

    /// Who saved it; nil when no author was named.
    public var author: String? { heading.author }
    /// Why, in the author's words.
    public var note: String? { heading.note }
    /// What else its author said about it, by key.
    public var info: [String: String] { heading.info }
    /// When it happened.
    public var time: Date { Date(microseconds: heading.time) }

    /// The value before; null when there was none, and for a to-many relationship.
    public var old: Value { change.old }
    /// The value after; null when there is none, and for a to-many relationship.
    public var new: Value { change.new }

    init(
        _ found: PastChange, of objectID: ManagedObjectID, _ heading: EntryHeading,
        in store: PersistentStore
    ) {
        self.objectID = objectID
        sequence = found.sequence
        self.heading = heading
        change = store.propertyChange(found, of: objectID.object)
    }
}

extension ManagedObjectContext {
    /// The saved changes that a request asks about: of every object that it finds, those that meet any of its
    /// conditions on changes, oldest first.
    ///
    /// ```swift
    /// let falls = try context.changes(
    ///     for: FetchRequest<Employee>(where: (\Employee.salary).decreased(since: .date(newYear))))
    /// ```
    ///
    /// The conditions are `changed(by:since:until:)`, `increased` and `decreased` on properties of the object,
    /// or CHANGED, INCREASED and DECREASED in text, alone or joined by AND and OR. Other conditions only
    /// choose objects. Pending changes are in no entry; whether an object that is pending counts, the request
    /// says.
    ///
    /// - Parameter request: The request; its order is that of the objects.
    /// - Returns: The changes.
    /// - Throws: ``QueryError`` when the request asks about no change, or does not fit the model;
    ///   ``StoreError`` with code `noSuchEntry` or `noSuchTag` for a moment that the store does not know, and
    ///   when it cannot be read.
    /// - Complexity: As of ``fetch(_:)-(FetchRequest<Object>)``, and O(log *n* + *k*) page reads for each
    ///   object, *k* the number of its versions.
    public func changes<Object>(for request: FetchRequest<Object>) throws -> [FoundChange] {
        requireQueue()
        let ids = try objectIDs(request)
        let targets = targets(try stores(for: request))
        var questions: [UInt32: [FilterChange]] = [:]
        for target in targets {
            guard let store = target.store else { continue }
            let asked: [FilterChange]
            switch try plan(request, for: target) {
            case .query(let query): asked = query.filter.changesAsked
            case .memory: asked = []
            }
            guard !asked.isEmpty else {
                throw QueryError(
                    "The request asks about no change. Give it a condition such as 'salary DECREASED', alone or "
                        + "joined with others by AND and OR.")
            }
            questions[store.number] = asked
        }
        var found: [FoundChange] = []
        for run in ids.inRuns {
            guard
                let store = targets.lazy.compactMap(\.store).first(where: { $0.number == run.store }
                )
            else { continue }
            let more = try parentStore.changes(
                meeting: questions[run.store] ?? [], of: run.objects, in: store)
            // Mostly there is one run, whose changes need not be copied.
            if found.isEmpty { found = more } else { found += more }
        }
        return found
    }
}

extension [GraphID] {
    /// The objects in their order, those of one store that follow each other together.
    fileprivate var inRuns: [(store: UInt32, objects: [ObjectID])] {
        var runs: [(store: UInt32, objects: [ObjectID])] = []
        for id in self {
            if runs.last?.store != id.store { runs.append((id.store, [])) }
            runs[runs.count - 1].objects.append(id.object)
        }
        return runs
    }
}

extension PersistentStore {
    fileprivate func propertyChange(_ found: PastChange, of object: ObjectID) -> PropertyChange {
        let property = store.schema.entity(object.entity)?.property(found.property)
        return PropertyChange(
            name: property?.name ?? "", old: attached(found.old), new: attached(found.new),
            removed: found.removed.map { objectID($0) }, added: found.added.map { objectID($0) },
            isCoded: property?.attribute?.type == .codable)
    }
}
