package import ObjectModel

/// One insert, update or delete of one object, with names in place of numbers.
public struct AuditChange: Sendable {
    /// What happens to the object.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The object comes to be.
        case insert
        /// Some of its properties change.
        case update
        /// The object ceases to be.
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

    /// Makes a change readable.
    package init(_ change: Change, in schema: Schema) {
        let entity = schema.entity(change.object.entity)
        object = schema.name(of: change.object)
        self.entity = entity?.name ?? "?\(change.object.entity.rawValue)"
        cause = change.cause.map { schema.name(of: $0) }
        memberships = change.members.map { AuditMembership($0, of: entity, in: schema) }
        switch change.kind {
        case .insert(let values, _):
            operation = .insert
            fields = Self.fields(of: values, entity) { property, value in
                AuditField(property, old: .null, new: value, in: schema)
            }
        case .update(let edits, _):
            operation = .update
            fields = edits.map { edit in
                AuditField(
                    name: entity?.property(edit.property)?.name ?? "?\(edit.property.rawValue)",
                    type: entity?.property(edit.property)?.attribute?.type, old: edit.old,
                    new: edit.new, in: schema)
            }
        case .delete(let values, _):
            operation = .delete
            fields = Self.fields(of: values, entity) { property, value in
                AuditField(property, old: value, new: .null, in: schema)
            }
        }
    }

    private static func fields(
        of values: [Value], _ entity: SchemaEntity?,
        _ field: (SchemaProperty, Value) -> AuditField
    ) -> [AuditField] {
        guard let entity else { return [] }
        return zip(entity.slots, values).compactMap { property, value in
            value.isNull ? nil : field(property, value)
        }
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

    fileprivate init(_ property: SchemaProperty, old: Value, new: Value, in schema: Schema) {
        self.init(
            name: property.name, type: property.attribute?.type, old: old, new: new, in: schema)
    }
}

/// Objects that join and leave a to-many relationship.
public struct AuditMembership: Sendable {
    /// One object and its place among the others.
    public struct Member: Sendable, Hashable {
        /// The object: `Country/17`.
        public let object: String
        /// Members stand in rising order; 0 in a relationship without order.
        public let order: Double
    }

    /// The name of the relationship.
    public let name: String
    /// Whether its members have an order.
    public let isOrdered: Bool
    /// Who joins.
    public let added: [Member]
    /// Who leaves.
    public let removed: [Member]

    fileprivate init(_ edit: MembershipEdit, of entity: SchemaEntity?, in schema: Schema) {
        let property = entity?.property(edit.property)
        name = property?.name ?? "?\(edit.property.rawValue)"
        isOrdered = property?.relationship?.isOrdered ?? false
        func members(_ members: [ObjectModel.Member]) -> [Member] {
            members.map { Member(object: schema.name(of: $0.object), order: $0.order) }
        }
        added = members(edit.added)
        removed = members(edit.removed)
    }
}
