/// An object as it stands somewhere: in a store, in a context, in an ``ObjectState``.
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

/// What becomes of an edit of an attribute that merges, where the two sides cannot be merged.
package enum UnmergeableEdit: Sendable, Hashable {
    /// What is there stays: an edit that was to make a difference makes none.
    case dropped
    /// Our value takes the place of what is there.
    case kept
}

extension Edit {
    /// The edit that leads where this one leads, from another value than it starts from.
    ///
    /// Where the attribute has a ``MergeStrategy`` it makes the same difference instead.
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
    /// The change that leads where this one leads, from where its object stands now.
    ///
    /// The one way to put a change onto other values than it was made from. Whether it may be put there,
    /// and who has to be told what it meets, is for the caller to know.
    ///
    /// - Parameters:
    ///   - current: The object as it stands. Only what the change is about is asked for.
    ///   - entity: The object's entity.
    ///   - unmergeable: What becomes of an edit that cannot be merged with what is there.
    /// - Returns: A change that applies to what stands there; an empty update when nothing is left. An
    ///   insert starts from nothing, and stays as it is.
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
    /// The edits that take every member out of an object's lists.
    package func membersLeaving(_ object: some StandingObject) -> [MembershipEdit] {
        storedToMany.compactMap { property in
            let edit = MembershipEdit(
                property: property.number, from: object.members(of: property), to: [:])
            return edit.isEmpty ? nil : edit
        }
    }
}

extension [Value] {
    /// Puts the new values of edits in their slots, whatever stands there.
    package mutating func take(_ edits: [Edit], of entity: SchemaEntity) {
        let edits = edits.span
        for index in edits.indices {
            guard let slot = entity.slot(of: edits[index].property), slot < count else { continue }
            self[slot] = edits[index].new
        }
    }
}
