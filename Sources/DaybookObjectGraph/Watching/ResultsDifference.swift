public import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
public import Foundation

/// An entry that has changed a list.
public struct ResultsEntry: Sendable, Hashable {
    /// The number of the entry.
    public let sequence: SequenceNumber
    /// Who saved it; nil when that was not said.
    public let author: String?
    /// The store in whose journal it stands.
    public let storeIdentifier: UUID
}

/// What has become of a list: which objects have come, gone, moved and changed, and through which entries.
///
/// Offsets of what is deleted, and where something moves from, count in the list as it was; those of what is
/// inserted, and where it moves to, in the list as it is. So a list that is kept elsewhere follows by taking out
/// what is deleted or moves, from the last to the first, and then putting in what is inserted or moves, from the
/// first to the last.
public struct ResultsDifference: Sendable {
    /// What has become of one object.
    public enum Change: Sendable, Hashable {
        /// It has come into the list.
        case insert(ManagedObjectID, at: Int)
        /// It has left the list.
        case delete(ManagedObjectID, from: Int)
        /// It stands elsewhere among the others, or in another section, and may have changed.
        case move(ManagedObjectID, from: Int, to: Int)
        /// It has changed, or who is related to it, and stands where it stood among the others.
        case update(ManagedObjectID, from: Int, to: Int)

        /// The object.
        public var objectID: ManagedObjectID {
            switch self {
            case .insert(let id, _), .delete(let id, _), .move(let id, _, _),
                .update(let id, _, _):
                id
            }
        }
    }

    /// What has become of one section.
    public enum SectionChange: Sendable, Hashable {
        /// There is a section of this name now.
        case insert(name: String, at: Int)
        /// There is no section of this name any more.
        case delete(name: String, from: Int)
    }

    private var objects = OffsetChanges<ManagedObjectID>()
    private var updates: [ManagedObjectID: OffsetPair] = [:]
    private var sections = OffsetChanges<String>()
    private var causes: [ManagedObjectID: ResultsEntry] = [:]

    private struct OffsetPair: Sendable {
        let old: Int
        let new: Int
    }

    init(_ step: ListStep, in context: ManagedObjectContext) {
        func places(_ places: [OffsetChanges<GraphID>.Place]) -> [OffsetChanges<ManagedObjectID>
            .Place]
        {
            places.map {
                .init(offset: $0.offset, element: context.managedObjectID(of: $0.element))
            }
        }
        objects.removals = places(step.objects.removals)
        objects.insertions = places(step.objects.insertions)
        sections = step.sections
        for update in step.updates {
            updates[context.managedObjectID(of: update.id)] = OffsetPair(
                old: update.old, new: update.new)
        }
        let concerned = Set((objects.removals + objects.insertions).map(\.element))
            .union(updates.keys)
        var entries: [EntryName: ResultsEntry] = [:]
        for (id, name) in step.causes {
            let object = context.managedObjectID(of: id)
            guard concerned.contains(object) else { continue }
            let entry = entries[name] ?? ResultsEntry(name, in: context)
            entries[name] = entry
            causes[object] = entry
        }
    }

    // MARK: - What has changed

    /// Everything that has become of objects: first what is deleted, by rising offsets, then what is
    /// inserted, moves and has only changed.
    public var changes: [Change] {
        let sources = Dictionary(
            objects.removals.map { ($0.element, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        let moved = Set(objects.insertions.map(\.element)).intersection(sources.keys)
        var changes: [Change] = objects.removals.filter { !moved.contains($0.element) }
            .map { .delete($0.element, from: $0.offset) }
        changes += objects.insertions.filter { !moved.contains($0.element) }
            .map { .insert($0.element, at: $0.offset) }
        for place in objects.insertions {
            guard moved.contains(place.element), let source = sources[place.element] else {
                continue
            }
            changes.append(.move(place.element, from: source, to: place.offset))
        }
        changes += updates.sorted { $0.value.new < $1.value.new }
            .map { .update($0.key, from: $0.value.old, to: $0.value.new) }
        return changes
    }

    /// The sections that have come and gone: first what is deleted, then what is inserted.
    public var sectionChanges: [SectionChange] {
        sections.removals.map { .delete(name: $0.element, from: $0.offset) }
            + sections.insertions.map { .insert(name: $0.element, at: $0.offset) }
    }

    /// The entries that have changed what the difference names, oldest first in each store; empty when all of it is
    /// pending in the context.
    public var entries: [ResultsEntry] {
        Set(causes.values).sorted {
            ($0.storeIdentifier.uuidString, $0.sequence) < (
                $1.storeIdentifier.uuidString, $1.sequence
            )
        }
    }

    /// The entry through which an object has come, gone, moved or changed; nil for a pending change.
    public func entry(of id: ManagedObjectID) -> ResultsEntry? { causes[id] }

    /// The difference in the form of the standard library, without the objects that have only changed.
    public var collectionDifference: CollectionDifference<ManagedObjectID> {
        let sources = Dictionary(
            objects.removals.map { ($0.element, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        let targets = Dictionary(
            objects.insertions.map { ($0.element, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        var changes: [CollectionDifference<ManagedObjectID>.Change] = []
        for place in objects.removals {
            changes.append(
                .remove(
                    offset: place.offset, element: place.element,
                    associatedWith: targets[place.element]))
        }
        for place in objects.insertions {
            changes.append(
                .insert(
                    offset: place.offset, element: place.element,
                    associatedWith: sources[place.element]))
        }
        guard let difference = CollectionDifference(changes) else {
            stop("An object stands in a list once.")
        }
        return difference
    }

    /// Does to a list of identifiers what has become of this one.
    ///
    /// - Parameter ids: The list before; it is the list after when this returns.
    /// - Complexity: O(*k* *n*), *k* the number of changes.
    public func apply(to ids: inout [ManagedObjectID]) {
        for place in objects.removals.reversed() { ids.remove(at: place.offset) }
        for place in objects.insertions { ids.insert(place.element, at: place.offset) }
    }

    // MARK: - One after the other

    /// What leads from the list before this difference to the one after the next.
    func followed(by next: ResultsDifference) -> ResultsDifference {
        var merged = self
        merged.objects = objects.followed(by: next.objects)
        merged.sections = sections.followed(by: next.sections)
        let moved = Set((merged.objects.removals + merged.objects.insertions).map(\.element))
        let (forward, backward) = (next.objects.forward, objects.backward)
        merged.updates = [:]
        for (id, pair) in updates where !moved.contains(id) {
            merged.updates[id] = OffsetPair(old: pair.old, new: forward.offset(of: pair.new))
        }
        for (id, pair) in next.updates where !moved.contains(id) {
            merged.updates[id] = OffsetPair(old: backward.offset(of: pair.old), new: pair.new)
        }
        merged.causes.merge(next.causes) { _, later in later }
        // An object that came and went is in the difference no more.
        merged.causes = merged.causes.filter {
            moved.contains($0.key) || merged.updates[$0.key] != nil
        }
        return merged
    }
}

extension ResultsEntry {
    fileprivate init(_ name: EntryName, in context: ManagedObjectContext) {
        let store = context.coordinator.store(name.store)
        sequence = name.sequence
        storeIdentifier = context.coordinator.identifier(ofStore: name.store)
        do {
            author = try store?.store.heading(of: name.sequence).author
        } catch {
            // The list is right; only who saved cannot be told, and whoever asks the store learns why.
            author = nil
        }
    }
}
