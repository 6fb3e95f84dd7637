/// Whether a reference is allowed.
package enum ReferenceStanding: Sendable, Hashable {
    /// The reference is allowed.
    case allowed
    /// The object to refer to does not exist.
    case gone
    /// Others hold the target, which only one object may hold.
    case held(by: [ObjectID])
}

extension SchemaProperty {
    /// Whether a reference through this relationship is allowed in a graph.
    ///
    /// The one rule for the entry of a save, for what undo and restore bring back, and for what a
    /// child saves to its parent. These callers decide what to do about the answer: refuse, leave
    /// the reference out, or make the others release the target.
    ///
    /// - Parameters:
    ///   - target: The target of the reference.
    ///   - owner: The object that is to hold the reference.
    ///   - exists: Whether an object will exist.
    ///   - holders: The objects that will refer to the target through this relationship. Called
    ///     only where one object alone may; the result may include the owner.
    /// - Returns: The answer.
    package func standing(
        of target: ObjectID, from owner: ObjectID, exists: (ObjectID) throws -> Bool,
        holders: (ObjectID) throws -> [ObjectID]
    ) rethrows -> ReferenceStanding {
        guard try exists(target) else { return .gone }
        guard isExclusive else { return .allowed }
        let others = try holders(target).filter { $0 != owner }
        return others.isEmpty ? .allowed : .held(by: others)
    }
}

/// A reference that was left out of a change.
package struct LostReference: Sendable, Hashable {
    /// The relationship.
    package let property: PropertyNumber
    /// The target before; null for a to-many relationship.
    package let base: Value
    /// The target it was to have.
    package let ours: Value
}

extension Change {
    /// Leaves references out of an insert or update.
    ///
    /// A reference of an insert becomes null, and a member keeps its old order. A reference of an
    /// update returns to its old target, unless only one object may hold that and another one has
    /// taken it: then it becomes null.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object.
    ///   - isRefused: Whether to leave out a reference. Called for those that the change begins or
    ///     moves.
    ///   - isTaken: Whether another object now holds a target that only one may hold.
    /// - Returns: The references that were left out.
    /// - Throws: What `isRefused` throws.
    package mutating func leaveOut<Failure: Error>(
        of entity: SchemaEntity, where isRefused: (ReferenceChange) throws(Failure) -> Bool,
        unlessTaken isTaken: (SchemaProperty, ObjectID) -> Bool
    ) throws(Failure) -> [LostReference] {
        guard !isDelete else { return [] }
        var refused: [ReferenceChange] = []
        try forEachReference(of: entity) { (reference) throws(Failure) in
            guard reference.new != nil, try isRefused(reference) else { return }
            refused.append(reference)
        }
        guard !refused.isEmpty else { return [] }
        switch kind {
        case .insert(var values, let members):
            for reference in refused {
                if let slot = reference.property.slot { values[slot] = .null }
            }
            kind = .insert(values: values, members: members.withoutMoves(refused))
            return refused.map {
                LostReference(
                    property: $0.property.number, base: .null, ours: .object($0.destination))
            }
        case .update(let edits, let members):
            var bases: [PropertyNumber: Value] = [:]
            let kept = edits.compactMap { edit -> Edit? in
                let lost = refused.first { $0.property.number == edit.property }
                guard let property = lost?.property else { return edit }
                bases[edit.property] = edit.old
                guard property.isExclusive, let old = edit.old.reference, isTaken(property, old)
                else { return nil }
                return Edit(property: edit.property, old: edit.old, new: .null)
            }
            kind = .update(edits: kept, members: members.withoutMoves(refused))
            return refused.map {
                LostReference(
                    property: $0.property.number, base: bases[$0.property.number] ?? .null,
                    ours: .object($0.destination))
            }
        case .delete: return []
        }
    }
}

extension [MembershipEdit] {
    /// These edits without the joins and moves of some members.
    fileprivate func withoutMoves(_ references: [ReferenceChange]) -> [MembershipEdit] {
        map { edit in
            let left = Set(
                references.lazy.filter { $0.property.number == edit.property }.map(\.destination))
            guard !left.isEmpty else { return edit }
            return MembershipEdit(
                property: edit.property, moves: edit.moves.filter { !left.contains($0.object) })
        }.filter { !$0.isEmpty }
    }
}
