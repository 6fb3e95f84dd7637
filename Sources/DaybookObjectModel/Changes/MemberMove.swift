/// What an edit does to one member of a to-many relationship.
package struct MemberMove: Sendable, Hashable {
    /// The member.
    package let object: ObjectID
    /// Its place before; nil for no member.
    package var old: Double?
    /// Its place after; nil for no member.
    package var new: Double?

    /// Describes a move.
    package init(_ object: ObjectID, from old: Double?, to new: Double?) {
        self.object = object
        self.old = old
        self.new = new
    }
}

extension MembershipEdit {
    /// What becomes of each member that the edit names, by member.
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

    /// An edit that makes moves.
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

    /// The edit that leads from some members to others; empty where they are the same.
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

// MARK: - One after the other

extension MembershipEdit {
    /// This edit and then another, as one. A member that comes back to where it was is still named, so
    /// that it is known to have been touched.
    package func then(_ later: MembershipEdit) -> MembershipEdit {
        MembershipEdit(
            property: property,
            moves: moves.beside(later.moves).compactMap { first, next in
                guard let move = first ?? next else { return nil }
                return MemberMove(
                    move.object, from: move.old, to: next == nil ? move.new : next?.new)
            })
    }

    /// This edit without members that it leaves where they are.
    fileprivate var net: MembershipEdit {
        MembershipEdit(property: property, moves: moves.filter { $0.old != $0.new })
    }
}

extension [MembershipEdit] {
    /// These edits and then others, one for each relationship, as by ``MembershipEdit/then(_:)``.
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

    /// What these edits and then others change: without members that come and go.
    func followed(by later: [MembershipEdit]) -> [MembershipEdit] {
        guard !later.isEmpty else { return self }
        return then(later).map(\.net).filter { !$0.isEmpty }
    }
}

extension [Edit] {
    /// These edits and then others, one for each property. A value that comes back to what it was is
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

    /// What these edits and then others change.
    func followed(by later: [Edit]) -> [Edit] {
        var merged = then(later)
        merged.removeAll { $0.old == $0.new }
        return merged
    }
}

// MARK: - Starting from somewhere else

extension MembershipEdit {
    /// An edit that leads where this one leads, from the members there are now.
    package func starting(from current: [ObjectID: Double]) -> MembershipEdit {
        MembershipEdit(
            property: property,
            moves: moves.map { MemberMove($0.object, from: current[$0.object], to: $0.new) }
        ).net
    }

    /// This edit as it stands after others have made theirs: what ``starting(from:)`` gives, where only
    /// their edit is known and not all the members there are.
    fileprivate func rebased(onto theirs: MembershipEdit) -> MembershipEdit {
        MembershipEdit(
            property: property,
            moves: moves.beside(theirs.moves).compactMap { ours, their in
                ours.map {
                    MemberMove($0.object, from: their == nil ? $0.old : their?.new, to: $0.new)
                }
            }
        ).net
    }

    /// An edit that takes every member out, as it stands after others have made theirs.
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
    /// These edits as they stand after others have made theirs.
    package func rebased(onto theirs: [MembershipEdit]) -> [MembershipEdit] {
        map { edit in
            theirs.first { $0.property == edit.property }.map(edit.rebased) ?? edit
        }.filter { !$0.isEmpty }
    }

    /// The edits of a delete, which take every member out, as they stand after others have made theirs.
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
    /// The moves here and others, side by side by member. Both rise.
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
