package import DaybookObjectModel

/// One insert, update or delete of one object, with names in place of numbers.
public struct AuditChange: Sendable {
    /// What happens to the object.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The object is created.
        case insert
        /// Some of its properties change.
        case update
        /// The object is deleted.
        case delete
    }

    /// What happens.
    public let operation: Operation
    /// The object: `Country/17`.
    public let object: String
    /// The name of its entity.
    public let entity: String
    /// The object whose delete caused this change by a delete rule.
    public let cause: String?
    /// The properties that change. An insert and a delete list those that have a value.
    public let fields: [AuditField]
    /// The to-many relationships that change.
    public let memberships: [AuditMembership]

    /// The confidential properties that change, sorted, whose values are left out.
    public let omitted: [String]
    /// How many confidential properties change that have hashes in place of their values.
    package let hashedCount: Int

    /// The change of one property that is kept as a value; nil when it does not change.
    public subscript(property: String) -> AuditField? { fields.first { $0.name == property } }

    /// Makes a change readable.
    ///
    /// - Parameters:
    ///   - change: The change.
    ///   - schema: The model at the time.
    ///   - redaction: The values to leave out.
    package init(_ change: Change, in schema: Schema, _ redaction: Redaction = .none) {
        let entity = schema.entity(change.object.entity)
        object = schema.name(of: change.object)
        self.entity = entity?.name ?? "?\(change.object.entity.rawValue)"
        cause = change.cause.map { schema.name(of: $0) }
        operation = change.operation
        var reading = ChangeReading(entity, schema, redaction)
        switch change.kind {
        case .insert(let values, _):
            reading.addValues(values) { (old: .null, new: $0) }
        case .update(let edits, _):
            for edit in edits {
                reading.add(edit.property, entity?.property(edit.property), edit.old, edit.new)
            }
        case .delete(let values, _):
            reading.addValues(values) { (old: $0, new: .null) }
        }
        for edit in change.members { reading.add(edit) }
        fields = reading.fields
        memberships = reading.memberships
        omitted = reading.omitted.sorted()
        hashedCount = reading.hashedCount
    }
}

extension Change {
    /// What happens to the object.
    package var operation: AuditChange.Operation {
        switch kind {
        case .insert: .insert
        case .update: .update
        case .delete: .delete
        }
    }
}

/// Collects the readable parts of a change.
private struct ChangeReading {
    private let entity: SchemaEntity?
    private let schema: Schema
    private let redaction: Redaction
    private(set) var fields: [AuditField] = []
    private(set) var memberships: [AuditMembership] = []
    private(set) var omitted: [String] = []
    private(set) var hashedCount = 0

    init(_ entity: SchemaEntity?, _ schema: Schema, _ redaction: Redaction) {
        self.entity = entity
        self.schema = schema
        self.redaction = redaction
    }

    /// Adds the values that an object had or has, except null.
    mutating func addValues(_ values: [Value], _ sides: (Value) -> (old: Value, new: Value)) {
        guard let entity else { return }
        fields.reserveCapacity(values.count)
        for (property, value) in zip(entity.slots, values) where !value.isNull {
            let (old, new) = sides(value)
            add(property.number, property, old, new)
        }
    }

    mutating func add(
        _ number: PropertyNumber, _ property: SchemaProperty?, _ old: Value, _ new: Value
    ) {
        let name = property?.name ?? "?\(number.rawValue)"
        guard redaction.hides(number) else {
            let type = property?.attribute?.type
            return fields.append(AuditField(name: name, type: type, old: old, new: new, in: schema))
        }
        guard let old = replacement(old, number), let new = replacement(new, number) else {
            return omitted.append(name)
        }
        hashedCount += 1
        fields.append(AuditField(name: name, type: .string, old: old, new: new, in: schema))
    }

    mutating func add(_ edit: MembershipEdit) {
        let property = entity?.property(edit.property)
        let name = property?.name ?? "?\(edit.property.rawValue)"
        var added = readable(edit.added, edit.property)
        var removed = readable(edit.removed, edit.property)
        if redaction.hides(edit.property) {
            guard added.allSatisfy({ $0 != nil }), removed.allSatisfy({ $0 != nil }) else {
                return omitted.append(name)
            }
            hashedCount += 1
            // The order of the hashes reveals nothing.
            added.sort { ($0?.object ?? "") < ($1?.object ?? "") }
            removed.sort { ($0?.object ?? "") < ($1?.object ?? "") }
        }
        memberships.append(
            AuditMembership(
                name: name, isOrdered: property?.relationship?.isOrdered ?? false,
                added: added.compactMap(\.self), removed: removed.compactMap(\.self)))
    }

    private func readable(
        _ members: [Member], _ property: PropertyNumber
    ) -> [AuditMembership.Member?] {
        members.map { member in
            guard redaction.hides(property) else {
                return AuditMembership.Member(
                    object: schema.name(of: member.object), order: member.order)
            }
            guard case .string(let hash) = replacement(.object(member.object), property) else {
                return nil
            }
            return AuditMembership.Member(object: hash, order: member.order)
        }
    }

    private func replacement(_ value: Value, _ property: PropertyNumber) -> Value? {
        redaction.replacement(for: value, of: property)
    }
}

/// The old and the new value of one property.
public struct AuditField: Sendable {
    /// The name of the property.
    public let name: String
    /// The value before; null in an insert.
    public let old: AuditValue
    /// The value after; null in a delete.
    public let new: AuditValue

    fileprivate init(
        name: String, type: AttributeType?, old: Value, new: Value, in schema: Schema
    ) {
        self.name = name
        self.old = AuditValue(old, type: type, in: schema)
        self.new = AuditValue(new, type: type, in: schema)
    }
}

/// Objects that join and leave a to-many relationship.
public struct AuditMembership: Sendable {
    /// One object and its position.
    public struct Member: Sendable, Hashable {
        /// The object: `Country/17`.
        public let object: String
        /// Members are in ascending order; 0 in an unordered relationship.
        public let order: Double
    }

    /// The name of the relationship.
    public let name: String
    /// Whether its members have an order.
    public let isOrdered: Bool
    /// The new members.
    public let added: [Member]
    /// The former members.
    public let removed: [Member]
}
