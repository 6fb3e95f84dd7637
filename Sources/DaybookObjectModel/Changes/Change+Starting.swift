/// The current state of an object, wherever it is kept: a store, a context or an ``ObjectState``.
package protocol StandingObject {
    /// All values, in slot order.
    var values: [Value] { get }
    /// One value.
    func value(inSlot slot: Int) -> Value
    /// The members of a stored to-many relationship, with their order.
    func members(of property: SchemaProperty) -> [ObjectID: Double]
}

extension ObjectState: StandingObject {
    package func value(inSlot slot: Int) -> Value { slot < values.count ? values[slot] : .null }

    package func members(of property: SchemaProperty) -> [ObjectID: Double] {
        members[property.number] ?? [:]
    }
}

/// What to do with an edit of a merging attribute when the two sides cannot be merged.
package enum UnmergeableEdit: Sendable, Hashable {
    /// The current value stays, and the edit has no effect.
    case dropped
    /// Our value replaces the current one.
    case kept
}

extension Edit {
    /// The edit from a given value to the new value of this one.
    ///
    /// Where the attribute has a ``MergeStrategy``, the edit makes the same difference instead.
    ///
    /// - Returns: Nil when there is nothing left to do.
    package func starting(
        from value: Value, of property: SchemaProperty, unmergeable: UnmergeableEdit
    ) -> Edit? {
        var ours = new
        if property.merge != nil {
            let merged = property.merged(base: old, theirs: value, ours: new)
            ours = merged ?? (unmergeable == .kept ? new : value)
        }
        return value == ours ? nil : Edit(property: self.property, old: value, new: ours)
    }
}

extension Change {
    /// The change from the current state of the object to the new values of this one.
    ///
    /// This is the one way to rebase a change on other values. The caller decides whether that is
    /// allowed and who must learn of a conflict.
    ///
    /// - Parameters:
    ///   - current: The current state of the object. Only what the change touches is read.
    ///   - entity: The object's entity.
    ///   - unmergeable: What to do with an edit that cannot be merged with the current value.
    /// - Returns: A change that applies to the current state; an empty update when nothing is left.
    ///   An insert starts from nothing and stays as it is.
    package func starting(
        from current: some StandingObject, of entity: SchemaEntity, unmergeable: UnmergeableEdit
    ) -> Change {
        var moved = self
        switch kind {
        case .insert: break
        case .update(let edits, let members):
            moved.kind = .update(
                edits: edits.compactMap { edit in
                    guard let property = entity.property(edit.property), let slot = property.slot
                    else { return nil }
                    return edit.starting(
                        from: current.value(inSlot: slot), of: property, unmergeable: unmergeable)
                },
                members: members.compactMap { edit in
                    guard let property = entity.property(edit.property) else { return nil }
                    let edit = edit.starting(from: current.members(of: property))
                    return edit.isEmpty ? nil : edit
                })
        case .delete:
            moved.kind = .delete(
                values: current.values, members: entity.membersLeaving(current))
        }
        return moved
    }
}

extension SchemaEntity {
    /// The edits that remove every member from an object's relationships.
    package func membersLeaving(_ object: some StandingObject) -> [MembershipEdit] {
        storedToMany.compactMap { property in
            let edit = MembershipEdit(
                property: property.number, from: object.members(of: property), to: [:])
            return edit.isEmpty ? nil : edit
        }
    }
}

extension [Value] {
    /// Sets the new values of edits in their slots, whatever the old values are.
    package mutating func take(_ edits: [Edit], of entity: SchemaEntity) {
        let edits = edits.span
        for index in edits.indices {
            guard let slot = entity.slot(of: edits[index].property), slot < count else { continue }
            self[slot] = edits[index].new
        }
    }
}
