public import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore
public import Foundation

/// The export that an encoder works for.
public struct AuditScope: Sendable {
    /// The store.
    package let store: Store
    /// The filter.
    public let filter: AuditFilter
    /// The values to hide.
    package let redaction: Redaction
    /// The last entry when the export begins.
    public let head: SequenceNumber
    /// The entry after which the export continues; nil for one that starts from the beginning.
    public let resumesAfter: SequenceNumber?
    /// The options of the export.
    public let options: AuditOptions
    /// The store as each version of its model reads it, from the entry on that set the version.
    private let versions: [(first: SequenceNumber, store: Store)]

    /// Describes an export.
    ///
    /// - Throws: `StoreError` when a version of the model cannot be read.
    init(
        store: Store, _ history: ModelHistory, filter: AuditFilter, redaction: Redaction,
        head: SequenceNumber, resumesAfter: SequenceNumber?, options: AuditOptions
    ) throws {
        self.store = store
        self.filter = filter
        self.redaction = redaction
        self.head = head
        self.resumesAfter = resumesAfter
        self.options = options
        versions = try history.versions.map { version in
            guard version.sequence != store.modelSequence else { return (version.sequence, store) }
            return (version.sequence, try store.withModel(at: version.sequence))
        }
    }

    /// The model of the store.
    package var schema: Schema { store.schema }

    /// The identifier of the store.
    public var storeIdentifier: UUID { store.uuid }

    /// Whether what is written begins where the journal begins, or an earlier export ended, and
    /// leaves out nothing.
    var isGapless: Bool {
        !filter.isSelective && filter.range.lowerBound == (resumesAfter ?? .zero).next
    }

    /// The store as the model reads it by which an entry was saved: with the names of then, and with
    /// what has been removed since.
    func then(_ sequence: SequenceNumber) -> Store {
        versions.last { $0.first <= sequence }?.store ?? store
    }

    /// The names that an entity had before an entry, other than the one that it had then.
    func formerNames(of entity: EntityNumber, before sequence: SequenceNumber) -> [String] {
        let now = then(sequence).schema.entity(entity)?.name
        let names = versions.prefix { $0.first <= sequence }
            .compactMap { $0.store.schema.entity(entity)?.name }
        return Set(names).subtracting([now].compactMap(\.self)).sorted()
    }

    /// An object as of an entry.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - sequence: The entry.
    ///   - then: The store as the model reads it that gives the names.
    /// - Returns: The object without its confidential values; nil if there was none.
    /// - Throws: `StoreError` when the store cannot be read.
    /// - Complexity: O(log *n*) page reads.
    package func object(
        _ object: ObjectID, at sequence: SequenceNumber, readBy then: Store
    ) throws -> AuditObject? {
        guard let state = try then.read(at: sequence, { try $0.state(of: object) }) else {
            return nil
        }
        return AuditObject(object, state, in: then.schema, redaction)
    }
}

/// The options of an export besides its content.
public struct AuditOptions: Sendable, Hashable {
    /// The source of the events, a URI reference; `urn:uuid:` and the store's identifier when nil.
    public var source: String?
    /// The name of the machine, for formats that have one; `-` or left out when nil.
    public var host: String?
    /// The path of the file, for a format that writes one.
    public var path: String?
    /// A checkpoint, as `daybook checkpoint` writes it, for formats that report on it.
    public var checkpoint: String?
    /// The public key that must have signed the checkpoint, as `daybook keygen` writes it.
    public var key: String?

    /// Whether the report goes on with new entries, from the place that it was loaded from.
    package var isLive = false

    /// No options.
    public init() {}
}

/// An object with its values, with names instead of numbers.
package struct AuditObject: Sendable {
    /// Its name: `Country/17`.
    package let name: String
    /// The name of its entity.
    package let entity: String
    /// Its number, unique in its store.
    package let number: UInt64
    /// Attributes and to-one relationships that have a value, in slot order.
    package let values: [(name: String, value: AuditValue)]
    /// The members of each to-many relationship that has any, in order.
    package let members: [(name: String, objects: [String])]

    init(_ object: ObjectID, _ state: ObjectState, in schema: Schema, _ redaction: Redaction) {
        let edits = state.members.map { property, members in
            MembershipEdit(
                property: property,
                added: members.map { Member(object: $0.key, order: $0.value) })
        }
        let insert = Change(
            object: object,
            kind: .insert(
                values: state.values, members: edits.sorted { $0.property < $1.property }))
        let change = AuditChange(insert, in: schema, redaction)
        name = change.object
        entity = change.entity
        number = object.number
        values = change.fields.map { ($0.name, $0.new) }
        members = change.memberships.map { membership in
            // Members of a change are in the order of their objects, which decides between equal
            // positions.
            let sorted = membership.added.enumerated().sorted {
                ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
            }
            return (membership.name, sorted.map(\.element.object))
        }
    }
}
