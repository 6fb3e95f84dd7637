// The room of following: a program that takes entries one after the other, as they are saved, whoever saves
// them, and keeps its place. It only reads entries; cursors move in the room of saving and here.

import DaybookObjectModel
import DaybookSnapshotStore
import DaybookStopping
public import Foundation

/// A selection of entries and of their changes, for a program that follows a store.
///
/// ```swift
/// let raises = EntryFilter.all.of(Employee.self).changing(\Employee.salary).notBy("payroll")
/// ```
///
/// All conditions must hold; of several authors, notes, contexts, entities, objects, properties or kinds one must
/// match. Of information every key must be there, with one of its texts. An entry of which no change is wanted is
/// left out, and the others come with the wanted changes alone. A new filter selects everything.
public struct EntryFilter: Sendable {
    /// Entries of these authors.
    public var authors: Set<String> = []
    /// Entries of anybody but these authors; entries without an author are wanted.
    public var excludedAuthors: Set<String> = []
    /// Entries saved by contexts with these names.
    public var contextNames: Set<String> = []
    /// Entries whose note contains one of these texts, case-sensitively.
    public var notes: Set<String> = []
    /// Entries with information by each of these keys: one of the texts, or any text if none is given.
    public var info: [String: Set<String>] = [:]
    /// Changes of objects of these entities or of entities that inherit from them.
    public var entityNames: Set<String> = []
    /// Changes of these objects.
    public var objectIDs: Set<ManagedObjectID> = []
    /// Inserts, updates or deletes.
    public var kinds: Set<ObjectChangeKind> = []
    /// Entries that happened then or later, by the author's time or else the recording time; nil for no limit.
    public var since: Date?
    /// Entries that happened then or before; nil for no limit.
    public var until: Date?
    /// Changes of these properties, of any entity that has one of that name.
    public var propertyNames: Set<String> = []
    private var keyPaths: [(entity: String, path: ModelKeyPath)] = []

    /// A filter that selects everything.
    public init() {}

    /// The filter that selects everything, to be narrowed.
    public static var all: EntryFilter { EntryFilter() }

    // MARK: - Narrowing

    /// Only entries of these authors.
    public func by(_ authors: String...) -> EntryFilter {
        with { $0.authors.formUnion(authors) }
    }

    /// No entries of these authors: such as a program's own, which it would otherwise get as well.
    public func notBy(_ authors: String...) -> EntryFilter {
        with { $0.excludedAuthors.formUnion(authors) }
    }

    /// Only entries whose note contains one of these texts.
    public func noting(_ texts: String...) -> EntryFilter {
        with { $0.notes.formUnion(texts) }
    }

    /// Only entries with information by a key: one of these texts, or any text if none is given.
    public func having(_ key: String, _ texts: String...) -> EntryFilter {
        with { $0.info[key, default: []].formUnion(texts) }
    }

    /// Only changes of objects of these classes or of their subclasses.
    public func of(_ types: ManagedObject.Type...) -> EntryFilter {
        with { $0.entityNames.formUnion(types.map { $0.entityName }) }
    }

    /// Only changes of these objects.
    public func of(_ objects: ManagedObjectID...) -> EntryFilter {
        with { $0.objectIDs.formUnion(objects) }
    }

    /// Only changes of a property, of objects of the class or of its subclasses. An insert and a delete change
    /// every property that has a value.
    ///
    /// The property must be one that entries have: transient ones are not kept, and of a relationship and its
    /// inverse only one side is. A filter by another is refused when a store is followed, with the side to
    /// choose instead.
    ///
    /// - Precondition: The key path leads to one property; it is checked when a store is followed.
    public func changing<Object: ManagedObject>(
        _ keyPath: PartialKeyPath<Object>
    ) -> EntryFilter {
        with { $0.keyPaths.append((Object.entityName, ModelKeyPath(keyPath: keyPath))) }
    }

    /// Only changes of properties of these names, of any entity. Entries must have them, as with key paths.
    public func changing(_ names: String...) -> EntryFilter {
        with { $0.propertyNames.formUnion(names) }
    }

    private func with(_ narrow: (inout EntryFilter) -> Void) -> EntryFilter {
        var filter = self
        narrow(&filter)
        return filter
    }

    /// The filter with numbers instead of names.
    ///
    /// - Throws: ``StoreError`` with code `noSuchEntity` for what the model or its entries do not have.
    func resolved(
        in store: PersistentStore, _ model: GraphModel
    ) throws -> ResolvedEntryFilter {
        let schema = model.schema
        var changes = ChangeSelection()
        for name in entityNames {
            guard let entity = schema.entity(named: name) else {
                throw StoreError.noSuchEntity(name)
            }
            changes.entities.formUnion(entity.family)
        }
        for name in propertyNames {
            let named = schema.entities.flatMap { entity in
                entity.properties.filter { $0.name == name }.map { (entity, $0) }
            }
            guard let (entity, property) = named.first else {
                throw StoreError(.noSuchEntity, "The model has no property '\(name)'.")
            }
            let numbers = named.filter { $1.isInEntries }.map { $1.number }
            guard !numbers.isEmpty else {
                throw StoreError.notInEntries(property, of: entity, in: schema)
            }
            changes.properties.formUnion(numbers)
        }
        for (name, path) in keyPaths {
            guard let entity = model.entity(named: name) else {
                throw StoreError.noSuchEntity(name)
            }
            let property = entity.property(at: path.keyPath)
            guard let property else { stop("The key path must lead to one property.") }
            guard property.isInEntries else {
                throw StoreError.notInEntries(property, of: entity.schema, in: schema)
            }
            changes.entityProperties[property.number, default: []].formUnion(entity.schema.family)
        }
        // An object of another store is none of this one's.
        changes.objects =
            objectIDs.isEmpty
            ? nil : Set(objectIDs.filter { $0.storeIdentifier == store.identifier }.map(\.object))
        return ResolvedEntryFilter(filter: self, changes: changes)
    }
}

extension SchemaProperty {
    /// Whether the changes in entries tell of the property.
    fileprivate var isInEntries: Bool { isPersistent && end?.isStored != false }
}

extension StoreError {
    fileprivate static func notInEntries(
        _ property: SchemaProperty, of entity: SchemaEntity, in schema: Schema
    ) -> StoreError {
        let name = "'\(entity.name).\(property.name)'"
        guard let end = property.end, let destination = schema.entity(end.destination),
            let inverse = end.inverse.flatMap({ destination.property($0) })
        else {
            return StoreError(
                .noSuchEntity, "Entries have no changes of \(name), because it is transient.")
        }
        return StoreError(
            .noSuchEntity,
            "Entries have no changes of \(name), because the relationship is kept at its other end. Choose "
                + "changes of '\(destination.name).\(inverse.name)'.")
    }
}

/// A filter ready for the entries of one store.
struct ResolvedEntryFilter: Sendable {
    /// The wanted entries.
    private(set) var headers = HeaderSelection()
    private let changes: ChangeSelection
    private let kinds: Set<ObjectChangeKind>

    fileprivate init(filter: EntryFilter, changes: ChangeSelection) {
        self.changes = changes
        kinds = filter.kinds
        headers.authors = filter.authors
        headers.excludedAuthors = filter.excludedAuthors
        headers.contextNames = filter.contextNames
        headers.notes = filter.notes
        headers.info = filter.info
        headers.earliest = filter.since?.nearestMicrosecond ?? .min
        headers.latest = filter.until?.nearestMicrosecond ?? .max
    }

    /// The changes of an entry that are wanted, in the layout of the program's model; nil when the entry is not.
    func selected(of entry: Entry, in schema: Schema) -> [Change]? {
        guard headers.includes(entry) else { return nil }
        let isSelective = changes.isSelective
        let wanted = entry.changes.compactMap { change -> Change? in
            guard kinds.isEmpty || kinds.contains(change.objectChangeKind),
                let shown = change.shown(by: schema),
                !isSelective || changes.includes(shown, of: schema.entity(shown.object.entity))
            else { return nil }
            return shown
        }
        return wanted.isEmpty && (isSelective || !kinds.isEmpty) ? nil : wanted
    }
}

extension Change {
    /// What happens to the object as a whole.
    var objectChangeKind: ObjectChangeKind {
        switch kind {
        case .insert: .inserted
        case .update: .updated
        case .delete: .deleted
        }
    }
}
