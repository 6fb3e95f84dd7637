/// Whether a reference may stand.
package enum ReferenceStanding: Sendable, Hashable {
    /// It may.
    case allowed
    /// There is no object to refer to.
    case gone
    /// Others hold the object, which only one may hold.
    case held(by: [ObjectID])
}

extension SchemaProperty {
    /// Whether a reference over this relationship may stand in a graph.
    ///
    /// The rule stands here once: for the entry of a save, for what undo and restore bring back, and
    /// for what a child hands to its parent. What is done about the answer is for those to know: they
    /// refuse, leave the reference out, or make the others let go.
    ///
    /// - Parameters:
    ///   - target: The object that is to be referred to.
    ///   - owner: The object that is to refer to it.
    ///   - exists: Whether an object will be there.
    ///   - holders: Who else will refer to the target over this relationship. Only asked where one
    ///     alone may; the owner need not be left out.
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
    /// What it led to before; null for a to-many relationship.
    package let base: Value
    /// What it was to lead to.
    package let ours: Value
}

extension Change {
    /// Leaves references out of an insert or update.
    ///
    /// What an insert was to refer to is empty then, and a member stays where it is. A reference of an
    /// update goes back to what it led to before, unless only one may hold that object and another has
    /// taken it: then it is empty.
    ///
    /// - Parameters:
    ///   - entity: The entity of the object.
    ///   - isRefused: Whether a reference is left out. Asked of those that the change begins or moves.
    ///   - isTaken: Whether an object, which only one may hold, is another's by now.
    /// - Returns: What was left out.
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
    /// These edits without joins and moves of some members.
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
