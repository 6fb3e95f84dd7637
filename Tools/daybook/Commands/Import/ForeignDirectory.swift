import Daybook
import DaybookAudit
import DaybookObjectModel

/// The known tables and objects of foreign streams: the entity of a table, the attribute that
/// identifies its rows, and the object of the store for a foreign name.
///
/// Names are kept as long as their objects exist, so memory grows with the number of named objects
/// of the source.
struct ForeignDirectory {
    /// A name within a table of a stream.
    private struct Name: Hashable {
        let table: ForeignTable
        let name: String
    }

    /// A named object of the source.
    struct Known {
        /// The entity of its table.
        let entity: SchemaEntity
        /// The object; nil if an earlier import made it.
        var id: ManagedObjectID?
        /// The value of its key; nil if it has none.
        var key: JSONValue?
        /// The members of its to-many relationships by name, with their positions.
        var lists: [String: [String: Double]] = [:]
    }

    private let schema: Schema
    private let tables: [String: SchemaEntity]
    private let keys: [EntityNumber: SchemaProperty]
    /// The tables seen so far, by stream.
    private var tablesOfStreams: [String: Set<ForeignTable>] = [:]
    private var names: [Name: Known] = [:]
    /// Objects that the open step deletes; other events of the step may still name them.
    private var leaving: [Name: Known] = [:]

    /// - Throws: ``ToolError`` when a key or a table is not in the model.
    init(_ schema: Schema, _ options: Importer.Options) throws {
        self.schema = schema
        var tables: [String: SchemaEntity] = [:]
        for (table, name) in options.tables {
            tables[table] = try Self.entity(name, in: schema, "--table")
        }
        self.tables = tables
        var keys: [EntityNumber: SchemaProperty] = [:]
        for entity in schema.entities {
            let unique = entity.properties.filter { $0.isUnique }
            if unique.count == 1 { keys[entity.number] = unique[0] }
        }
        for (name, attribute) in options.keys.sorted(by: { $0.key < $1.key }) {
            let entity = try Self.entity(name, in: schema, "--key")
            guard let property = entity.property(named: attribute),
                property.isUnique
            else {
                throw ToolError.usage(
                    "'--key \(name)=\(attribute)' names no unique attribute of '\(name)'. "
                        + "Objects can be told apart only by a unique attribute.")
            }
            for number in entity.family { keys[number] = property }
        }
        self.keys = keys
    }

    private static func entity(
        _ name: String, in schema: Schema, _ option: String
    ) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        let names = schema.entities.map(\.name)
        let near = Suggestion.nearest(to: name, among: names)
        throw ToolError.usage(
            "'\(option)' names an entity '\(name)' that the model does not have; "
                + (near.map { "did you mean '\($0)'?" } ?? "it has \(Operation.list(names))."))
    }

    // MARK: - Entities and keys

    /// The entity of an event's table; nil if there is none.
    func entity(of event: ForeignEvent) -> SchemaEntity? {
        for table in event.tables.reversed() {
            if let entity = tables[table] { return entity }
        }
        return event.tables.first.flatMap { schema.entity(named: $0) }
    }

    /// The attribute that identifies the objects of an entity; nil if there is none.
    func key(of entity: SchemaEntity) -> SchemaProperty? {
        keys[entity.number]
    }

    // MARK: - Names

    /// A named object of a table.
    func known(_ name: String, in table: ForeignTable) -> Known? {
        let name = Name(table: table, name: name)
        return names[name] ?? leaving[name]
    }

    /// The objects of that name in a stream to which a reference to an entity can lead: one for
    /// each table with that name.
    func known(
        _ name: String, in stream: String, leadingTo destination: SchemaEntity
    ) -> [Known] {
        let found = tablesOfStreams[stream, default: []].compactMap { known(name, in: $0) }
        return found.filter { destination.family.contains($0.entity.number) }
    }

    /// Remembers an event's data about its object, which is this one of the store.
    mutating func remember(
        _ event: ForeignEvent, _ object: ManagedObjectID, of entity: SchemaEntity
    ) {
        take(event, entity) { $0.id = object }
    }

    /// Remembers an event that was imported before.
    mutating func rememberSeen(_ event: ForeignEvent) {
        guard let entity = entity(of: event) else { return }
        take(event, entity) { _ in }
        finishStep()
    }

    /// Forgets the names of the step's deleted objects.
    mutating func finishStep() {
        leaving.removeAll()
    }

    private mutating func take(
        _ event: ForeignEvent, _ entity: SchemaEntity, _ change: (inout Known) -> Void
    ) {
        guard let text = event.name else { return }
        let name = Name(table: event.table, name: text)
        tablesOfStreams[event.table.stream, default: []].insert(event.table)
        guard event.operation != .delete else {
            leaving[name] = names.removeValue(forKey: name)
            return
        }
        let new = Known(entity: entity)
        var known = event.operation == .insert ? new : names[name] ?? new
        if let key = key(of: entity), let value = event.after?.first(named: key.name) {
            known.key = value
        }
        for membership in event.memberships {
            for member in membership.removed {
                known.lists[membership.name]?[member.name] = nil
            }
            for member in membership.added {
                known.lists[membership.name, default: [:]][member.name] = member.order
            }
        }
        change(&known)
        names[name] = known
    }
}

extension ForeignDirectory.Known {
    /// The names of the members of a to-many relationship, in order.
    func members(of relationship: String) -> [String] {
        (lists[relationship] ?? [:]).sorted { first, second in
            first.value == second.value
                ? first.key.count == second.key.count
                    ? first.key < second.key : first.key.count < second.key.count
                : first.value < second.value
        }.map(\.key)
    }
}
