/// The replacement of one property's old value by a new one.
public struct Edit: Sendable, Hashable {
    /// The property.
    public let property: PropertyNumber
    /// The value before.
    public var old: Value
    /// The value after.
    public var new: Value

    /// Creates an edit.
    public init(property: PropertyNumber, old: Value, new: Value) {
        self.property = property
        self.old = old
        self.new = new
    }
}

/// One object in a to-many relationship.
public struct Member: Sendable, Hashable {
    /// The object.
    public let object: ObjectID
    /// Its position among the members, which are sorted by rising order. Always 0 where the
    /// relationship has no order. A member inserted between two others gets a number between
    /// theirs, so that no other member changes and two contexts may insert at the same position.
    public let order: Double

    /// Creates a member.
    public init(object: ObjectID, order: Double = 0) {
        self.object = object
        self.order = order
    }
}

/// Objects that join and leave one stored to-many relationship.
///
/// Invariants: `added` and `removed` are sorted by object and share no member; an object that is in
/// both changes its order.
public struct MembershipEdit: Sendable, Hashable {
    /// The relationship.
    public let property: PropertyNumber
    /// The objects that join.
    public var added: [Member]
    /// The objects that leave.
    public var removed: [Member]

    /// Creates an edit and sorts its members.
    public init(property: PropertyNumber, added: [Member] = [], removed: [Member] = []) {
        self.property = property
        self.added = added.sorted { $0.object < $1.object }
        self.removed = removed.sorted { $0.object < $1.object }
    }

    /// Whether no object joins or leaves.
    public var isEmpty: Bool {
        added.isEmpty && removed.isEmpty
    }
}

/// One insert, update or delete of one object: the only currency of the store.
///
/// Setting a property makes one; a context's journal keeps them; a save appends them as one entry;
/// the projection folds them; other contexts replay them; undo inverts them; the audit trail prints
/// them. A change has old and new values, so it can be applied in either direction.
public struct Change: Sendable, Hashable {
    /// What happens to the object.
    public enum Kind: Sendable, Hashable {
        /// The object is created with these values, in slot order, and these members.
        case insert(values: [Value], members: [MembershipEdit])
        /// Some of its values and members change. Edits are sorted by property.
        case update(edits: [Edit], members: [MembershipEdit])
        /// The object is deleted; these were its values, in slot order, and its members.
        case delete(values: [Value], members: [MembershipEdit])
    }

    /// The object.
    public let object: ObjectID
    /// What happens to it.
    public var kind: Kind
    /// The object whose delete caused this change by a delete rule; nil for a change of the
    /// caller's own.
    public var cause: ObjectID?

    /// Creates a change.
    public init(object: ObjectID, kind: Kind, cause: ObjectID? = nil) {
        self.object = object
        self.kind = kind
        self.cause = cause
    }

    /// The memberships that change.
    public var members: [MembershipEdit] {
        switch kind {
        case .insert(_, let members), .update(_, let members), .delete(_, let members): members
        }
    }

    /// Whether this is an insert.
    // Inlined, since a call from another module is handed a copy of what happens to the object.
    @inlinable
    package var isInsert: Bool {
        if case .insert = kind { true } else { false }
    }

    /// Whether this is a delete.
    // Inlined for the same reason.
    @inlinable
    package var isDelete: Bool {
        if case .delete = kind { true } else { false }
    }

    /// Whether this is an update that changes nothing.
    package var isEmpty: Bool {
        if case .update(let edits, let members) = kind {
            edits.changeNothing && members.allSatisfy(\.isEmpty)
        } else {
            false
        }
    }
}

extension [Edit] {
    /// Whether every edit ends at the value it starts from.
    package var changeNothing: Bool {
        let edits = span
        for index in edits.indices where edits[index].old != edits[index].new { return false }
        return true
    }
}
