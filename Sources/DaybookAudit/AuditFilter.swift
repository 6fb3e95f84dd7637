public import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation

/// A selection of entries and their changes.
///
/// All given conditions must hold; of several authors, entities, objects or properties one must
/// match. A new filter selects everything.
public struct AuditFilter: Sendable, Hashable {
    /// Entries of these authors.
    public var authors: Set<String> = []
    /// Entries that change objects of these entities or of entities that inherit from them.
    public var entities: Set<String> = []
    /// Entries that change these objects, as in `Country/17`.
    public var objects: Set<String> = []
    /// Entries that change these properties.
    public var properties: Set<String> = []
    /// Entries that insert, update or delete, and only those of their changes.
    public var operations: Set<AuditChange.Operation> = []
    /// Entries that add or remove a value containing one of these texts, in any property,
    /// case-sensitively, in any spelling of accents, and whatever marks follow. An object that joins or
    /// leaves a relationship is found by its name.
    public var texts: Set<String> = []
    /// Entries whose note contains one of these texts, case-sensitively.
    public var notes: Set<String> = []
    /// Entries with information by each of these keys: one of the texts, or any text if none is given.
    public var info: [String: Set<String>] = [:]
    /// The first and the last selected entry.
    public var range: ClosedRange<SequenceNumber> = .zero...SequenceNumber(.max)
    /// The first and the last selected time, in microseconds since 1970.
    package var earliest = Int64.min
    package var latest = Int64.max

    /// A filter that selects everything.
    public init() {}

    /// Entries that happened then or later, by the author's time or else the recording time; nil
    /// for no limit. To the microsecond.
    public var since: Date? {
        get { earliest == .min ? nil : Date(microseconds: earliest) }
        set { earliest = newValue?.nearestMicrosecond ?? .min }
    }

    /// Entries that happened then or before; nil for no limit.
    public var until: Date? {
        get { latest == .max ? nil : Date(microseconds: latest) }
        set { latest = newValue?.nearestMicrosecond ?? .max }
    }

    /// Whether changes between the first and the last selected entry may be left out.
    package var isSelective: Bool {
        !authors.isEmpty || !entities.isEmpty || !objects.isEmpty || !properties.isEmpty
            || !operations.isEmpty || !texts.isEmpty || !notes.isEmpty || !info.isEmpty
            || earliest != .min || latest != .max
    }

    /// The filter with numbers instead of names, which are those of any version of the model.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/noSuchEntity`` when no version has such an
    ///   entity or property; with ``StoreError/Code/noSuchObject`` when a text names no object.
    package func resolved(in history: ModelHistory, _ schema: Schema) throws -> ResolvedFilter {
        try ResolvedFilter(self, in: history, schema)
    }
}

/// A filter ready for use with the entries of one model.
package struct ResolvedFilter: Sendable {
    private let filter: AuditFilter
    private let history: ModelHistory
    /// The wanted entries.
    package private(set) var headers = HeaderSelection()
    /// The wanted changes, with the properties that have, or once had, one of the names.
    private var selection = ChangeSelection()

    /// Whether a part of an entry may be wanted without the rest.
    private let choosesChanges: Bool

    fileprivate init(_ filter: AuditFilter, in history: ModelHistory, _ schema: Schema) throws {
        self.filter = filter
        self.history = history
        headers.authors = filter.authors
        headers.notes = filter.notes
        headers.info = filter.info
        headers.earliest = filter.earliest
        headers.latest = filter.latest
        choosesChanges =
            !filter.entities.isEmpty || !filter.objects.isEmpty || !filter.properties.isEmpty
            || !filter.operations.isEmpty || !filter.texts.isEmpty
        for name in filter.entities.sorted() {
            selection.entities.formUnion(try Self.entity(name, in: history, schema).family)
        }
        var names: Set<String> = []
        for (_, schema) in history.versions {
            for property in schema.entities.flatMap(\.properties) {
                names.insert(property.name)
                if filter.properties.contains(property.name) {
                    selection.properties.insert(property.number)
                }
            }
        }
        for name in filter.properties.sorted() where !names.contains(name) {
            let suggestion = name.suggestion(among: names.sorted())
            throw StoreError(
                .noSuchEntity,
                "The model has no property '\(name)'" + (suggestion.isEmpty ? "." : suggestion))
        }
        var objects: Set<ObjectID> = []
        for name in filter.objects.sorted() {
            let known = history.versions.reversed().lazy.compactMap { version in
                version.schema.object(named: name)
            }.first
            objects.insert(try schema.object(named: name) ?? known ?? Self.object(name, in: schema))
        }
        if !objects.isEmpty { selection.objects = objects }
    }

    /// The record of an entry with the changes that are wanted; nil when it is not wanted.
    package func record(of entry: Entry) -> AuditRecord? {
        guard filter.range.contains(entry.sequence), headers.includes(entry) else { return nil }
        let schema = history.schema(at: entry.sequence)
        let before = entry.version == nil ? nil : history.schema(before: entry.sequence)
        guard choosesChanges else { return AuditRecord(entry, in: schema, before: before) }
        let wanted = entry.changes.filter { includes($0, schema) }
        return wanted.isEmpty
            ? nil : AuditRecord(entry, in: schema, before: before, showing: wanted)
    }

    /// Whether an entry is left out for nothing but happening after the last selected time.
    package func isTooLate(_ entry: Entry) -> Bool {
        guard entry.time > headers.latest, filter.range.contains(entry.sequence) else {
            return false
        }
        var unlimited = headers
        unlimited.latest = .max
        guard unlimited.includes(entry) else { return false }
        guard choosesChanges else { return true }
        let schema = history.schema(at: entry.sequence)
        return entry.changes.contains { includes($0, schema) }
    }

    private func includes(_ change: Change, _ schema: Schema) -> Bool {
        selection.includes(change, of: schema.entity(change.object.entity))
            && (filter.operations.isEmpty || filter.operations.contains(change.operation))
            && (filter.texts.isEmpty || movesText(change, schema))
    }

    /// Whether a value that holds one of the texts comes or goes.
    private func movesText(_ change: Change, _ schema: Schema) -> Bool {
        let readable = AuditChange(change, in: schema)
        func holds(_ text: String) -> Bool {
            filter.texts.contains { text.holds(anySpellingOf: $0) }
        }
        return readable.fields.contains { field in
            !field.old.text.utf8.elementsEqual(field.new.text.utf8)
                && (holds(field.old.text) || holds(field.new.text))
        }
            || readable.memberships.contains { membership in
                (membership.added + membership.removed).contains { holds($0.object) }
            }
    }

    // MARK: - Names

    /// The entity that has that name now, or had it last.
    private static func entity(
        _ name: String, in history: ModelHistory, _ schema: Schema
    ) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        for (_, schema) in history.versions.reversed() {
            if let entity = schema.entity(named: name) { return entity }
        }
        throw noSuchEntity(name, in: schema)
    }

    /// The entity of that name.
    package static func entity(_ name: String, in schema: Schema) throws -> SchemaEntity {
        guard let entity = schema.entity(named: name) else { throw noSuchEntity(name, in: schema) }
        return entity
    }

    /// The object with that name.
    package static func object(_ name: String, in schema: Schema) throws -> ObjectID {
        if let object = schema.object(named: name) { return object }
        let entity = String(name.prefix { $0 != "/" })
        guard schema.entity(named: entity) != nil else { throw noSuchEntity(entity, in: schema) }
        throw StoreError(
            .noSuchObject, "'\(name)' does not name an object, as '\(entity)/17' does.")
    }

    private static func noSuchEntity(_ name: String, in schema: Schema) -> StoreError {
        let names = schema.entities.map(\.name)
        let suggestion = name.suggestion(among: names)
        let remedy =
            suggestion.isEmpty
            ? "; there are \(names.map { "'\($0)'" }.joined(separator: ", "))." : suggestion
        return StoreError(.noSuchEntity, "The model has no entity '\(name)'\(remedy)")
    }
}
