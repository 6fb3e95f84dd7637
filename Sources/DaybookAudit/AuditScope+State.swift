internal import DaybookJournalLog
internal import DaybookObjectModel
internal import DaybookSnapshotStore

/// A property of an object as of some entry, for formats that write whole objects.
struct StateProperty: Sendable {
    /// The content of a property.
    enum Content: Sendable {
        /// The value of an attribute or a to-one relationship.
        case value(AuditValue)
        /// The names of the members of a to-many relationship, in order.
        case members([String])
    }

    /// Its name.
    let name: String
    /// Its content.
    let content: Content
}

extension StateProperty {
    /// Writes the content as JSON.
    func write(to writer: inout JSONWriter) {
        switch content {
        case .value(let value): value.write(to: &writer)
        case .members(let names):
            writer.array { writer in for name in names { writer.string(name) } }
        }
    }
}

extension AuditScope {
    /// All stored properties of an object as of an entry, as the model of then has them; nil if there
    /// was no such object.
    ///
    /// - Complexity: O(log *n* + *k*) page reads, *k* the number of members it ever had.
    func state(of object: ObjectID, at sequence: SequenceNumber) throws -> [StateProperty]? {
        try then(sequence).read(at: sequence) { try state(of: object, in: $0) }
    }

    /// All stored properties of an object in a snapshot, as its model has them, in the order of their
    /// numbers, properties without a value included; nil if there is no such object.
    ///
    /// Confidential properties are left out, or their values are hashes.
    func state(of object: ObjectID, in snapshot: borrowing Snapshot) throws -> [StateProperty]? {
        let schema = snapshot.schema
        guard let entity = schema.entity(object.entity),
            let state = try snapshot.state(of: object)
        else { return nil }
        return entity.properties.compactMap { property in
            content(of: property, state, in: schema)
                .map { StateProperty(name: property.name, content: $0) }
        }
    }

    /// The last entry not after `sequence` that changed an object; nil when there was no such object.
    ///
    /// - Complexity: O(log *n*) page reads.
    func version(of object: ObjectID, at sequence: SequenceNumber) throws -> SequenceNumber? {
        try store.row(of: object, at: sequence)?.since
    }

    private func content(
        of property: SchemaProperty, _ state: ObjectState, in schema: Schema
    ) -> StateProperty.Content? {
        guard property.isPersistent, !redaction.omits(property.number) else { return nil }
        if let slot = property.slot {
            return told(state.values[slot], of: property, in: schema).map { .value($0) }
        }
        guard property.isStoredToMany else { return nil }
        let members = (state.members[property.number] ?? [:])
            .sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        let names = members.compactMap { told(.object($0.key), of: property, in: schema)?.text }
        // The order of the hashes reveals nothing.
        return .members(redaction.hides(property.number) ? names.sorted() : names)
    }

    /// A value, or its hash; nil when it is left out.
    private func told(
        _ value: Value, of property: SchemaProperty, in schema: Schema
    ) -> AuditValue? {
        guard redaction.hides(property.number) else {
            return AuditValue(value, type: property.attribute?.type, in: schema)
        }
        return redaction.replacement(for: value, of: property.number)
            .map { AuditValue($0, type: .string, in: schema) }
    }
}
