/// The effect of an edit on one member of a to-many relationship.
package struct MemberMove: Sendable, Hashable {
    /// The member.
    package let object: ObjectID
    /// Its order before; nil if it was not a member.
    package var old: Double?
    /// Its order after; nil if it is no longer a member.
    package var new: Double?

    /// Creates a move.
    package init(_ object: ObjectID, from old: Double?, to new: Double?) {
        self.object = object
        self.old = old
        self.new = new
    }
}

extension MembershipEdit {
    /// The moves of the edit's members, by member.
    package var moves: [MemberMove] {
        var moves: [MemberMove] = []
        moves.reserveCapacity(added.count + removed.count)
        var leaving = removed[...]
        for member in added {
            while let next = leaving.first, next.object < member.object {
                moves.append(MemberMove(next.object, from: next.order, to: nil))
                leaving.removeFirst()
            }
            let isMoved = leaving.first?.object == member.object
            let old = isMoved ? leaving.removeFirst().order : nil
            moves.append(MemberMove(member.object, from: old, to: member.order))
        }
        for member in leaving {
            moves.append(MemberMove(member.object, from: member.order, to: nil))
        }
        return moves
    }

    /// Creates the edit that makes the moves.
    package init(property: PropertyNumber, moves: [MemberMove]) {
        self.init(
            property: property,
            added: moves.compactMap { move in
                move.new.map { Member(object: move.object, order: $0) }
            },
            removed: moves.compactMap { move in
                move.old.map { Member(object: move.object, order: $0) }
            })
    }

    /// Creates the edit from some members to others; empty when they are the same.
    package init(
        property: PropertyNumber, from old: [ObjectID: Double], to new: [ObjectID: Double]
    ) {
        func members(_ members: [ObjectID: Double], notIn others: [ObjectID: Double]) -> [Member] {
            members.compactMap { object, order in
                others[object] == order ? nil : Member(object: object, order: order)
            }
        }
        self.init(
            property: property, added: members(new, notIn: old), removed: members(old, notIn: new))
    }
}

// MARK: - In sequence

extension MembershipEdit {
    /// This edit and a later one, as one edit. A member that returns to its old order is still
    /// named, so that it counts as touched.
    package func then(_ later: MembershipEdit) -> MembershipEdit {
        MembershipEdit(
            property: property,
            moves: moves.beside(later.moves).compactMap { first, next in
                guard let move = first ?? next else { return nil }
                return MemberMove(
                    move.object, from: move.old, to: next == nil ? move.new : next?.new)
            })
    }

    /// This edit without the members that it leaves unchanged.
    fileprivate var net: MembershipEdit {
        MembershipEdit(property: property, moves: moves.filter { $0.old != $0.new })
    }
}

extension [MembershipEdit] {
    /// These edits and later ones, one for each relationship, as with ``MembershipEdit/then(_:)``.
    package func then(_ later: [MembershipEdit]) -> [MembershipEdit] {
        guard !later.isEmpty else { return self }
        var merged = self
        for edit in later {
            if let index = merged.firstIndex(where: { $0.property == edit.property }) {
                merged[index] = merged[index].then(edit)
            } else {
                merged.append(edit)
            }
        }
        if merged.count > count { merged.sort { $0.property < $1.property } }
        return merged
    }

    /// The net effect of these edits and later ones, without members that come and go.
    func followed(by later: [MembershipEdit]) -> [MembershipEdit] {
        guard !later.isEmpty else { return self }
        return then(later).map(\.net).filter { !$0.isEmpty }
    }
}

extension [Edit] {
    /// These edits and later ones, one for each property. A value that returns to the old one is
    /// still named.
    package func then(_ later: [Edit]) -> [Edit] {
        var merged = self
        for edit in later {
            if let index = merged.firstIndex(where: { $0.property == edit.property }) {
                merged[index].new = edit.new
            } else {
                merged.append(edit)
            }
        }
        if merged.count > count { merged.sort { $0.property < $1.property } }
        return merged
    }

    /// The net effect of these edits and later ones.
    func followed(by later: [Edit]) -> [Edit] {
        var merged = then(later)
        merged.removeAll { $0.old == $0.new }
        return merged
    }
}

// MARK: - Rebasing

extension MemberMove {
    /// This move from another order. A former member that has left stays out, since there is
    /// nothing to move.
    fileprivate func starting(from order: Double?) -> MemberMove {
        let isTakenOut = order == nil && old != nil
        return MemberMove(object, from: order, to: isTakenOut ? nil : new)
    }
}

extension MembershipEdit {
    /// The edit from the current members to the result of this one. A member that this edit only
    /// moves stays out if it has been removed.
    package func starting(from current: [ObjectID: Double]) -> MembershipEdit {
        MembershipEdit(
            property: property, moves: moves.map { $0.starting(from: current[$0.object]) }
        ).net
    }

    /// This edit rebased on the others' edit: the result of ``starting(from:)`` when only their
    /// edit is known, not all current members.
    fileprivate func rebased(onto theirs: MembershipEdit) -> MembershipEdit {
        MembershipEdit(
            property: property,
            moves: moves.beside(theirs.moves).compactMap { ours, their in
                guard let their else { return ours }
                return ours?.starting(from: their.new)
            }
        ).net
    }

    /// An edit that removes every member, rebased on the others' edit.
    fileprivate func leavingAll(after theirs: MembershipEdit) -> MembershipEdit {
        MembershipEdit(
            property: property,
            moves: moves.beside(theirs.moves).compactMap { ours, their in
                guard let move = their ?? ours else { return nil }
                return MemberMove(move.object, from: their == nil ? move.old : their?.new, to: nil)
            }
        ).net
    }
}

extension [MembershipEdit] {
    /// These edits rebased on the others' edits.
    package func rebased(onto theirs: [MembershipEdit]) -> [MembershipEdit] {
        map { edit in
            theirs.first { $0.property == edit.property }.map(edit.rebased) ?? edit
        }.filter { !$0.isEmpty }
    }

    /// The edits of a delete, which remove every member, rebased on the others' edits.
    package func leavingAll(after theirs: [MembershipEdit]) -> [MembershipEdit] {
        let properties = Set(map(\.property)).union(theirs.map(\.property)).sorted()
        return properties.map { property in
            func edit(_ edits: [MembershipEdit]) -> MembershipEdit {
                edits.first { $0.property == property } ?? MembershipEdit(property: property)
            }
            return edit(self).leavingAll(after: edit(theirs))
        }.filter { !$0.isEmpty }
    }
}

extension [MemberMove] {
    /// These moves and others, paired by member. Both are sorted by member.
    fileprivate func beside(_ others: [MemberMove]) -> [(MemberMove?, MemberMove?)] {
        var pairs: [(MemberMove?, MemberMove?)] = []
        pairs.reserveCapacity(Swift.max(count, others.count))
        var rest = others[...]
        for move in self {
            while let other = rest.first, other.object < move.object {
                pairs.append((nil, other))
                rest.removeFirst()
            }
            let isInBoth = rest.first?.object == move.object
            pairs.append((move, isInBoth ? rest.removeFirst() : nil))
        }
        for other in rest { pairs.append((nil, other)) }
        return pairs
    }
}
